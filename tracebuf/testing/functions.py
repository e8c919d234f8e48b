"""Every function of the support table against eager: `python -m tracebuf.testing.functions --seconds 60 --seed 1`.

A call is drawn from the function's spec (`specs`): its parameters, arrays over dtypes, layouts and sizes, and now and
then a view or a copy made inside, or a store to the array after the call. It is compiled once and run with several
rounds of values; each round must be eager's: type, dtype, shape, values, order of strides, memory shared, arguments
afterwards, class of an exception. Prints, per function, how many calls were right, raised as eager did, were refused,
and failed; the exit code is 1 if any failed. A function runs in a process of its own: a crash counts as a failure.
"""

from __future__ import annotations

import argparse
import cmath
import itertools
import json
import linecache
import math
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from tracebuf.api import BufferizedFunction, bufferize
from tracebuf.errors import UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.testing import names
from tracebuf.testing.drawn import Call, Drawn, Pick
from tracebuf.testing.holes import MASK
from tracebuf.testing.ladder import Mismatch, Outcome, Rules, call, compare, leaves
from tracebuf.testing.specs import OUT, Near, Spec, spec_of

__all__ = ["Tally", "calls", "drawn", "function_of", "judge", "run"]

ROUNDS = 3
GIVEN_UP = 40
"""Calls of a function after which it is left alone if all were refused."""
_numbers = itertools.count()


# -- drawing


def drawn(name: str, pick: Pick, only: str | None = None) -> Call:
    """A call of the function of that name; with `only`, with that of its optional parameters and no other."""
    spec = spec_of(name)
    d = Drawn(pick, spec.dtypes, spec.shapes, spec.pool)
    text = _expression(spec, d, only)
    return Call(name, tuple(_surrounded(spec, d, text)), d.values)


def _expression(spec: Spec, d: Drawn, only: str | None) -> str:
    if spec.whole is not None:
        return spec.whole(d)
    given = [hole(d) for _, hole in spec.required]
    chosen = [(name, hole) for name, hole in spec.optional if (name == only if only else d.one_in(4))]
    masked = spec.masks and any(name == "where" for name, _ in chosen)
    given += [f"{name}={hole(d)}" for name, hole in chosen if not (spec.masks and name == "where")]
    text = _filled(spec, given)
    if masked:
        given.append(f"where={MASK(d)}")
    if spec.out and (masked or (only == OUT if only else d.one_in(5))):
        outs = _out_for(d, text)
        if outs:
            into = outs[0] if len(outs) == 1 else f"({', '.join(outs)})"
            text = _filled(spec, [*given, f"out={into}"])
    return text


def _filled(spec: Spec, given: Sequence[str]) -> str:
    if spec.method:
        return spec.form.format(given[0], ", ".join(given[1:]))
    return spec.form.format(", ".join(g for g in given if g))


def _out_for(d: Drawn, text: str) -> list[str]:
    """Arrays that take what eager NumPy gives; one in a few of another dtype."""
    before = Call("", (f"return {text}",), dict(d.values))
    result = call(function_of(before.text), before.arguments(0)).result
    made = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(x, np.ndarray | np.generic) for x in made):
        return []
    other = d.one_in(4)
    found = []
    for x in made:
        main, kept = d.main, d.main_name
        found.append(d.array(x.shape, None if other else (x.dtype.name,), "any"))
        d.main, d.main_name = main, kept
    return found


def _surrounded(spec: Spec, d: Drawn, text: str) -> Iterator[str]:
    """The call as a program: the first array may come from inside, or be stored to before the result is returned."""
    kind = d.pick(("", "", "", "", "copied", "viewed", "computed", "stored", "")) if d.main is not None else ""
    a = d.main_name
    if kind in ("copied", "viewed", "computed") and spec.pure:
        made = {"copied": f"{a}.copy()", "viewed": f"{a}[...]", "computed": f"np.maximum({a}, {a})"}
        yield f"{a} = {made[kind]}"
    if kind == "stored":
        yield f"result = {text}"
        yield f"{a}[...] = 1"
        yield "return result"
    else:
        yield f"return {text}"


def calls(name: str) -> Any:
    """Calls of a function as a Hypothesis strategy."""
    from hypothesis import strategies as st

    @st.composite
    def strategy(draw: Any) -> Call:
        return drawn(name, lambda items: draw(st.sampled_from(list(items))))

    return strategy()


def picker(rng: random.Random) -> Pick:
    return lambda items: items[rng.randrange(len(items))]


