"""Records: dicts that are appended to lists whose length only the run time knows. They are one object wherever they
are, as lists that are items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf.errors import UnsupportedError
from tracebuf.testing.ladder import climb

X = np.random.default_rng(0).random(7)
A = np.random.default_rng(1).random((6, 3))


def kept(x):
    rows = []
    for k, v in enumerate(x):
        if v > 0.3:
            rows.append({"k": k, "v": v, "c": (k / 2, v)})
    return rows, len(rows)


def asked(x):
    rows = [{"k": -1, "v": np.float64(0.0)}]
    for k, v in enumerate(x):
        if v > 0.1:
            rows.append({"k": k, "v": v})
    best = max(rows, key=lambda r: r["v"])
    ordered = sorted(rows, key=lambda r: -r["v"])
    best["v"] = 7.5
    for r in rows:
        r["k"] += 1
    return [r["v"] for r in rows], best["k"], ordered, rows, best, rows[0]["k"], ordered[-1]


def one_object(x):
    rows = []
    for v in x:
        d = {"v": v, "n": 0}
        rows.append(d)
        d["n"] += 2
    others = [r for r in rows if r["v"] > 0.2]
    others[0]["n"] = 9
    rows[1].update(n=4)
    first = rows[0]
    found = rows[0].get("q", 3), rows[0].get("n"), list(rows[1].keys()), "v" in first, len(first), "q" in first
    return rows, others, first, found, first is rows[0], rows[1] is first, first is None, {**first}, dict(first, z=1)


def log_of(x, eps):
    log = []
    for i in range(60):
        step = (x * x - 2) / (2 * x)
        log.append({"iter": i, "x": x, "step": step})
        x -= step
        if abs(step) < eps:
            break
    return x, log, log[-1]["x"], [r["step"] for r in log]


def arrays_and_texts(a):
    rows = []
    for row in a:
        if row[0] > 0.1:
            rows.append({"mean": row.mean(), "row": row.copy(), "name": "big" if row[1] > 0.5 else "small", "w": None})
    for r in rows:
        r["w"] = r["row"].sum()
    return rows


def within(x):
    rows = []
    for v in x:
        if v > 0.1:
            rows.append({"v": v, "p": {"a": 1, "b": v}, "l": [v, 2.0]})
    rows[0]["p"]["a"] = 5
    rows[1]["l"].append(3.0)
    p = rows[1]["p"]
    p["b"] = np.float64(4.0)
    return rows, p, rows[0]["p"]


def worked_off(x):
    stack, out = [{"lo": 0, "hi": len(x)}], []
    while stack:
        job = stack.pop()
        if job["hi"] - job["lo"] > 1:
            middle = (job["lo"] + job["hi"]) // 2
            stack.append({"lo": job["lo"], "hi": middle})
            stack.append({"lo": middle, "hi": job["hi"]})
        else:
            out.append(x[job["lo"]])
    return out


def by_callee(x):
    def add(rows, v):
        rows.append({"v": v, "n": len(rows)})
        return rows[-1]

    rows = []
    for v in x:
        if v < 0.9:
            last = add(rows, v)
            if v > 0.5:
                last["n"] = -1
    return rows


def an_int_then_floats(x):
    rows = [{"v": 0}]
    for v in x:
        if v > 0.2:
            rows.append({"v": float(v)})
    rows[-1]["v"] = rows[0]["v"]
    return rows


PROGRAMS = [(kept, X), (asked, X), (one_object, X), (log_of, 1.0, 1e-9), (arrays_and_texts, A), (within, X),
            (worked_off, X), (by_callee, X), (an_int_then_floats, X)]  # fmt: skip


@pytest.mark.parametrize("case", one_in(9, PROGRAMS), ids=lambda p: p[0].__name__)
@pytest.mark.slow
def test_programs(case: Any) -> None:
    f, x, *more = case
    climb(f, (x, *more), again=[] if f in (log_of, one_object, within) else [(x[:4], *more), (x[:1], *more)])


def test_identity() -> None:
    rows, others, first, *_ = tracebuf.bufferize(one_object)(X)
    assert first is rows[0] and any(others[0] is r for r in rows)
    agree(kept, X[:0])
    agree(worked_off, X[:0])


def shown(x):
    rows = []
    for v in x:
        if v > 0.1:
            rows.append({"v": float(v), "k": 1})
    print(rows[0])
    print(f"{rows[0]} and {rows[1]['v']:.3f}")
    for r in rows:
        print("{:.2f} {}".format(*r.values()), *r.items())


def test_texts(capsys: pytest.CaptureFixture[str]) -> None:
    shown(X)
    want = capsys.readouterr().out
    tracebuf.bufferize(shown)(X)
    assert capsys.readouterr().out == want


def no_such_key(x):
    rows = []
    for v in x:
        rows.append({"v": v})
    return rows[int(x[0])]["w"]


def no_item(x):
    rows = []
    for v in x:
        if v > 2:
            rows.append({"v": v})
    return rows[0]["v"]


def test_errors() -> None:
    agree(no_such_key, X)
    agree(no_item, X)


REFUSED = {
    "made outside of a loop": "d = {'v': 0.0}\nfor v in x:\n    d['v'] = v\n    if v > 0:\n        rows.append(d)",
    "a list of a dict of .'a'": "for v in x:\n    if v > 0:\n        rows.append({'a': v})\nrows.append({'b': x[0]})",
    "gets another key": "for v in x:\n    if v > 0:\n        rows.append({'a': v})\nrows[-1]['b'] = 1",
    "is deleted": "for v in x:\n    if v > 0:\n        rows.append({'a': v})\ndel rows[-1]['a']",
    "a key that only the run time": "for v in x:\n    if v > 0:\n        rows.append({'a': v})\nrows[0][x[0]]",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refused(reason: str) -> None:
    f = program("def f(x):\n    rows = []\n    " + REFUSED[reason].replace("\n", "\n    ") + "\n    return rows")
    with pytest.raises(UnsupportedError, match=reason):
        tracebuf.bufferize(f)(X)
