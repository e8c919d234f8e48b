"""The options of @bufferize and of -one-shot-bufferize, as frozen dataclasses."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import field
from itertools import combinations
from typing import Any, Literal, get_args

from tracebuf.frozen import frozen

Tier = Literal["auto", "fast", "quick"]
Backend = Literal["llvm", "numba"]
Strategy = Literal["one-shot", "optimal", "copy-before-write"]
Heuristic = Literal[
    "auto", "bottom-up", "top-down", "bottom-up-from-terminators", "insert-slice-first", "fuzzer",
]  # fmt: skip
Improvement = Literal[
    "disjoint-slices",
    "early-equivalence",
    "rotation",
    "read-only-loops",
    "dying-inputs",
    "pay-only-empty-elimination",
    "whole-stores",
    "reshaped-reads",
    "early-reads",
    "several-orders",
    "branch-copies",
    "read-only-buffers",
]
IMPROVEMENTS: frozenset[Improvement] = frozenset(get_args(Improvement))
"""The improvements over MLIR's decisions, each of which saves copies and has a name by which it can be left out.

disjoint-slices: disjoint parts of one buffer do not conflict (analysis/one_shot/parts.py).
early-equivalence: which values are one buffer is known while deciding (analysis/one_shot/parts.py).
rotation: loops hand buffers on to other loop-carried values (analysis/one_shot/storages.py).
read-only-loops: a buffer that a loop only reads does not count as written (analysis/one_shot/read_only_loops.py).
dying-inputs: results take the buffers of operands that are not used again (optimize/tensors/reuse_dying_inputs.py).
pay-only-empty-elimination: a value stored into a slice is computed there, where that saves something
    (optimize/tensors/eliminate_empty_tensors.py).
whole-stores: a value stored over all of an array replaces that array (optimize/tensors/fold_whole_stores.py).
reshaped-reads: one element of a reshaped array is read in the array itself (optimize/tensors/read_through_reshapes.py).
early-reads: a read moves before the write that would cost a copy (optimize/tensors/move_reads_early.py).
several-orders: the cheapest of some orders of decisions is taken (analysis/cost/several_orders.py).
branch-copies: a copy that only one branch of an scf.if needs is made there (analysis/cost/several_orders.py).
read-only-buffers: a to_buffer whose memref is only read is no write (optimize/mlir/mark_read_only.py).
"""


NAMING = ("donate", "donate_optional", "static_argnames", "in_place")
"""The options that name parameters."""
APART = NAMING[:3]
"""Those of them of which a parameter has one at most."""
CONTRACTS = ("max_allocations", "max_copies", "max_bytes", "in_place")
"""The options that say how much memory a program may take."""


def names_in(field: str, given: Any) -> tuple[str, ...]:
    """The parameter names that the option `field` holds, one or several. Raises TypeError for anything that is not a
    name."""
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(n, str) for n in names):
        raise TypeError(f"{field} is a parameter's name, or several, not {given!r}")
    return names


Fallback = Literal["error", "numpy"]
Warnings = Literal["numpy"]
_settings: dict[str, Any] = {}
"""What `options` has set, by field."""


def setting(name: str, otherwise: Any) -> Any:
    """What a field is where a function does not say it: by `options`, by the environment variable, or `otherwise`."""
    if name in _settings:
        return _settings[name]
    text = os.environ.get(f"TRACEBUF_{name.upper()}", "")
    if not text:
        return otherwise
    if isinstance(otherwise, bool):
        return text != "0"
    try:
        return int(text) if isinstance(otherwise, int) else text
    except ValueError:
        raise ValueError(f"TRACEBUF_{name.upper()} is a whole number, not {text!r}") from None


def setting_field(name: str, otherwise: Any) -> Any:
    """A field whose default is a setting."""
    return field(default_factory=lambda: setting(name, otherwise))


def current_fallback(own: Fallback | None, otherwise: Fallback = "error") -> Fallback:
    """What a refused call does now: by a function's own option, else by the setting."""
    found: Fallback = setting("fallback", otherwise) if own is None else own
    check_fallback(found)
    return found


