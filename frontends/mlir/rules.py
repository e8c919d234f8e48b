"""What is wrong with an op of MLIR text beyond what its class verifies, which programs of the tracer need not keep.
MLIR counterpart: the traits and verifiers of ODS."""

from __future__ import annotations

from tracebuf.frontends.mlir import memory_rules
from tracebuf.ir.core import Op

RULES = memory_rules.RULES


def problem(op: Op) -> str:
    """What is wrong, or the empty string."""
    rule = RULES.get(op.name)
    return rule(op) if rule is not None and op.name in Op.registry else ""
