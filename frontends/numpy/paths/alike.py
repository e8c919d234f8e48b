"""Loops over lists and tuples of alike items, traced once: the item of an iteration is picked by its number.

Items are alike where they are one object, arrays of one form (`arrays_alike`), ints that rise evenly, equal constants,
or tuples of such. A loop that is left early picks them where branches ask for them, a `while` (`WhilePicks`) by any
number, checked. An array that is picked is read only, and known by no other name after its iteration: a `for` that
stores to it, asks which object it is, or keeps it, is unrolled instead (`Picks.begin`, and where `Storage.picked` is
asked), as is one that is not better for being a loop (`LoopComparison.check_pays`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tracebuf.frontends.numpy.arrays.indexing import normalise
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.paths.iteration import Items
from tracebuf.frontends.numpy.paths.joins import plain, references
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import Frame
from tracebuf.frontends.numpy.record.values import ArrayRef, Env, Storage, storages_of
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, FloorDiv, add, mul, sub
from tracebuf.ir.prover import composites
from tracebuf.ops.arrays.pick import Pick
from tracebuf.ops.scalars import arith

LEAST = 9
"""So many items make a loop: fewer are sooner traced one by one, than twice and looked at."""
STACK = "make one array of the list before, np.stack(items), and index that"
CONSTANTS = (bool, int, float, complex, str, bytes, type(None))


class Picks:
    """What one loop picks its items from."""

    def __init__(self, r: Recorder) -> None:
        self.r = r
        self.varying = False
        """Whether arrays or numbers are among what may be picked."""
        self.picked: dict[Storage, Value | None] = {}
        """Those of the arrays that an iteration may have picked, with what it had stored to them before."""
        self.made: list[Storage] = []
        """Those that stand for a picked array."""
        self.frame = r.frame
        """Where the iteration is recorded."""

    def items(self, found: Sequence[Any]) -> Items | None:
        """The items of a loop over these; None where they are not alike."""
        get = self._alike(found)
        return None if get is None or not self.varying else Items(len(found), get, list(found))

    def item(self, found: Sequence[Any], number: Dim) -> Any:
        """found[number], in the loop; NotImplemented where that cannot be picked. It is picked as far out in it as
        its number is known, where a branch asks for it too: what is not stored to is the same there."""
        r, n = self.r, len(found)
        frame = self._outermost(number) if n >= LEAST else None
        get = None if frame is None else self._alike(found)
        here = r.frame is frame
        if get is None or frame is None or not (here or divides_by_constants(number)):
            return NotImplemented
        within = r.facts.nonneg(number) and r.facts.nonneg(sub(n - 1, number))
        if not within:
            normalise(r, number, n, None, f"{type(found).__name__} index out of range")
        with r.inside(frame):
            if not (within and here):
                number = self._any_place(number, n, within)
            return get(number)

    def _outermost(self, number: Dim) -> Frame | None:
        """The outermost region of the iteration in which a number is known."""
        r, found = self.r, list[Frame]()
        for frame in r.frames():
            found.append(frame)
            if frame is self.frame:
                break
        for frame in reversed(found):
            with r.inside(frame):
                if r.in_scope(number):
                    return frame
        return None

    def _any_place(self, number: Dim, n: int, within: bool) -> Dim:
        """The place of an item by its number, which may be negative; where that is none, some place."""
        r = self.r
        at = r.wrapping(number)
        if not within:
            negative = r.emit(arith.CmpI.of("slt", at, r.index(0)))
            at = r.emit(arith.Select.of(negative, r.emit(arith.AddI.of(at, r.index(n))), at))
        at = r.emit(arith.MaxSI.of(r.index(0), r.emit(arith.MinSI.of(at, r.index(n - 1)))))
        return r.symbol(at, f"i{len(r.func.symbols)}", 0, n - 1)

    def _alike(self, xs: Sequence[Any]) -> Callable[[Dim], Any] | None:
        first = xs[0]
        if all(x is first for x in xs):
            return lambda i: first
        if all(type(x) is tuple and len(x) == len(first) for x in xs):
            parts = [self._alike(column) for column in zip(*xs)]
            known = [p for p in parts if p is not None]
            return (lambda i: tuple(p(i) for p in known)) if len(known) == len(parts) else None
        if all(type(x) is int for x in xs):
            step = xs[1] - first
            if all(b - a == step for a, b in zip(xs, xs[1:])):
                return lambda i: as_int_value(add(first, mul(step, i)))
        if type(first) in CONSTANTS:
            return (lambda i: first) if all(type(x) is type(first) and repr(x) == repr(first) for x in xs) else None
        if all(plain(x) for x in xs) and arrays_alike(self.r, xs):
            self.varying = True
            return lambda i: xs[i] if isinstance(i, int) else self._pick(xs, i)
        return None

    def _pick(self, refs: Sequence[ArrayRef], number: Dim) -> ArrayRef:
        r, like = self.r, refs[0].storage
        for x in refs:
            self.picked.setdefault(x.storage, self._stored(x.storage))
        type_ = r.tensor_type(like.shape, like.element)
        value = r.emit(Pick.of(r.index(number), [r.value(x.storage) for x in refs], type_, r.loc))
        storage = r.new_storage(like.element, like.shape, like.order, value, like.name)
        storage.strides, storage.repeated, storage.writable = like.strides, like.repeated, like.writable
        storage.picked = True
        self.made.append(storage)
        return ArrayRef(storage, read_only=refs[0].read_only)

    def begin(self) -> Callable[[Env, Iterable[str]], None]:
        """At the beginning of an iteration; what checks at its end that no array was stored to that might have been
        picked, and that nothing but names that end with it holds one that was."""
        frame = self.frame = self.r.frame
        self.picked = {}

        def check(env: Env, ending: Iterable[str]) -> None:
            assert self.r.frame is frame
            if any(self._stored(s) is not before for s, before in self.picked.items()):
                raise self.r.refuse("an item of a list is stored to in a loop over it", STACK)
            kept = [x for name, x in env.items() if name not in ending]
            kept += [x for x, _ in self.r.heap.journals.get(frame, ByIdentity()).items()]
            if any(s in self.made for x in references(kept) for s in storages_of(x)):
                raise self.r.refuse("an item of a list is kept in a loop over it", STACK)

        return check

    def _stored(self, storage: Storage) -> Value | None:
        """What the iteration has stored there."""
        value = self.frame.values.get(storage)
        return None if value is self.frame.phis.get(storage) else value


def divides_by_constants(e: Dim) -> bool:
    """Whether an expression can be computed where what is known about its symbols does not hold: other divisors may be
    0 there."""
    for atom in () if isinstance(e, int) else composites(e):
        if isinstance(atom, FloorDiv) and not isinstance(atom.args[1], int):
            return False
        if not all(map(divides_by_constants, atom.args)):
            return False
    return True


def arrays_alike(r: Recorder, refs: Sequence[ArrayRef]) -> bool:
    """Whether arrays are whole, of one type and rank, and lie in memory in one way; of sizes that are equal, known to
    be or in this call, of which guards are then made."""
    forms = {
        (x.element, x.ndim, x.storage.order, x.read_only, x.storage.writable, x.storage.repeated) for x in refs
    }  # fmt: skip
    if len(forms) > 1 or not all(x.is_whole for x in refs):
        return False
    first = refs[0]
    sizes = [(a, b) for x in refs[1:] for a, b in zip(first.shape, x.shape, strict=True)]
    if not all(_equal_now(r, a, b) for a, b in sizes):
        return False
    steps = [(a, b) for x in refs[1:] for a, b in zip(first.storage.strides, x.storage.strides, strict=True)]
    if not all(_equal_now(r, a, b) for a, b in steps):
        return False
    return all(r.ask_equal(a, b) for a, b in sizes) and all(r.ask_strides(a, b) for a, b in steps)


def _equal_now(r: Recorder, a: Dim, b: Dim) -> bool:
    difference = r.facts.canon(sub(a, b))
    if isinstance(difference, int):
        return difference == 0
    value = r.in_this_call(difference)
    return r.facts.equal(a, b) if value is None else value == 0
