"""What ops on integers give at the limits of their types, i1 and index among them: Python's exact integers, the
interpreters, `-canonicalize`, native code, and mlir-opt where it is installed and folds the op.

Left out is what has no meaning in MLIR: division by zero, quotients and shifts out of the type's range.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.mlir import oracle
from tests.support.params import one_in
from tracebuf import mlir, opt

Exact = Callable[[int, int], int]
BITS = {"i1": 1, "i8": 8, "i32": 32, "i64": 64, "index": 64}


def signed(n: int, bits: int) -> int:
    return (n + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def rest(a: int, b: int) -> int:
    return a - b * quotient(a, b)


def up(a: int, b: int) -> int:
    return -(-a // b)


SIGNED: dict[str, Exact] = {
    "addi add": operator.add, "subi sub": operator.sub, "muli mul": operator.mul, "andi and": operator.and_,
    "ori or": operator.or_, "xori xor": operator.xor, "maxsi maxs": max, "minsi mins": min, "divsi divs": quotient,
    "remsi rems": rest, "ceildivsi ceildivs": up, "floordivsi floordivs": operator.floordiv,
    "shli shl": operator.lshift, "shrsi shrs": operator.rshift,
}  # fmt: skip
UNSIGNED: dict[str, Exact] = {
    "maxui maxu": max, "minui minu": min, "divui divu": quotient, "remui remu": rest, "ceildivui ceildivu": up,
    "shrui shru": operator.rshift,
}  # fmt: skip
COMPARED: dict[str, Exact] = {
    p: getattr(operator, p[-2:]) for p in "eq ne slt sle sgt sge ult ule ugt uge".split()
}


def limits(type_: str) -> list[int]:
    if type_ == "i1":
        return [0, -1]
    least = -(2 ** (BITS[type_] - 1))
    return [0, 1, -1, least, -least - 1, 3, -5, BITS[type_] - 1]


def has_meaning(name: str, a: int, b: int, bits: int) -> bool:
    if name.startswith("sh"):
        return 0 <= b < bits
    if "div" in name or "rem" in name:
        return b != 0 and not (a == -(2 ** (bits - 1)) and b == -1)
    return True


Case = tuple[str, str, Exact, bool]
"""The op's text behind `%r =`, its result's type, what it computes, and whether of unsigned numbers."""


def binary_ops(type_: str) -> Iterator[Case]:
    both = f"({type_}, {type_})"
    for unsigned, table in ((False, SIGNED), (True, UNSIGNED)):
        for names, exact in table.items():
            arith, index = names.split()
            for name in [f"arith.{arith}"] + [f"index.{index}"] * (type_ == "index"):
                yield f'"{name}"(%a, %b) : {both} -> {type_}', type_, exact, unsigned
    for k, (predicate, exact) in enumerate(COMPARED.items()):
        unsigned = predicate[0] == "u"
        yield f'"arith.cmpi"(%a, %b) <{{predicate = {k} : i64}}> : {both} -> i1', "i1", exact, unsigned
        if type_ == "index":
            pred = f"#index<cmp_predicate {predicate}>"
            yield f'"index.cmp"(%a, %b) <{{pred = {pred}}}> : {both} -> i1', "i1", exact, unsigned


def conversions(source: str) -> Iterator[Case]:
    for target, bits in BITS.items():
        names: list[str] = []
        if "index" in (source, target):
            if source != target:
                names = ["arith.index_cast", "arith.index_castui", "index.casts", "index.castu"]
        elif bits > BITS[source]:
            names = ["arith.extsi", "arith.extui"]
        elif bits < BITS[source]:
            names = ["arith.trunci"]
        for name in names:
            unsigned = name.endswith(("ui", "castu"))
            yield f'"{name}"(%a) : ({source}) -> {target}', target, lambda a, b: a, unsigned
    if source != "index":
        yield f'"arith.sitofp"(%a) : ({source}) -> f64', "f64", lambda a, b: a, False
        yield f'"arith.uitofp"(%a) : ({source}) -> f64', "f64", lambda a, b: a, True


def ops(type_: str) -> list[Case]:
    return [*binary_ops(type_), *conversions(type_)]


def expected(case: Case, a: int, b: int, bits: int) -> float | int:
    _, result, exact, unsigned = case
    if unsigned:
        a, b = a % 2**bits, b % 2**bits
    found = exact(a, b)
    return float(found) if result == "f64" else signed(found, BITS[result])


def function(cases: list[Case], type_: str, values: tuple[int, int] | None) -> str:
    """A function of each op's result, of two arguments or of these constants."""
    results = ", ".join(case[1] for case in cases)
    lines = [f"  %r{k} = {case[0]}" for k, case in enumerate(cases)]
    if values is not None:
        texts = ["true" if v else "false" for v in values] if type_ == "i1" else [f"{v} : {type_}" for v in values]
        made = [f'  %{n} = "arith.constant"() <{{value = {t}}}> : () -> {type_}' for n, t in zip("ab", texts)]
        lines = made + lines
    args = f"{type_}, {type_}" if values is None else ""
    head = "" if values is not None else f"^bb0(%a: {type_}, %b: {type_}):\n"
    returned = ", ".join(f"%r{k}" for k in range(len(cases)))
    body = "\n".join([*lines, f'  "func.return"({returned}) : ({results}) -> ()'])
    properties = f'<{{function_type = ({args}) -> ({results}), sym_name = "f"}}>'
    return f'"func.func"() {properties} ({{\n{head}{body}\n}}) : () -> ()\n'


