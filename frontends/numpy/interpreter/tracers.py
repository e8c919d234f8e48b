"""Tracers: the arrays and numbers of a function that is traced by running it (rule X1).

Python's operators, subscripts and attributes of a `Tracer` reach the interpreter through the methods of its class,
calls through an `Outside`, which stands for every function and module that the running function meets. What Python
alone decides (the truth of a value, an int, the end of an iteration) is answered where a guard or the trace knows it,
else refused.
"""

from __future__ import annotations

import ast
import builtins
import dis
import itertools
import operator
import sys
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.complex_views import set_part
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator, set_shape
from tracebuf.frontends.numpy.functions.formulas.prelude import fori_loop, while_loop
from tracebuf.frontends.numpy.functions.indices import subscripts
from tracebuf.frontends.numpy.functions.table import ScalarMethod
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.numbers.lattice import check_one_type
from tracebuf.frontends.numpy.numbers.scalars import BINARY, COMPARE, SPECIAL, UNARY, compare, concrete, unary
from tracebuf.frontends.numpy.paths.iteration import UNROLLED, Items, Range, each, iterable_of
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.callees import Method, NestedFunction, Partial
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.regions import Frame
from tracebuf.frontends.numpy.record.values import ArrayRef, PyBool, PyInt, Scalar
from tracebuf.location import Location

HERE = ast.expr()
"""A node without a line: ops get the current line of the running function."""
CHOOSE = "tracebuf.cond(c, f, g, ...) in place of if, np.where(c, x, y) for elements, tracebuf.while_loop for while"
LOOP = "tracebuf.fori_loop(lower, upper, body_fun, init_val)"
PLAIN = (bool, int, float, complex, str, bytes, np.generic, np.dtype, type(None), type(Ellipsis), frozenset)
"""Types of values that a running function sees as they are."""
ITERATORS: tuple[type[Any], ...] = (
    types.GeneratorType, zip, enumerate, type(iter([])), type(iter(())), reversed, type(reversed([]))
)  # fmt: skip
"""Types of iterators that the running function makes of tracers."""
CALLED = (Method, ScalarMethod, NestedFunction, Partial, np.finfo, np.iinfo)
"""Types of values whose calls are traced."""
MOST_AT_ONE_PLACE = 8 * UNROLLED
"""The most times that one line is traced: more means that its loop is unrolled."""
UFUNCS = {ufunc: name for name, (_, ufunc) in BINARY.items()}
"""By ufunc: the operator of the syntax tree that it implements."""
COMPARISONS = {ufunc: name for name, (_, ufunc, _) in COMPARE.items()}
"""By ufunc: the comparison of the syntax tree that it implements."""


class Namespace(dict[str, Any]):
    """The globals of a running function: each read is a look-up that becomes a guard or a hidden argument (rule B5)."""

    def __init__(self, run: Run, lookup: Callable[[str], Any]) -> None:
        super().__init__(__builtins__={"__import__": run.imported})
        self.run, self.lookup = run, lookup

    def __getitem__(self, name: str) -> Any:
        if name == "__builtins__":  # an import by NumPy's own code
            return vars(builtins)
        if name == "__tracebackhide__":  # asked by what shows tracebacks, not by the function
            raise KeyError(name)
        self.run.here()
        return self.run.wrap(self.lookup(name))


