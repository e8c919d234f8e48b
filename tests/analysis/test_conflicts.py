"""Conflicts as objects: all of them, why no rule saved them, in the user's words, and as MLIR's print-conflicts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from tests.mlir.expected import expected
from tests.mlir.oracle import analysis_option, needs_mlir, run_mlir
from tests.support.ir_programs import Maker
from tests.support.random_programs import random_func
from tracebuf import bufferize
from tracebuf.analysis.modules.module import analyze_module
from tracebuf.analysis.modules.tags import conflict_tags, tagged
from tracebuf.analysis.one_shot.base import Conflict
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.one_shot import one_shot
from tracebuf.frontends.mlir import read
from tracebuf.ir.core import Op, Value
from tracebuf.ir.dims import Expr
from tracebuf.ir.func import Func
from tracebuf.ir.printer import print_module
from tracebuf.ir.types import F64
from tracebuf.ops.control import func
from tracebuf.ops.scalars import arith
from tracebuf.options import OneShotOptions

_TAG = re.compile(r'"([CW]_\d+)\[([^"]*)\]"')
_OP = re.compile(r'^\s*(?:%[^"]*= )?"([\w.$-]+)"\(')
Tag = tuple[str, int, str]
"""An op's name, which of that name in the function it is, and what the tag says."""
Group = tuple[Tag, ...]


def mlir_tags(funcs: Sequence[Func]) -> dict[str, dict[str, list[Tag]]]:
    """For each function what is tagged under each name ("C_0", "W_3")."""
    flags = analysis_option(extra="").replace("test-analysis-only", "test-analysis-only print-conflicts")
    for _ in range(3):  # the binary crashes at times
        (text,) = run_mlir([print_module(funcs)], "-mlir-print-op-generic", flags)
        if text is not None:
            return read_tags(text)
    raise AssertionError("mlir-opt has crashed three times")


def read_tags(text: str) -> dict[str, dict[str, list[Tag]]]:
    """From the answer in generic form."""
    found: dict[str, dict[str, list[Tag]]] = {}
    opened: list[tuple[str, int]] = []
    for line in text.splitlines():
        if match := _OP.match(line):
            name = match[1]
            if name == "func.func":
                current = found.setdefault(re.search(r'sym_name = "([^"]+)"', line)[1], {})  # type: ignore[index]
                met = Counter[str]()
            here = (name, met[name] if name != "builtin.module" else 0)
            if name != "builtin.module":
                met[name] += 1
            if line.endswith("({"):
                opened.append(here)
                continue
        elif line.lstrip().startswith("})") and opened:
            here = opened.pop()
        else:
            continue
        for tag, what in _TAG.findall(line):
            current.setdefault(tag, []).append((*here, what))
    return found


def our_tags(f: Func) -> tuple[Counter[Group], Counter[Group], set[Group]]:
    """The same of our analysis in compat mode, without numbers: what is shown; of that, what stands for the only
    conflict of an operand; and all that may be shown for one conflict, whichever it is."""
    return our_tags_of(f, one_shot(f, compat="mlir"))


def our_tags_of(f: Func, analysis: Analysis) -> tuple[Counter[Group], Counter[Group], set[Group]]:
    met = Counter[str]()
    places: dict[Op | Func, tuple[str, int]] = {f: ("func.func", 0)}
    for op in f.walk():
        places[op] = op.name, met[op.name]
        met[op.name] += 1

    def group(conflict: Conflict) -> Group:
        return tuple(sorted((*places[op], what) for op, what in tagged(f, conflict)))

    shown: dict[str, list[Tag]] = {}
    for op, names in conflict_tags([analysis]).items():
        for name in names:
            tag, _, what = name.partition("[")
            shown.setdefault(tag, []).append((*places[op], what[:-1]))
    conflicts = [analysis.conflicts(use) for use in analysis.out_of_place()]
    alone = Counter(g for found in conflicts if len(found) == 1 and (g := group(found[0])))
    return Counter(tuple(sorted(g)) for g in shown.values()), alone, {group(c) for found in conflicts for c in found}


