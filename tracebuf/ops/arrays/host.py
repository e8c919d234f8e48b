"""`tracebuf.host_call`: a Python function on the program's buffers, for what has no loop form worth having.

Destination-passing: new arrays that the call computes, then arrays that it writes in place, are the outs. It is never
removed, merged or moved past an effect, for it may raise, and a function of the user's may do anything. The function
gets NumPy arrays on the buffers themselves, read-only where they are inputs. MLIR counterpart: func.call of an external
function, with the facts of linalg's named ops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.ir.attributes import encoded
from tracebuf.ir.core import Form, Interpreter, Op, Use, Value
from tracebuf.ir.types import MemRefType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.running.ufuncs import core_dims

Run = Callable[[Sequence[Any], Sequence[np.ndarray]], None]
"""Computes the outs in place from the inputs (arrays, NumPy scalars, ints)."""


ROW = 512
"""Elements of a row, up to which native code copies it to be sorted or searched."""


@frozen()
class CoreLoop:
    """The inner loop of a generalised ufunc of NumPy's, which native code calls by pointer: it computes the outs from
    the inputs, of the types of `types` ("dd->d"), bit for bit as the function does, which is called in its place where
    there is much to compute (its own cost does not matter then) and where the loop sets a status flag: an error or a
    warning, which the function says. `quiet`: the function looks at no flag but `invalid`. `odd`: the ufunc that takes
    its place where the first core dimension is odd. `widens`: the first input has real numbers, which are made complex
    where the result goes, and the loop works in place."""

    module: str
    ufunc: str
    types: str
    signature: str
    quiet: bool
    odd: str = ""
    widens: bool = False

    @property
    def cores(self) -> tuple[tuple[str, ...], ...]:
        return core_dims(self.signature)


@frozen()
class SortLoop:
    """NumPy's sort of one row of contiguous elements, which native code calls by pointer for each row along the last
    axis: of the only out, in place, or (`indirect`) of the input, where the out gets the indices. `kind`: NumPy's
    number of the algorithm. Rows that are not contiguous are copied up to `ROW`; of longer ones the function is
    called."""

    dtype: str
    kind: int
    indirect: bool


@frozen()
class MedianLoop:
    """The medians of rows along the last axis of the input, which native code takes from a sorted copy of each row.
    The function is called for long rows, which it need not sort, for a NaN, an infinite sum, and a zero in the middle,
    whose sign hangs on how it is found."""

    dtype: str


@frozen()
class ExtremeLoop:
    """NumPy's search for the index of the largest or least number of a row of contiguous elements, by the `name` of the
    function, which native code calls by pointer for each row along the last axis of the input; rows that are not
    contiguous are copied in blocks."""

    dtype: str
    name: str


Loop = CoreLoop | SortLoop | MedianLoop | ExtremeLoop


@frozen()
class Passed:
    """An argument that is known when the program runs: its index among the inputs, and which of Python's types it has
    (None: the type it arrives with)."""

    place: int
    type: type | None = None


def is_passed(pattern: Any) -> bool:
    """Whether an argument contains anything that is only known when the program runs."""
    return isinstance(pattern, Passed) or (isinstance(pattern, (tuple, list)) and any(map(is_passed, pattern)))


@frozen(eq=False)
class Direct:
    """A host call as native code makes it: a function of Python's, its arguments (each `Passed`, a tuple or list of
    such arrays, or the same each time), the last ones by `names`. The outs get the result, or those at `places` of a
    result that is a tuple of the class `kind`. Those with an axis in `bounds` may be shorter along it; how long they
    are goes to one more out for each. `put` stores what is of other types and shapes, or refuses it."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    kind: type | None
    places: tuple[int, ...]
    bounds: tuple[int | None, ...]
    put: Callable[[Any, Sequence[np.ndarray]], None]