class Run:
    """The state that the tracers of one trace share."""

    def __init__(self, interpreter: Evaluator) -> None:
        self.i, self.r = interpreter, interpreter.r
        self.held: WeakValueDictionary[int, Tracer] = WeakValueDictionary()  # by id: a tracer holds what it stands for
        self.outside: ByIdentity[Any, Outside] = ByIdentity()
        self.lists: ByIdentity[list[Any], list[Any]] = ByIdentity()
        self.seen: Counter[tuple[types.CodeType, int]] = Counter()
        self.lacking: AttributeError | None = None
        """What was raised last for a special attribute that a tracer lacks."""

    def live(self) -> list[Any]:
        """The traced values that running functions hold on to."""
        return [t._value for t in list(self.held.values())]

    # -- where the running function is
    def here(self, frame: types.FrameType | None = None) -> types.FrameType | None:
        """Makes the line that is running now the current location; its frame."""
        frame = frame or sys._getframe(1)
        while frame is not None and not isinstance(frame.f_globals, Namespace):
            frame = frame.f_back
        if frame is not None:
            code, at = frame.f_code, frame.f_lasti
            self.r.at(place_of(code, at))
            self.seen[code, at] += 1
            if self.seen[code, at] > MOST_AT_ONE_PLACE:
                raise self.refuse(f"this is traced {MOST_AT_ONE_PLACE} times over: its loop is unrolled", LOOP)
        return frame

    def refuse(self, reason: str, instead: str) -> UnsupportedError:
        return self.r.refuse(
            f"{reason} (this function is traced by running it, for its source cannot be read)", instead
        )

    # -- from traced values to tracers and back
    def wrap(self, x: Any) -> Any:
        """A value as the running function sees it."""
        if isinstance(x, (ArrayRef, Scalar, FlatIterator)):
            found = self.held.get(id(x))
            if found is None:
                found = self.held[id(x)] = Tracer(self, x)
            return found
        if isinstance(x, (tuple, list)) and self.r.heap.number(x) is not None:
            raise self.refuse(f"a {type(x).__name__} of the caller's", "pass its items, or define it in a file")
        if type(x) is tuple:
            return tuple(self.wrap(i) for i in x)
        if type(x) is list:
            kept = self.lists.get(x)
            return kept if kept is not None else [self.wrap(i) for i in x]
        if isinstance(x, slice):
            return slice(*(self.wrap(i) for i in (x.start, x.stop, x.step)))
        if isinstance(x, PLAIN) or (isinstance(x, type) and issubclass(x, BaseException)) or is_own(x):
            return x
        if isinstance(x, (Range, Items)):
            raise self.refuse("iterating over what only the run time knows", LOOP)
        check_one_type(self.r, x)
        if isinstance(x, (types.ModuleType, *CALLED)) or callable(x):
            return self.outside.setdefault(x, Outside(self, x))
        raise self.refuse(f"a {type(x).__name__} from outside", "pass its arrays and numbers as arguments")

    def unwrap(self, x: Any) -> Any:
        """A value from the running function as the interpreter sees it."""
        if isinstance(x, Tracer):
            self.check_inside(x._frame)
            return x._value
        if isinstance(x, Outside):
            return x._value
        if type(x) is tuple:
            return tuple(self.unwrap(i) for i in x)
        if type(x) is list:
            made = [self.unwrap(i) for i in x]
            self.lists[made] = x
            return made
        if isinstance(x, slice):
            return slice(*(self.unwrap(i) for i in (x.start, x.stop, x.step)))
        if isinstance(x, range):
            return [*self.short(x)]
        if isinstance(x, ITERATORS):
            items = ask(list, x) if isinstance(x, zip) else list(x)  # a strict zip may raise
            return [self.unwrap(i) for i in items]
        if isinstance(x, (dict, set, np.ndarray)):
            raise self.refuse(f"a {type(x).__name__} from outside of the trace", "use a tuple, or an argument")
        return x

    def check_inside(self, made: Frame) -> None:
        """Refuses a value that was carried out of the body or branch that made it."""
        frame: Frame | None = self.r.frame
        while frame is not None and frame is not made:
            frame = frame.parent
        if frame is None:
            raise self.refuse("a value is used outside of the body of a loop or condition that made it", "return it")

    # -- what the running function does
    def call(self, function: Any, args: Iterable[Any], kwargs: dict[str, Any]) -> Any:
        """A call, dispatched on the callee itself."""
        self.here()
        args = list(args)
        if function in (range, enumerate, zip, reversed) and isinstance(function, type):
            return self.iteration(function, args, kwargs)
        if function is len and args and isinstance(args[0], (list, dict, set)):
            return ask(len, *args, **kwargs)
        given, named = [self.unwrap(a) for a in args], {k: self.unwrap(v) for k, v in kwargs.items()}
        if function in (fori_loop, while_loop) and any(has_list(x) for x in (*given, *named.values())):
            raise self.refuse("a list is carried by a loop", "carry a tuple")
        return self.wrap(self.i.call(HERE, function, given, named))

    def iteration(self, function: type, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """range, enumerate, zip or reversed of known lengths: the loop is unrolled."""
        if any(isinstance(x, Tracer) for x in (*args, *kwargs.values())):
            raise self.refuse(f"{function.__name__} of a traced value", LOOP)
        made = ask(function, *args, **kwargs)
        return self.short(made) if isinstance(made, range) else made

    def short(self, x: range) -> range:
        """A range that is short enough to be unrolled; refused otherwise."""
        if len(x) > UNROLLED:
            raise self.refuse(f"a loop of {len(x)} iterations would be unrolled", LOOP)
        return x

    def imported(self, name: str, space: Any, inside: Any, names: tuple[str, ...] | None, level: int) -> Any:
        """An import statement, of a module that is already loaded."""
        self.here()
        if level or name not in sys.modules:
            raise self.refuse(f"an import of {name or 'a relative module'}", "import at the top of the module")
        return self.wrap(sys.modules[name if names else name.partition(".")[0]])

    def item(self, x: Tracer, index: Any) -> Any:
        self.here()
        return self.wrap(self.i.subscript(HERE, self.unwrap(x), self.unwrap(index)))

    def store(self, x: Tracer, index: Any, value: Any) -> None:
        self.here()
        base, given = self.unwrap(x), self.unwrap(value)
        if not isinstance(base, ArrayRef):
            ask(operator.setitem, concrete(base), 0, 0)  # raises what Python raises
        subscripts.store(self.r, base, self.unwrap(index), self.i.storable(HERE, given))

    def set_attribute(self, x: Tracer, name: str, value: Any) -> None:
        self.here()
        base = self.unwrap(x)
        if name in ("real", "imag") and isinstance(base, ArrayRef):
            return set_part(self.r, base, name, self.i.storable(HERE, self.unwrap(value)))
        if name != "shape" or not isinstance(base, ArrayRef):
            raise self.refuse(f"setting `.{name}`", "bind a name")
        set_shape(self.r, base, self.unwrap(value))

    def attribute(self, base: Any, name: str) -> Any:
        self.here()
        if name.startswith("__"):
            # An AttributeError as it is: hasattr and NumPy ask for special attributes to see what is there.
            self.lacking = AttributeError(f"'{type(concrete(base)).__name__}' object has no attribute '{name}'")
            raise self.lacking
        try:
            return self.wrap(self.i.attribute(HERE, base, name))
        except Raises as said:
            if isinstance(said.error, AttributeError):  # Python asks, for `**x` and `from m import name`
                self.lacking = said.error
                raise said.error from None
            raise

    def binary(self, name: str, a: Any, b: Any) -> Any:
        self.here()
        return self.wrap(self.i.operate(name, self.unwrap(a), self.unwrap(b)))

    def in_place(self, name: str, a: Any, b: Any) -> Any:
        self.here()
        return self.wrap(self.i.augmented(name, self.unwrap(a), self.unwrap(b)))

    def compared(self, name: str, a: Any, b: Any) -> Any:
        self.here()
        return self.wrap(compare(self.r, name, self.unwrap(a), self.unwrap(b)))

    def unary(self, name: str, a: Any) -> Any:
        self.here()
        return self.wrap(unary(self.r, name, self.unwrap(a)))

    def truth(self, x: Tracer) -> bool:
        """The truth of a value, where the trace or a guard knows it (rule F4)."""
        self.here()
        known = self.i.condition(HERE, self.unwrap(x))
        if isinstance(known, PyBool):
            raise self.refuse("only the run time knows whether this holds", CHOOSE)
        return known

    def integer(self, x: Tracer) -> int:
        """The value of an int that Python needs, which becomes part of the key."""
        self.here()
        value = self.unwrap(x)
        if not isinstance(value, PyInt):
            return int(self.concrete(x, "an int"))
        return self.r.static_int(value.expr, "an int that Python itself needs here")

    def concrete(self, x: Tracer, what: str) -> Any:
        """Refuses a conversion to one of Python's values."""
        self.here()
        self.unwrap(x)
        raise self.refuse(f"Python needs {what} here, but the value is only known at run time",
                          "use np.* functions, operators, int(), float() and abs() of traced values")  # fmt: skip

    def items(self, x: Tracer) -> Iterator[Any]:
        """The items for unpacking, by their number; loops over tracers are not unrolled."""
        frame = self.here()
        it = iterable_of(self.r, self.unwrap(x))
        if frame is None or frame.f_code.co_code[frame.f_lasti] not in UNPACKING:
            raise self.refuse("iterating over an array", LOOP + ", with a[i] in the body")
        assert it is not None
        return iter([self.wrap(i) for i in each(self.r, it)])

    def ufunc(self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A ufunc that NumPy passes on: an operator of a NumPy number, or a call."""
        inputs = tuple(x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in inputs)
        if method == "__call__" and not kwargs and len(inputs) == 2 and isinstance(inputs[0], np.generic):
            if ufunc in UFUNCS:
                return self.binary(UFUNCS[ufunc], *inputs)
            if ufunc in COMPARISONS:
                return self.compared(COMPARISONS[ufunc], *inputs)
        return self.call(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)


UNPACKING = dis.opmap["UNPACK_SEQUENCE"], dis.opmap["UNPACK_EX"]
"""The instructions that unpack an iterable."""


def has_list(x: Any) -> bool:
    """Whether a value is a list, or a tuple with one in it."""
    return type(x) is list or (type(x) is tuple and any(has_list(i) for i in x))


def is_own(x: Any) -> bool:
    """Whether a function was made by a running function."""
    return isinstance(x, types.FunctionType) and isinstance(x.__globals__, Namespace)


def place_of(code: types.CodeType, at: int) -> Location:
    """The location in the source of an instruction."""
    first, last, column, end = next(itertools.islice(code.co_positions(), at // 2, None), (None,) * 4)
    line = first or code.co_firstlineno
    if column is None or end is None:
        return Location(code.co_filename, line, function=code.co_name)
    return Location(code.co_filename, line, column, end if last == first else 10**6, code.co_name)


class Tracer:
    """A traced array or number in a running function."""

    __slots__ = ("__weakref__", "_frame", "_run", "_value")
    _frame: Frame
    _run: Run
    _value: Any

    def __init__(self, run: Run, value: Any) -> None:
        for name, x in (("_run", run), ("_value", value), ("_frame", run.r.frame)):
            object.__setattr__(self, name, x)

    def __getattr__(self, name: str) -> Any:
        return self._run.attribute(self._value, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._run.set_attribute(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise self._run.refuse(f"deleting `.{name}`", "leave it out")

    def __getitem__(self, index: Any) -> Any:
        return self._run.item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._run.store(self, index, value)

    def __delitem__(self, index: Any) -> None:
        self._run.concrete(self, "a list")

    def __bool__(self) -> bool:
        return self._run.truth(self)

    def __index__(self) -> int:
        return self._run.integer(self)

    def __len__(self) -> int:
        return int(self._run.call(len, [self], {}))

    def __iter__(self) -> Iterator[Any]:
        return self._run.items(self)

    def __contains__(self, item: Any) -> bool:
        return bool(self._run.concrete(self, "to know what the array holds"))

    def __int__(self) -> int:
        return int(self._run.concrete(self, "an int"))

    def __float__(self) -> float:
        return float(self._run.concrete(self, "a float"))

    def __complex__(self) -> complex:
        return complex(self._run.concrete(self, "a complex number"))

    def __hash__(self) -> int:
        return int(self._run.concrete(self, "a key"))

    def __repr__(self) -> str:
        return str(self._run.concrete(self, "a text"))

    def __format__(self, spec: str) -> str:
        return str(self._run.concrete(self, "a text"))

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        return np.asarray(self._run.concrete(self, "the elements of an array"))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self._run.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, kinds: Any, args: Any, kwargs: Any) -> Any:
        return self._run.call(function, args, kwargs)


def give_operators(kind: type[Tracer]) -> None:
    """Gives a class Python's operators, with the operand on either side, and in place."""


    def arithmetic(name: str, spelled: str) -> None:
        setattr(kind, f"__{spelled}__", lambda a, b: a._run.binary(name, a, b))
        setattr(kind, f"__r{spelled}__", lambda a, b: a._run.binary(name, b, a))
        setattr(kind, f"__i{spelled}__", lambda a, b: a._run.in_place(name, a, b))

    def comparison(name: str, spelled: str) -> None:
        setattr(kind, f"__{spelled}__", lambda a, b: a._run.compared(name, a, b))

    def sign(name: str, spelled: str) -> None:
        setattr(kind, f"__{spelled}__", lambda a: a._run.unary(name, a))

    for give, names in ((arithmetic, BINARY), (comparison, COMPARE), (sign, UNARY)):
        for name in names:
            give(name, SPECIAL[name])


give_operators(Tracer)


class Outside:
    """A function, class or module from outside, as a running function sees it: calls of it are traced."""

    __slots__ = ("_run", "_value")
    _run: Run
    _value: Any

    def __init__(self, run: Run, value: Any) -> None:
        object.__setattr__(self, "_run", run)
        object.__setattr__(self, "_value", value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run.call(self._value, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "dtype" and isinstance(self._value, type):
            return np.dtype(self._value)  # NumPy asks, to compare a dtype with a class
        return self._run.attribute(self._value, name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise self._run.refuse(f"setting `.{name}` of what is outside", "return the value")

    def __eq__(self, other: object) -> bool:
        return bool(self._value == self._run.unwrap(other))

    def __hash__(self) -> int:
        return hash(self._value)