def function_of(source: str) -> FunctionType:
    """The last function that a source text defines; inspect can read it back."""
    file = f"<program {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "math": math, "cmath": cmath}
    exec(compile(source, file, "exec"), space)
    found = [v for v in space.values() if isinstance(v, FunctionType) and v.__code__.co_filename == file]
    return found[-1]


# -- judging


@frozen(slots=False)
class Verdict:
    """What became of a call: "ok", "raised" (as eager did), "refused" or "failed"."""

    kind: str
    what: str = ""


def judge(example: Call, f: BufferizedFunction | None = None, rounds: int = ROUNDS) -> Verdict:
    """Runs a call eagerly and compiled, on the same values, for some rounds."""
    made = bufferize(function_of(example.text)) if f is None else f
    assert isinstance(made, BufferizedFunction)
    kinds = Counter[str]()
    for seed in range(rounds if example.values else 1):
        args = example.arguments(seed)
        try:
            eager = call(made.__wrapped__, args)
            ours = call(made, args)
        except UnsupportedError as error:
            return Verdict("refused", error.reason)
        except Exception as error:
            return Verdict("failed", f"round {seed}: {type(error).__name__}: {error}")
        if wrong := difference(example, args, eager, ours):
            return Verdict("failed", f"round {seed}: {wrong}")
        kinds["ok" if eager.error is None else "raised"] += 1
    return Verdict("ok" if kinds["ok"] else "raised")


def difference(example: Call, args: Sequence[Any], eager: Outcome, ours: Outcome) -> str:
    """How the compiled call differs from eager, or the empty string."""
    try:
        compare(eager, ours, Rules(math.inf), "native", "")
    except Mismatch as error:
        return error.what
    if eager.error is not None or spec_of(example.name).near == "folds":
        return ""
    near = spec_of(example.name).near
    arrays = [x for x in args if isinstance(x, np.ndarray | np.generic)]
    whole = all(x.flags.c_contiguous or x.flags.f_contiguous for x in arrays if isinstance(x, np.ndarray))
    exact = near == "exact" or (near == "loops" and whole and not any("viewed" in line for line in example.body))
    pairs = [*zip(leaves(eager.result), leaves(ours.result))]
    pairs += [((f"argument {i}", x), ("", y)) for i, (x, y) in enumerate(zip(eager.args, ours.args))]
    for (place, x), (_, y) in pairs:
        if isinstance(x, np.ndarray | np.generic | float | complex) and x is not y:
            a, b = np.asarray(x), np.asarray(y)
            if not close(a, b, 0.0 if exact else allowed(near, a, arrays, example.text)):
                return f"result{place}: {x!r} became {y!r}"
    return ""


def parts(x: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    return [x.real, x.imag] if x.dtype.kind == "c" else [x]


def allowed(near: Near, result: np.ndarray[Any, Any], arrays: Sequence[Any], text: str) -> float:
    """The largest difference: negative for so many units in the last place."""
    if result.dtype.kind not in "fc":
        return 0.0
    if near == "loops":
        return -4.0
    kinds = [x.dtype for x in (result, *arrays) if x.dtype.kind in "fc"]
    eps = max(float(np.finfo(k).eps) for k in kinds)
    eps = max([eps, *(float(np.finfo(k).eps) for k in ("float16", "float32") if k in text)])
    sizes = [float(np.abs(p[np.isfinite(p)]).max(initial=1.0)) for x in (result, *arrays) for p in parts(np.asarray(x))]
    terms = max([1, *(x.size for x in arrays)])
    return float(eps * terms * max(sizes) ** 2 * (64 if near == "solves" else 4))


def close(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], limit: float) -> bool:
    """Equal bit by bit (NaNs are one value, the zeros are two), or near."""
    if x.dtype.kind not in "fc":
        return bool(np.array_equal(x, y))
    if x.dtype.kind == "c" and limit > 0:  # which part of a lost number is NaN depends on the order of adding
        lost = ~np.isfinite(x) & ~np.isfinite(y)
        x, y = np.where(lost, 0, x), np.where(lost, 0, y)
    with np.errstate(all="ignore"):
        for a, b in zip(parts(x), parts(y)):
            same = ((a == b) & ((np.signbit(a) == np.signbit(b)) | (limit > 0))) | (np.isnan(a) & np.isnan(b))
            gap = np.abs(a.astype(np.float64) - b)
            most = -limit * np.spacing(np.maximum(np.abs(a), np.abs(b))) if limit < 0 else limit
            near = np.isfinite(a) & np.isfinite(b) & (gap <= most) & ((gap > 0) | (limit > 0))
            if not bool(np.all(same | near)):
                return False
    return True


# -- many calls


