"""Which array object a name holds (rules S3, C1): for `x is y`, and for results that are one object.

Where paths meet, two references may become one that stands for either object; its `origin` then says which one it is.
An object is represented by a reference to it, and only compared; one or another, depending on the path, by a `Cond`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tracebuf.frontends.numpy.call.arguments import is_generator
from tracebuf.frontends.numpy.numbers.lattice import is_container
from tracebuf.frontends.numpy.numbers.scalars import compare
from tracebuf.frontends.numpy.record.by_identity import ByIdentity, PairsByIdentity
from tracebuf.frontends.numpy.record.callees import Buffer, Drawer
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyBool, Scalar, kind_of
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.types import I1
from tracebuf.ops.scalars import arith


@frozen(eq=False)
class HeadObject:
    """The container that a name holds at the head of a loop, `depth` regions deep: `ask` says whether it is another
    object (loops/objects.py)."""

    ask: Callable[[HeadObject, Any], bool | PyBool]
    depth: int


def identity(x: ArrayRef) -> Any:
    """The object that a reference stands for: the reference itself, another one, or one of several."""
    if isinstance(x, Cond):
        return Cond(x.condition, *map(identity, x.arms))
    return x if x.origin is None else x.origin


def objects(x: ArrayRef) -> list[Any]:
    """The objects that a reference may stand for, each once."""
    return ends(identity(x))


def without_identity(x: ArrayRef) -> ArrayRef:
    """The array as a reference of its own, where a test gave it its identity: for where that test is not known."""
    return ArrayRef(x.storage, x.view, x.read_only) if isinstance(x.origin, Cond) else x


def with_identity(x: ArrayRef, found: Any) -> ArrayRef:
    """The reference, which stands for an object from now on."""
    x.origin = found
    return x


def last_object(found: Any) -> Any:
    """The object that an identity is where no condition held."""
    while isinstance(found, Cond):
        found = found.arms[1]
    return found


def in_place_of(old: Any, new: Any, found: Any) -> Any:
    """An identity with one object that it may be replaced."""
    known: ByIdentity[Any, Any] = ByIdentity([(old, new)])

    def replaced(x: Any) -> Any:
        if x not in known:
            known[x] = x.map(replaced) if isinstance(x, Cond) else x
        return known[x]

    return replaced(found)


def one_of_known(known: Sequence[tuple[Value, Any]], other: Any) -> Any:
    """The first of some objects whose flag is set, or another one."""
    for flag, found in reversed(known):
        other = Cond(flag, found, other)
    return other


def one_object(r: Recorder, a: Any, b: Any) -> bool | PyBool:
    """Whether two identities are the same object: a bool, or a condition."""
    known: PairsByIdentity[bool | PyBool] = PairsByIdentity()

    def one(a: Any, b: Any) -> bool | PyBool:
        if a is b:
            return True
        if not isinstance(a, Cond) and isinstance(b, Cond):
            a, b = b, a
        if not isinstance(a, Cond):
            if any(isinstance(x, ArrayRef) and x.storage.picked for x in (a, b)):
                raise r.refuse("`is` of an item of a list in a loop over it that is traced once", "compare its index")
            heads = [x for x in (a, b) if isinstance(x, HeadObject)]
            if not heads:
                return False
            inner = max(heads, key=lambda x: x.depth)
            return inner.ask(inner, b if inner is a else a)
        if (a, b) not in known:
            known[a, b] = select_truth(r, a.condition, *(one(arm, b) for arm in a.arms))
        return known[a, b]

    return one(a, b)


def truth_value(r: Recorder, x: bool | PyBool) -> Value:
    """A truth as an i1."""
    return x.value if isinstance(x, PyBool) else r.constant(x, I1)


def select_truth(r: Recorder, condition: Value, a: bool | PyBool, b: bool | PyBool) -> bool | PyBool:
    """The truth that is `a` where the condition holds, else `b`: recorded once."""
    if a is b or (isinstance(a, PyBool) and isinstance(b, PyBool) and a.value is b.value):
        return a
    if a is True and b is False:
        return PyBool(condition)
    first, second = truth_value(r, a), truth_value(r, b)
    return PyBool(r.once(("select", condition, first, second), lambda: arith.Select.of(condition, first, second)))


def same_thing(r: Recorder, a: Any, b: Any) -> bool | PyBool:
    """`a is b`, for any two values."""
    if type(b) is Cond:
        a, b = b, a
    if type(a) is Cond:
        return select_truth(r, a.condition, *(same_thing(r, arm, b) for arm in a.arms))
    if isinstance(a, ArrayRef) and isinstance(b, ArrayRef):
        r.compared.update((o, None) for x in (a, b) for o in objects(x))
        return one_object(r, identity(a), identity(b))
    if is_container(a) and is_container(b):
        return one_object(r, container_identity(r, a), container_identity(r, b))
    if a is not b and any(isinstance(x, (Drawer, Buffer)) for x in (a, b)) and all(map(is_drawer, (a, b))):
        raise r.refuse("`is` of two random generators or buffers", "compare them outside")
    return a is b or same_number(r, a, b)


def is_drawer(x: Any) -> bool:
    """Whether a value is a random generator, of the trace or from outside."""
    return isinstance(x, (Drawer, Buffer)) or is_generator(x)


def container_identity(r: Recorder, x: Any) -> Any:
    """The object that a container stands for: itself, another one, or one of several."""
    return r.heap.origins.get(x, x)


def same_number(r: Recorder, a: Any, b: Any) -> bool | PyBool:
    """`a is b` of numbers: True and False are one object each, in Python and in NumPy; for others it depends on
    CPython, and is refused."""
    if not (isinstance(a, Scalar) or isinstance(b, Scalar)):
        return False
    one, other = kind_of(a), kind_of(b)
    if one is None or other is None or (one != other and not one.python and not other.python):
        return False
    if one != other or one.python or one.element is not I1:
        raise r.refuse("`is` between numbers", "compare with ==")
    equal = compare(r, "Eq", a, b)
    return PyBool(equal.value) if isinstance(equal, NpScalar) else equal