def check_fallback(given: Any) -> None:
    """Raises ValueError for anything else than the two."""
    if given not in get_args(Fallback):
        raise ValueError(f"fallback is 'error' or 'numpy', not {given!r}")


def check_limit(name: str, given: Any) -> None:
    """Raises TypeError for what is no number (or, of bytes, formula), ValueError for one that cannot be a limit."""
    if name == "max_bytes" and isinstance(given, str):
        try:
            ast.parse(given, mode="eval")
        except SyntaxError:
            raise ValueError(f"max_bytes is a number or a formula of the parameters, not {given!r}") from None
    elif given is not None and type(given) is not int:
        raise TypeError(f"{name} is an int{' or a str' if name == 'max_bytes' else ''}, not {given!r}")
    elif given is not None and given < 0:
        raise ValueError(f"{name} is not negative: {given}")


@frozen(checked=True)
class Options:
    """What can be chosen for a bufferized function; `bufferize` takes the fields as keyword arguments. What is not
    given is what `tracebuf.options` has set, else what an environment variable says (TRACEBUF_STRATEGY,
    TRACEBUF_HEURISTIC, TRACEBUF_MAX_SPECIALIZATIONS, TRACEBUF_VERIFY, TRACEBUF_COMPAT, TRACEBUF_TIER,
    TRACEBUF_BACKEND, TRACEBUF_FALLBACK, TRACEBUF_PARALLEL, TRACEBUF_TILE, TRACEBUF_WARNINGS), else the default.

    Args:
        strategy: who decides what is in place. "one-shot": the analysis. "optimal": the decisions of least cost,
            searched for, and proved where the search ends in time. "copy-before-write": a copy before every write, to
            compare with. Or a function that is called with the tensor program and returns an object that answers
            `is_in_place(use)`.
        heuristic: the order in which One-Shot decides, by MLIR's names; "auto" tries several and keeps the cheapest
            (under `compat`, bottom-up).
        seed: of the heuristic "fuzzer", a random order.
        max_specializations: how many programs the function may be compiled to; further calls run the original
            function, logged and listed.
        verify: whether the verifier runs after tracing and after every pass; by default where the environment variable
            TRACEBUF_VERIFY is set, as in the tests.
        donate: array parameters (a name, or several) whose contents are not needed after the call: results may be
            computed in their memory. One that cannot be donated raises DonationError at the call.
        donate_optional: array parameters that are donated where possible, and silently kept where not.
        compat: "mlir" decides as MLIR 22 does, without improvements.
        improvements: those of `IMPROVEMENTS` that are made.
        static_argnames: parameters (a name, or several) whose arguments are constants while tracing, and part of the
            key: modes, axes, functions, anything hashable. Each value has a program of its own.
        tier: "auto": the first call of a program that is long to compile runs code that was made quickly, while a
            thread makes the fast code, which then takes its place; the results are the same, to the bit (but for two
            cases that docs/calling.md names). "fast": the first call waits for the fast code. "quick": there is no fast
            code, to try the other.
        backend: who compiles. "llvm": machine code by llvmlite. "numba": the program becomes Python, whose loops Numba
            compiles when they first run (docs/numba.md): to compare, slower to compile and to call; calls are made by
            Python, nothing is kept on disk, calls of functions of one's own, and texts, are refused.
        fallback: "error" raises UnsupportedError where a call is outside the language; "numpy" runs the original
            function instead, with a TracebufWarning for each reason; what was compiled stays, and takes the calls that
            it can. None: what `tracebuf.options` or TRACEBUF_FALLBACK say at the call, else "error"; but for
            a function of SciPy's, or of libraries built on it, "numpy" without warnings, for nobody rewrites these.
        parallel: whether large nests are shared by Numba's threads (docs/threads.md); the results are the same, to the
            bit.
        tile: whether ops that go over the same rows run on one block of rows after the other, so that a block stays in
            the cache and what is only needed between them has a block's size; the results are the same, to the bit.
            What explains a program tells of whole arrays: they are the most that it takes. Not with `parallel`, whose
            nests are shared as a whole, nor with the back end "numba".
        warnings: "numpy" gives NumPy's floating-point warnings and obeys `np.errstate`: compiled code that meets an
            infinity or a NaN, in any result of arithmetic, ends; the arguments get back what they held, and the
            original function runs. It runs at once where calls are made, integers or complex numbers divided. None:
            compiled code does not warn.

        max_allocations, max_copies: how many allocations and copies, as `explain` lists them, a program may have. What
            happens in each iteration of a loop is more than any number. A program that has more raises ContractError
            when it is compiled, with the lines. An array that the function makes and returns is an allocation.
        max_bytes: the most bytes that may be alive at once, arguments not counted: an int, or a formula of the
            parameters such as "8*n*m + a.nbytes" (also `a.size`, `a.shape[0]`, `len(a)`, //, max, min), and of sizes of
            them that the function names (`n, m = a.shape`).
        in_place: array parameters (a name, or several) that are updated in place: what the function stores to them is
            computed in their memory, and none of their contents are copied for something that reads them later.

    Raises ValueError for a value that is not among these, or a parameter named by two of the fields that name
    parameters, TypeError for names that are not strings.

    >>> Options(donate="a").donate
    ('a',)
    >>> Options(strategy="best")
    Traceback (most recent call last):
    ValueError: strategy must be one of one-shot, optimal, copy-before-write, not 'best'
    """

    strategy: Strategy | Callable[[Any], Any] = setting_field("strategy", "one-shot")
    heuristic: Heuristic = setting_field("heuristic", "auto")
    seed: int = setting_field("seed", 0)
    max_specializations: int = setting_field("max_specializations", 64)
    verify: bool = setting_field("verify", False)
    donate: tuple[str, ...] = ()
    donate_optional: tuple[str, ...] = ()
    compat: Literal["mlir"] | None = setting_field("compat", None)
    improvements: Collection[Improvement] = field(default_factory=lambda: _settings.get("improvements", IMPROVEMENTS))
    static_argnames: tuple[str, ...] = ()
    tier: Tier = setting_field("tier", "auto")
    backend: Backend = setting_field("backend", "llvm")
    fallback: Fallback | None = None
    parallel: bool = setting_field("parallel", False)
    tile: bool = setting_field("tile", True)
    warnings: Warnings | None = setting_field("warnings", None)
    max_allocations: int | None = field(default_factory=lambda: _settings.get("max_allocations"))
    max_copies: int | None = field(default_factory=lambda: _settings.get("max_copies"))
    max_bytes: int | str | None = field(default_factory=lambda: _settings.get("max_bytes"))
    in_place: tuple[str, ...] = ()

    @property
    def improved(self) -> frozenset[Improvement]:
        """The improvements that are made: none where MLIR decides."""
        return frozenset() if self.compat else frozenset(self.improvements)

    def __post_init__(self) -> None:
        for name in NAMING:
            object.__setattr__(self, name, names_in(name, getattr(self, name)))
        for first, second in combinations(APART, 2):
            if both := set(getattr(self, first)) & set(getattr(self, second)):
                raise ValueError(f"{first} and {second} both name {', '.join(sorted(both))}")
        choices = (
            ("strategy", get_args(Strategy)), ("heuristic", get_args(Heuristic)), ("tier", get_args(Tier)),
            ("backend", get_args(Backend)),
        )  # fmt: skip
        for name, allowed in choices:
            if getattr(self, name) not in allowed and not (name == "strategy" and callable(self.strategy)):
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {getattr(self, name)!r}")
        if self.compat not in (None, "mlir"):
            raise ValueError(f"compat is 'mlir' or None, not {self.compat!r}")
        if self.warnings not in (None, "numpy"):
            raise ValueError(f"warnings is 'numpy' or None, not {self.warnings!r}")
        for name in ("parallel", "tile"):
            if type(getattr(self, name)) is not bool:
                raise TypeError(f"{name} is True or False, not {getattr(self, name)!r}")
        if self.parallel and self.backend != "llvm":
            raise ValueError(f"parallel goes with the back end 'llvm', not {self.backend!r}")
        if self.fallback is not None:
            check_fallback(self.fallback)
        for name in CONTRACTS[:3]:
            check_limit(name, getattr(self, name))
        if unknown := sorted(set(self.improvements) - IMPROVEMENTS):
            raise ValueError(f"improvements are {', '.join(sorted(IMPROVEMENTS))}, not {', '.join(unknown)}")
        object.__setattr__(self, "improvements", frozenset(self.improvements))