@frozen(eq=False)
class HostFunction:
    """The called function. `may_keep`: it is the user's, and may keep a reference to its arguments after it has
    returned. `returns`: the number of outs, the first ones, for which it makes arrays of its own that are copied into
    them. `loop`: what native code calls where it can; the function gets copies then. `direct`: what `run` calls, for
    native code that calls it."""

    name: str
    run: Run
    may_keep: bool = False
    returns: int = 0
    loop: Loop | None = None
    direct: Direct | None = None

    def __str__(self) -> str:
        return self.name


class HostCall(DestinationOp):
    """`tracebuf.host_call`: calls a Python function on the operands' memory.

    operands: n_ins inputs (tensors, memrefs or scalars), the outs; results: on tensors 1 for each out, aliases it;
    attrs: n_ins, callee (a HostFunction; its name where the op was read from text), unread (the outs, by number, that
    the function does not read).
    """

    __slots__ = ()
    name = "tracebuf.host_call"

    def effects(self) -> None:
        """The function may do anything."""
        return None

    @property
    def may_raise(self) -> bool:
        return True

    @classmethod
    def of(
        cls,
        callee: HostFunction,
        ins: Sequence[Value],
        outs: Sequence[Value],
        unread: Sequence[int],
        loc: Location = UNKNOWN,
    ) -> HostCall:
        """`unread`: the outs, by their number among the outs, that the function does not read."""
        attrs = {"n_ins": len(ins), "callee": callee, "unread": tuple(unread)}
        return cls([*ins, *outs], [o.type for o in outs if o.is_tensor], loc, attrs)

    @classmethod
    def from_form(cls, form: Form) -> Op:
        attrs = {"callee": form.take("callee", kind=str), "unread": tuple(form.take("unread", (), list))}
        op = super().from_form(form)
        op.attrs |= attrs
        return op

    def to_form(self) -> Form:
        form = super().to_form()
        form.attrs |= {"callee": encoded(str(self.callee)), "unread": encoded(self.attrs["unread"])}
        return form

    @property
    def callee(self) -> HostFunction | str:
        callee: HostFunction | str = self.attrs["callee"]
        return callee

    @property
    def may_keep(self) -> bool:
        """Whether the function may keep a reference to its arguments."""
        return not isinstance(self.callee, str) and self.callee.may_keep

    @property
    def loop(self) -> Loop | None:
        """What native code calls in the function's place."""
        return None if isinstance(self.callee, str) else self.callee.loop

    @property
    def direct(self) -> Direct | None:
        """The call as native code makes it, if it can."""
        return None if isinstance(self.callee, str) else self.callee.direct

    @property
    def makes(self) -> int:
        """For how many outs, the first ones, the function makes arrays of its own."""
        source = self.operand(0).type
        rows = isinstance(self.loop, SortLoop) and isinstance(source, MemRefType) and source.strides[-1] == 1
        return 0 if rows or isinstance(self.callee, str) else self.callee.returns

    def reads_out(self, use: Use) -> bool:
        return use.index - self.n_ins not in self.attrs["unread"]

    def reads(self, use: Use) -> bool:
        return use.index < self.n_ins or self.reads_out(use)

    def run(self, args: Sequence[Any]) -> None:
        """The call, on the operands' own memory."""
        if isinstance(self.callee, str):
            raise UnsupportedError(f"the function {self.callee} of a host call is not known", location=self.loc)
        self.callee.run(args[: self.n_ins], args[self.n_ins :])

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        outs = [np.copy(out) for out in args[self.n_ins :]]
        self.run([*map(read_only, args[: self.n_ins]), *outs])
        return outs


def read_only(arg: Any) -> Any:
    """An array that may not be stored to; numbers as they are."""
    if not isinstance(arg, np.ndarray):
        return arg
    shown = arg.view()
    shown.flags.writeable = False
    return shown


def kept_error(name: str) -> TracebufError:
    text = "keeps an array that it was given, whose memory is used again after the call"
    return TracebufError(f"host_call: {name} {text}\nInstead: keep a copy: x.copy()")