def numbers(results: Sequence[Any]) -> list[Any]:
    """The results as signed numbers, a set bit as -1; ints of an index stay as they are."""
    return [-int(r) if isinstance(r, np.bool_) else r.item() if isinstance(r, np.generic) else r for r in results]


def given(type_: str, n: int) -> object:
    return n if type_ == "index" else np.bool_(n) if type_ == "i1" else np.dtype(f"int{BITS[type_]}").type(n)


def meant(type_: str, a: int, b: int) -> list[Case]:
    return [c for c in ops(type_) if has_meaning(c[0].split('"')[1].split(".")[1], a, b, BITS[type_])]


@pytest.mark.parametrize("type_", BITS)
@pytest.mark.cases(4)
def test_ops_of_arguments(type_: str) -> None:
    """Interpreted, signed ops took a set bit for 1, and unsigned ops of index gave numbers above 2**63. Rounded
    divisions of i1 were no LLVM IR."""
    cases = ops(type_)
    module = mlir.read(function(cases, type_, None))
    program = mlir.program(module, "f")
    for a, b in product(limits(type_), repeat=2):
        args = given(type_, a), given(type_, b)
        meaning = {case[0] for case in meant(type_, a, b)}
        kept = [k for k, case in enumerate(cases) if case[0] in meaning]
        ways = {
            "interpret": mlir.interpret(module, "f", args).results, "on_values": program.on_values(*args),
            "on_memory": program.on_memory(*args).results, "native": program(*args),
        }  # fmt: skip
        for way, results in ways.items():
            found = numbers(results)
            for k in kept:
                assert found[k] == expected(cases[k], a, b, BITS[type_]), (way, cases[k][0], a, b)


@pytest.mark.parametrize("type_", one_in(6, BITS))
def test_ops_of_constants(type_: str) -> None:
    """Folded to constants, as mlir-opt folds them."""
    flags = ["-", "-canonicalize", "-mlir-print-op-generic"]
    pairs = list(product(limits(type_), repeat=2))
    texts = [function(meant(type_, a, b), type_, (a, b)) for a, b in pairs]
    folded: list[str | None] = [None] * len(pairs)
    if oracle.MLIR_OPT is not None:
        folded = oracle.run_mlir(texts, "-canonicalize", "-mlir-print-op-generic")
    printed = list[str]()
    for (a, b), text, theirs in zip(pairs, texts, folded, strict=True):
        ours = opt.run(opt.parse(flags), text, "<text>")
        want = [expected(case, a, b, BITS[type_]) for case in meant(type_, a, b)]
        assert oracle.MLIR_OPT is None or theirs is not None
        for way, after in {"ours": ours, "mlir-opt": theirs}.items():
            if after is None:
                continue
            found = numbers(mlir.interpret(mlir.read(after), "f", ()).results)
            for case, got, wanted in zip(meant(type_, a, b), found, want, strict=True):
                assert got == wanted, (way, case[0], a, b)
        printed.append(ours)
    if oracle.MLIR_OPT is not None:  # which refuses constants that their types do not have
        assert None not in oracle.run_mlir(printed)
