"""Options of @bufferize, as one frozen dataclass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

Strategy = Literal["one-shot", "copy-before-write"]
Heuristic = Literal["bottom-up", "top-down", "bottom-up-from-terminators", "fuzzer"]


@dataclass(frozen=True, slots=True)
class Options:
    """What can be chosen.

    `strategy`: One-Shot analysis, a copy before every write (to compare with), or an analysis of your own: called with
    the tensor program, it returns an object that answers `is_in_place(use)`. `heuristic` and `seed`: the order in
    which One-Shot decides, MLIR's names. `max_specializations`: how many programs one function may be compiled to (rule
    F5); further calls run the original function, logged and listed. `verify`: run the verifier after every pass.
    `donate`: parameters whose buffers the function may overwrite as it likes (refused: not supported yet).
    """

    strategy: Strategy | Callable[[Any], Any] = "one-shot"
    heuristic: Heuristic = "bottom-up"
    seed: int = 0
    max_specializations: int = 64
    verify: bool = False
    donate: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, allowed in (("strategy", get_args(Strategy)), ("heuristic", get_args(Heuristic))):
            if getattr(self, name) not in allowed and not (name == "strategy" and callable(self.strategy)):
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}")
