"""Texts that a loop adds to: carried as their number among what is kept."""

from __future__ import annotations

import numpy as np

import tracebuf
from tests.support.agreement import agree, refused

X = np.random.default_rng(7).normal(size=40)


def binary(n):
    bits = ""
    while n > 0:
        bits = str(n % 2) + bits
        n //= 2
    return bits


def hexadecimal(n):
    digits = "0123456789ABCDEF"
    out = ""
    while n:
        n, r = divmod(n, 16)
        out = digits[r] + out
    return out, digits[n - 1]


def digit(n):
    return "0123"[n]


def drawn(grid):
    rows = []
    for i in range(len(grid)):
        row = ""
        for j in range(grid.shape[1]):
            row += "#" if grid[i, j] else "."
        rows.append(row)
    return "\n".join(rows), rows


def shifted(codes, k):
    out = ""
    for c in codes:
        if c >= 97:
            out += chr((c - 97 + k) % 26 + 97)
        else:
            out += " "
    print(out)
    return out, f"<{out}>", out + "!"


def report(x, n):
    text, before = "n\n", ""
    for k in range(n):
        before = text
        text += f"{k:3d} {x[k]:.2f}\n"
        if x[k] > 1.5:
            break
    else:
        text += "all"
    return text, before


def exchanged(n):
    a, b = "a", "b"
    for k in range(n):
        a, b = b, a + b if k < 8 else b
    return a, b


def fizz(n):
    out = []
    for k in range(1, n + 1):
        s = ""
        if k % 3 == 0:
            s += "Fizz"
        if k % 5 == 0:
            s += "Buzz"
        out.append(s or str(k))
    return out


def roman(n):
    values, letters = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1], "M CM D CD C XC L XL X IX V IV I".split()
    first = second = ""
    k, rest = 0, n
    while rest > 0:
        for _ in range(rest // values[k]):
            first += letters[k]
            rest -= values[k]
        k += 1
    for value, letter in zip(values, letters):
        while n >= value:
            second += letter
            n -= value
    return first, second


def on_paths(x):
    if x[0] > 0:
        s = chr(int(x[1]) + 60) + bin(int(x[2]))
    else:
        s = "none".upper() + f"{x[1]}".rjust(9)
    return s


def last_one(x):
    s = ""
    for k in range(len(x)):
        s = f"{k} {x[k]}"
    print(s)
    return s


def looked_at(n):
    s = ""
    for k in range(n):
        s += str(k)
        if s == "01":
            return k
    return -1


def test_texts_that_grow() -> None:
    for n in (77, 1, 0):
        agree(binary, n)
    agree(hexadecimal, 48879)
    agree(drawn, np.arange(400).reshape(20, 20) % 3 == 0)
    agree(shifted, np.array([97, 122, 32, 100]), 3)
    for x in (X, X * 0, abs(X) + 9):
        agree(report, x, 40)
    for n in (10, 1, 0):
        agree(exchanged, n)
    agree(fizz, 40)
    agree(last_one, X)
    agree(roman, 1994)


def test_letters_by_number() -> None:
    for n in (3, -4, 0):
        agree(digit, n)
    for n in (4, -5):
        assert isinstance(agree(digit, n), IndexError)


def test_texts_of_paths() -> None:
    for first in (1.0, -1.0):
        agree(on_paths, np.array([first, 5, 7]))


def test_what_is_looked_at_is_refused() -> None:
    assert "looked at" in refused(looked_at, 40).reason


def test_a_long_text_costs_memory_for_its_parts_only() -> None:
    """Each iteration kept the whole text of then."""

    @tracebuf.bufferize
    def long(n):
        s = ""
        for k in range(n):
            s += str(k % 10)
        return s

    assert long(20000) == "0123456789" * 2000