@dataclass
class Tally:
    """What became of the calls of one function, and the shortest failing one for each kind of difference."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, example: Call, verdict: Verdict) -> None:
        self.counts[verdict.kind] += 1
        if verdict.kind == "refused":
            self.refusals[verdict.what] += 1
        elif verdict.kind == "failed":
            key = kind_of(verdict.what)
            text = f"{verdict.what}\n{example}"
            if len(text) < len(self.failures.get(key, text + " ")):
                self.failures[key] = text


def kind_of(what: str) -> str:
    """Failures of one kind are taken for one bug: by the errors in the text, or by what differs."""
    errors = re.findall(r"(?:raises )?\w*(?:Error|Exception)\b(?:: [a-z_ ]*)?", what.partition("\n")[0])
    return " ".join(errors) if errors else re.sub(r"[^a-z ]", "", what.removeprefix("round "))[:12]


def run(name: str, seed: int, seconds: float, most: int = 10**9) -> Tally:
    """Calls of one function until the time is up, in this process; compiled functions are kept by their text."""
    tally, rng, compiled = Tally(), random.Random(f"{name} {seed}"), dict[str, BufferizedFunction]()
    end = time.monotonic() + seconds
    while time.monotonic() < end and tally.counts.total() < most:
        if tally.counts["refused"] == tally.counts.total() == GIVEN_UP:
            break
        example = drawn(name, picker(rng))
        if example.text not in compiled:
            made = bufferize(function_of(example.text))
            assert isinstance(made, BufferizedFunction)
            compiled[example.text] = made
        _current(f"{example}")
        tally.add(example, judge(example, compiled[example.text]))
    return tally


_NOTE: int | None = None


def _current(text: str) -> None:
    """Notes the call under way where the parent process can read it."""
    if _NOTE is not None:
        os.pwrite(_NOTE, text.encode().ljust(4000)[:4000], 0)


def apart(name: str, seed: int, seconds: float, most: int) -> Tally:
    """`run` in a process of its own, which may crash."""
    import tempfile

    with tempfile.TemporaryFile() as note, tempfile.TemporaryFile() as answer:
        child = os.fork()
        if not child:
            global _NOTE
            _NOTE = note.fileno()
            try:
                found = run(name, seed, seconds, most)
                text = json.dumps([dict(found.counts), dict(found.refusals), found.failures])
            except BaseException as error:
                text = json.dumps([{"failed": 1}, {}, {"harness": f"{type(error).__name__}: {error}"}])
            os.write(answer.fileno(), text.encode())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            note.seek(0)
            return Tally(Counter(failed=1), Counter(), {"crash": f"crash, {status}\n{note.read().decode().strip()}"})
        answer.seek(0)
        counts, refusals, failures = json.loads(answer.read())
        return Tally(Counter(counts), Counter(refusals), failures)


def known_names() -> list[str]:
    """The names of the table that the tracer knows, or may know."""
    return [n for n in names.public() if not callable(names.object_of(n)) or names.handler(n) is not None]


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tracebuf.testing.functions", description=(__doc__ or "")[:120])
    parser.add_argument("--seconds", type=float, default=600.0, help="how long to run in all (600)")
    parser.add_argument("--seed", type=int, default=0, help="which calls (0)")
    parser.add_argument("--only", default="", help="names, with commas; a name that ends in . or * is a beginning")
    parser.add_argument("--examples", type=int, default=10**9, help="most calls of a function")
    options = parser.parse_args(argv)
    wanted = [w.rstrip("*") for w in options.only.split(",")]
    chosen = [n for n in known_names() if n in wanted or any(n.startswith(w) for w in wanted if w[-1:] in ("", "."))]
    if "*" in options.only:
        chosen = [n for n in known_names() if any(n.startswith(w) for w in wanted)]
    failed, total, start = 0, Counter[str](), time.monotonic()
    for i, name in enumerate(chosen):
        left = options.seconds - (time.monotonic() - start)
        tally = apart(name, options.seed, max(0.2, left / (len(chosen) - i)), options.examples)
        total += tally.counts
        failed += bool(tally.counts["failed"])
        print(f"{name:28} " + ", ".join(f"{tally.counts[k]} {k}" for k in ("ok", "raised", "refused", "failed")))
        for reason, count in tally.refusals.most_common(3):
            print(f"    refused {count} times: {reason}")
        for text in tally.failures.values():
            print("    FAILED " + text.replace("\n", "\n    "), flush=True)
    kinds = ", ".join(f"{total[k]:,} {k}" for k in ("ok", "raised", "refused", "failed"))
    print(f"{len(chosen)} functions, {sum(total.values()):,} calls: {kinds}; {failed} functions failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
