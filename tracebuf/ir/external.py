"""Facts from outside about ops that exist: a model is a class whose methods stand in for those of an op class.

Why: to state more about an op than its author did (that it reads less, that two operands are accessed element by
element), or another memref form, without changing its class. Limitations: a model is for a class and those that derive
from it, not for single ops. `testing.check_op` tests whether what it states is true. MLIR counterpart: external models
(`Op::attachInterface<Model>`).
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from tracebuf.ir.core import Op

STRUCTURE = frozenset({"name", "registry", "attrs", "block", "loc", "regions", "results", "successors", "uses"})
"""What an op is, rather than what is known of it."""


class ExternalModel:
    """A model that is attached to a class until it is detached; as a context manager it is detached at the end."""

    __slots__ = ("_before", "model", "op_class")

    def __init__(self, op_class: type[Op], model: type) -> None:
        self.op_class, self.model = op_class, model
        self._before: dict[str, Any] | None = None
        self.attach()

    def attach(self) -> None:
        """Replaces the class's members by the model's."""
        if self._before is None:
            told = _told(self.op_class, self.model)
            self._before = {name: self.op_class.__dict__.get(name, _NOTHING) for name in told}
            for name, member in told.items():
                setattr(self.op_class, name, member)

    def detach(self) -> None:
        """Restores the class's own members; models attached later must be detached first."""
        for name, member in (self._before or {}).items():
            if member is _NOTHING:
                delattr(self.op_class, name)
            else:
                setattr(self.op_class, name, member)
        self._before = None

    def __enter__(self) -> ExternalModel:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.detach()


_NOTHING = object()


def external_model(op_class: type[Op], model: type) -> ExternalModel:
    """Attaches a model to an op class: its methods, called with the op, replace the class's methods of equal name.

    Args:
        op_class: the class; classes that derive from it inherit the model's methods.
        model: a class with methods of `Op`: facts, or `bufferize`. A method calls the one that it replaces by
            `op_class.method(op, ...)`, taken before.

    Returns an ExternalModel: `with external_model(Insert, OnlyWrites): ...`, or `.detach()`. Raises TypeError for a
    member that ops of the class do not have, or that is their structure.
    """
    return ExternalModel(op_class, model)


def _told(op_class: type[Op], model: type) -> dict[str, Any]:
    """The model's members, those of its bases included, without `object`'s."""
    told = {k: v for base in reversed(model.__mro__[:-1]) for k, v in vars(base).items() if not k.startswith("__")}
    for name in told:
        if not hasattr(op_class, name) or name in STRUCTURE or name.startswith("_"):
            raise TypeError(f"{model.__name__}.{name} is nothing that a model can say of {op_class.__name__}")
    return told