@pytest.mark.slow
@needs_mlir
@pytest.mark.parametrize("first", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_tags_are_mlirs(first: int) -> None:
    """MLIR shows one of an operand's conflicts, by chance; where there is one alone, it is the same."""
    funcs = [random_func(seed, ops=4 + seed % 14) for seed in range(first, first + first + 60)]
    theirs = mlir_tags(funcs)
    for f in funcs:
        shown, alone, known = our_tags(f)
        wanted = Counter(tuple(sorted(g)) for g in theirs[f.name].values())
        assert wanted.keys() <= known, f"{f.name}\n{f!r}"
        assert alone <= wanted and shown.total() == wanted.total(), f.name
        assert one_sided(shown) == one_sided(wanted), f.name


def one_sided(groups: Counter[Group]) -> Counter[Group]:
    """Those of read-only buffers, which MLIR shows all."""
    return Counter({g: n for g, n in groups.items() if len(g) == 1})


def test_the_tags_of_a_pair() -> None:
    m = Maker("f", a=(8,), x=F64)
    a, x = m.args
    m.func.arg_attrs[0]["bufferization.writable"] = True
    new = m.insert(x, a, 0)
    m.builder.add(func.Return.of([new, m.extract(a, 1)], m.loc()))
    analysis = one_shot(m.func, improvements=frozenset())
    tags = {op.name if isinstance(op, Op) else "f": names for op, names in conflict_tags([analysis]).items()}
    assert tags == {
        "tensor.extract": ["C_0[READ: 0]"], "tensor.insert": ["C_0[CONFL-WRITE: 1]"], "f": ["C_0[DEF: bbArg 0]"],
    }  # fmt: skip


# -- all of them, and why --------------------------------------------------------------------------------------------


def two_readers() -> tuple[Func, Op]:
    """The old contents of `a` are read by two ops after the store (lines 2 to 4)."""
    m = Maker("f", a=(8,), x=F64)
    a, x = m.args
    m.func.arg_attrs[0]["bufferization.writable"] = True
    new = m.insert(x, a, 0)
    m.builder.add(func.Return.of([new, m.extract(a, 1), m.extract(a, 2)], m.loc()))
    op = new.defining_op
    assert op is not None
    return m.func, op


def test_all_conflicts_of_an_operand() -> None:
    f, write = two_readers()
    for compat in (None, "mlir"):
        analysis = one_shot(f, compat=compat)
        found = analysis.conflicts(write.uses[1])
        assert [c.read.op.name for c in found if c.read is not None] == ["tensor.extract"] * 2
        assert all(c.write is write.uses[1] and c.definition is f.args[0] for c in found)
        assert {(c.read, c.rule) for c in found} >= {(analysis.conflict(write.uses[1]).read, "read after write")}  # type: ignore[union-attr]
        assert analysis.conflicts(write.uses[0]) == () and analysis.out_of_place() == [write.uses[1]]
        assert all(len(c.locations) == 2 and all(loc.line for loc in c.locations) for c in found)


def test_each_rule_says_why_it_did_not_save_the_pair() -> None:
    f, write = two_readers()
    (words, _) = (dict(c.unsaved) for c in one_shot(f).conflicts(write.uses[1]))
    assert words["read_happens_before"] == "the write comes first"
    assert words["elementwise"] == "they are two operations"
    assert words["disjoint_parts"] == "one of them is the whole array"
    assert dict(one_shot(f, compat="mlir").conflicts(write.uses[1])[0].unsaved)["disjoint_parts"].startswith("MLIR")
    assert len(words) == 9


def test_a_read_only_buffer_and_a_later_read_are_two_reasons() -> None:
    f, write = two_readers()
    f.arg_attrs[0]["bufferization.writable"] = False
    found = one_shot(f).conflicts(write.uses[1])
    assert [c.rule for c in found] == ["not writable", "read after write", "read after write"]
    assert found[0].read_only is f.args[0] and "`a`, which is read-only" in str(found[0])
    assert "elements of `a` that" in str(found[1]) and "reads afterwards" in str(found[1])


def test_a_loop_that_comes_back_to_the_read() -> None:
    m = Maker("f", a=(8,), x=F64)
    a, x = m.args
    m.func.arg_attrs[0]["bufferization.writable"] = True

    def body(i: Expr, s: Value) -> list[Value]:
        old = m.extract(a, i)
        return [m.add(arith.AddF.of(m.extract(m.insert(s, a, 0), 1), old, m.loc()))]

    (total,) = m.loop(0, 3, [x], body)
    m.builder.add(func.Return.of([total], m.loc()))
    analysis = one_shot(m.func)
    (use,) = analysis.out_of_place()
    reads = {c.read.op.name: c for c in analysis.conflicts(use) if c.read is not None}
    assert list(reads) == ["tensor.extract", "tensor.insert"]
    found = reads["tensor.extract"]
    assert "comes back to the read" in found.because and found.because in str(found)
    assert "the order says nothing" in dict(found.unsaved)["read_happens_before"]


def test_explain_tells_what_would_be_overwritten() -> None:
    def f(a, i):
        a[i, 0::3] = a[1, -1:0:-2]

    explained = bufferize(f).explain(np.ones((4, 5)), 2)
    line = f.__code__.co_firstlineno + 1
    (copy,) = explained.copies
    assert str(copy.conflicts[0]) == copy.reason
    assert copy.reason == (
        f"`a[i, 0::3]` (line {line}) reads elements that it also overwrites: "
        "the two parts may have an element in common"
    )
    assert explained.conflicts == copy.conflicts and "and `" not in str(explained)


def test_m5_explain_tells_why_a_copy_of_the_users_is_made() -> None:
    """Nothing conflicts, for the user copied; the reason was "a value needed as a whole"."""

    @bufferize
    def f(u, v):
        old = u.copy()
        u[1:-1] = v[1:-1] + 1
        return (u - old).sum()

    (entry,) = f.explain(np.ones(9), np.ones(9)).entries
    first = entry.location.line
    assert entry.reason == (
        f"`u[1:-1]` (line {first + 1}) overwrites what the value is computed from before `u - old` (line {first + 2}) "
        "reads it"
    )


def test_explain_tells_of_each_reader_once() -> None:
    def f(a, x):
        if x > 0:
            b = a
        else:
            b = a[:-1] + a[1:]
        s = b.max()
        return s, b, a.sum()

    line = f.__code__.co_firstlineno + 4
    told = str(bufferize(compat="mlir")(f).explain(np.ones(5), 1.0)).splitlines()
    write = f"`a[:-1] + a[1:]` (line {line})"
    assert told[1].endswith(f": {write} would store into `a`, which is read-only")
    assert told[2:5] == [
        "    b = a[:-1] + a[1:]",
        f"    and {write} would overwrite elements of `a` that `b.max()` (line {line + 1}) reads afterwards",
        f"    and {write} would overwrite elements of `a` that `a.sum()` (line {line + 2}) reads afterwards",
    ]


@pytest.mark.slow
@needs_mlir
def test_the_tags_of_the_corpus() -> None:
    known = {name: "\n".join(answers["generic"]) for name, answers in expected().items()}
    flags = analysis_option().replace("test-analysis-only", "test-analysis-only print-conflicts")
    options = OneShotOptions(bufferize_function_boundaries=True, allow_return_allocs_from_loops=True)
    found = 0
    for (name, text), answer in zip(known.items(), run_mlir([*known.values()], "-mlir-print-op-generic", flags)):
        if answer is None:
            continue
        theirs, module = read_tags(answer), read(text)
        analyses = analyze_module(module, options).funcs
        for f in module.funcs:
            if f.name in analyses:
                shown, alone, all_of = our_tags_of(f, analyses[f.name])
                wanted = Counter(tuple(sorted(g)) for g in theirs[f.name].values())
                assert wanted.keys() <= all_of and alone <= wanted and shown.total() == wanted.total(), name
                found += wanted.total()
    assert found >= 60
