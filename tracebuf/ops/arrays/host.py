"""`tracebuf.host_call`: a Python function on the program's buffers, for what has no loop form worth having.

Destination-passing: new arrays that the call computes, then arrays that it writes in place, are the outs. It is never
removed, merged or moved past an effect, for it may raise, and a function of the user's may do anything. The function
gets NumPy arrays on the buffers themselves, read-only where they are inputs. MLIR counterpart: func.call of an external
function, with the facts of linalg's named ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.ir.attributes import encoded
from tracebuf.ir.core import Form, Interpreter, Op, Use, Value
from tracebuf.ir.types import MemRefType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays.linalg import DestinationOp
from tracebuf.running.host import Direct, HostFunction, Loop, SortLoop, read_only


class HostCall(DestinationOp):
    """`tracebuf.host_call`: calls a Python function on the operands' memory.

    operands: n_ins inputs (tensors, memrefs or scalars), the outs; results: on tensors 1 for each out, aliases it;
    attrs: n_ins, callee (a HostFunction; its name where the op was read from text), unread (the outs, by number, that
    the function does not read); set by take-results: gives (the outs that are not made before, but get the memory of
    what the function gives).
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
        if "gives" in form.attrs:
            attrs["gives"] = tuple(form.take("gives", (), list))
        op = super().from_form(form)
        op.attrs |= attrs
        return op

    def to_form(self) -> Form:
        form = super().to_form()
        form.attrs |= {"callee": encoded(str(self.callee)), "unread": encoded(self.attrs["unread"])}
        if self.given_outs:
            form.attrs["gives"] = encoded(self.given_outs)
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
        source = self.operand(0).type if self.uses else None
        rows = isinstance(self.loop, SortLoop) and isinstance(source, MemRefType) and source.strides[-1] == 1
        return 0 if rows or isinstance(self.callee, str) else self.callee.returns

    @property
    def given_outs(self) -> tuple[int, ...]:
        """The outs, by number, whose memory the function gives."""
        gives: tuple[int, ...] = self.attrs.get("gives", ())
        return gives

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
