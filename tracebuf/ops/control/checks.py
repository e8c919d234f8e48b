"""`tracebuf.check`: what raises an exception where eager would. MLIR counterpart: cf.assert."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from tracebuf.errors import note_location
from tracebuf.ir.core import Effect, Effects, Form, FormError, Interpreter, Op, Value
from tracebuf.location import UNKNOWN, Location
from tracebuf.running.raised import Message, Raised, make_error, raised


class Check(Op):
    """`tracebuf.check`: raises an exception where the condition is false.

    operands: condition (i1), scalars for the message; results: none; attrs: exception (a class, or an exception to
    raise again), message (its arguments, a `Message`). MLIR counterpart: cf.assert. It stands where eager would
    raise (rule F3); never pure, never moved.
    """

    __slots__ = ()
    name = "tracebuf.check"
    takes, gives = "i1, any*", ""

    def effects(self) -> Effects:
        """It may stop the program: as if it wrote something (so does MLIR's cf.assert)."""
        return ((Effect.WRITE, None),)

    @classmethod
    def of(
        cls, condition: Value, exception: Raised, message: Message, values: Sequence[Value], loc: Location = UNKNOWN
    ) -> Check:
        return cls([condition, *values], [], loc, {"exception": raised(exception), "message": message})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        made = super().from_form(form)
        name = made.attrs.get("exception")
        kind = getattr(builtins, name, None) if isinstance(name, str) else None
        if not isinstance(kind, type) or not issubclass(kind, BaseException):
            raise FormError(f"{cls.name}: `{name}` is no exception of Python's")
        made.attrs |= {"exception": kind, "message": made.attrs.get("message")}
        return made

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        if not args[0]:
            raise check_error(self, args[1:])
        return []


def may_stop(op: Op) -> bool:
    """Whether an op may raise at run time."""
    return op.may_raise or isinstance(op, Check)


def check_error(check: Check, values: Sequence[Any]) -> BaseException:
    """The exception a failed check raises, with the user's line as a note."""
    return note_location(make_error(check.attrs["exception"], check.attrs["message"], values), check.loc)
