"""Lists of run-time length whose items are texts, and texts that are joined of so many parts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, refused

X = np.random.default_rng(6).normal(size=40)


def shifted(codes, shift):
    return "".join(chr((c - 97 + shift) % 26 + 97) for c in codes)


def run_lengths(mask):
    runs, before = [], 0
    for k in range(len(mask)):
        if mask[k] != before:
            runs.append(k)
            before = mask[k]
    return " ".join(str(x) for x in runs)


def lines(x, n):
    out = []
    for k in range(n):
        out.append(f"{k}: {x[k]:.3f}")
        if x[k] > 0:
            out.append("positive")
        elif x[k] < -1:
            out.append("{} %s".format("low" if k > 20 else "early") % x[k])
    for line in out[:3]:
        print(line)
    return "\n".join(out), out, len(out), out[-1], out[::-1], out.pop()


def drawn(grid):
    rows = []
    for row in grid:
        rows.append("".join("#" if c else "." for c in row))
    return rows, "\n".join(rows)


def numerals(n):
    return bin(n), hex(n), oct(n), chr(n)


def in_tuples(x, n):
    names = ["low", "high", "middle"]
    out = []
    for k in range(n):
        out.append((k, "up" if x[k] > 0 else "down", names[k % 3]))
    return out, names[n % 3], [name for _, _, name in out]


def of_elements(x):
    return ", ".join(map(str, x)), " ".join([f"{v:.1f}" for v in x]), "-".join(repr(v) for v in x)


def on_paths(x, n):
    if x[0] > 0:
        out = []
        for k in range(n):
            out.append(f"{k}")
        return out
    return None


def found(x, n):
    out = []
    for k in range(n):
        out.append(f"{k}")
    return "3" in out


def in_order(x, n):
    out = []
    for k in range(n):
        out.append(f"{k}")
    return sorted(out)


def with_arrays(x, n):
    out = []
    for k in range(n):
        out.append(f"{x * k}")
    return out


@pytest.mark.slow
def test_texts_in_lists() -> None:
    for n in (40, 3, 0):
        agree(lines, X, max(n, 1))
        agree(in_tuples, X, n)
        agree(on_paths, X, n)
    agree(on_paths, -X, 30)
    agree(drawn, np.arange(400).reshape(20, 20) % 3 == 0)


@pytest.mark.slow
def test_joined_texts() -> None:
    for n in (26, 3, 0):
        agree(shifted, np.arange(97, 97 + n), 5)
    for x in (X, X[:2], X[:0], np.arange(40), X.astype(np.float32)):
        agree(of_elements, x)
    agree(run_lengths, np.arange(90) // 7 % 2)


def shown(n):
    primes, pairs = [], []
    for k in range(2, n):
        if all(k % p for p in primes):
            primes.append(k)
            pairs.append((k, k / 2))
    print("primes:", primes, f"{pairs}!")
    return str(primes), "%s" % pairs, repr(primes[:2])  # noqa: UP031


@pytest.mark.slow
def test_lists_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for n in (12, 2):
        agree(shown, n)
        eager, ours = capsys.readouterr().out.splitlines()
        assert eager == ours


def test_texts_of_ints() -> None:
    for n in (77, 0, 0x10FFFF):
        agree(numerals, n)
    for n in (-1, 0x110000):
        assert isinstance(agree(numerals, n), ValueError)


def test_what_is_refused() -> None:
    agree(found, X, 30)
    refused(in_order, X, 30)
    refused(with_arrays, X, 40)


def test_a_list_without_items_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a known length of 0, it was an internal error."""

    def part_of(a, part):
        found = a[part].tolist()
        print(found)
        return f"{found}"

    for part in (slice(1, 1), slice(0, 2)):
        agree(part_of, np.arange(3, dtype=np.int8), part)
        eager, ours = capsys.readouterr().out.splitlines()
        assert eager == ours