class options:
    """`tracebuf.options(fallback="numpy")`: sets fields of `Options` for a whole program, in all threads; in a `with`
    statement until its end.

    Functions that are bufferized from now on have these fields, unless they say otherwise themselves; `fallback` counts
    at each call, of functions that are there already too.

    Raises TypeError for what is no field and for `donate`, `donate_optional` and `static_argnames`, which name
    parameters; ValueError as `Options` does.

    >>> with options(tier="fast"):
    ...     Options().tier
    'fast'
    """

    def __init__(self, **given: Any) -> None:
        if names := [name for name in NAMING if name in given]:
            raise TypeError(f"{names[0]} names parameters of one function: give it to bufferize")
        Options(**given)  # which says what is wrong
        self._before = {name: _settings[name] for name in given if name in _settings}
        self._given = given
        _settings.update(given)

    def __enter__(self) -> options:
        return self

    def __exit__(self, *error: object) -> None:
        for name in self._given:
            _settings.pop(name, None)
        _settings.update(self._before)

    def __repr__(self) -> str:
        return f"options({', '.join(f'{name}={value!r}' for name, value in self._given.items())})"


Layout = Literal["infer-layout-map", "identity-layout-map", "fully-dynamic-layout-map"]


@frozen(checked=True)
class OneShotOptions:
    """MLIR's options of -one-shot-bufferize, by MLIR's names (see `mlir-opt --help`), for whole modules.

    `compat` "mlir" decides as MLIR 22 does; None makes the `improvements`. `analysis_heuristic` "auto" tries several
    orders where that is among the improvements, else it is bottom-up; "optimal" (with `compat` None) is that of
    `Options.strategy`. `create_deallocs` is gone from MLIR 22. Options of MLIR that are not fields are not supported.

    >>> OneShotOptions(dialect_filter=("tensor",)).allows("scf.for")
    False
    """

    analysis_heuristic: str = "auto"
    analysis_fuzzer_seed: int = 0
    bufferize_function_boundaries: bool = False
    allow_return_allocs_from_loops: bool = False
    allow_unknown_ops: bool = False
    dialect_filter: tuple[str, ...] = ()
    copy_before_write: bool = False
    no_analysis_func_filter: tuple[str, ...] = ()
    unknown_type_conversion: Layout = "fully-dynamic-layout-map"
    function_boundary_type_conversion: Layout = "infer-layout-map"
    check_parallel_regions: bool = True
    test_analysis_only: bool = False
    print_conflicts: bool = False
    dump_alias_sets: bool = False
    create_deallocs: bool = False
    buffer_alignment: int = 64
    compat: Literal["mlir"] | None = "mlir"
    improvements: frozenset[Improvement] = IMPROVEMENTS

    def allows(self, name: str) -> bool:
        """Whether ops named `name` are analysed: they, or their dialect, are in the filter, if there is one."""
        return not self.dialect_filter or not {name, name.split(".")[0]}.isdisjoint(self.dialect_filter)
