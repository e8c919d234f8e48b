"""Texts that a loop adds to: carried as their number among what is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, refused
from tests.support.arrays import floats
from tracebuf.testing.ladder import climb

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


def digits_of(n):
    s = str(n)
    total = sum(int(d) for d in s), sum(int(d) ** len(s) for d in s) == n, [int(d) for d in s], list(s)
    return total, s[::-1] == s, s < "2", s != "12321", s[:2] + "-" + s[-1:], ord(s[0]), float(s + ".5")


def is_palindrome(n):
    s = str(n)
    i, j = 0, len(s) - 1
    while i < j:
        if s[i] != s[j]:
            return False
        i += 1
        j -= 1
    return True


def asked(n):
    bits = ""
    while n > 0:
        bits = str(n % 2) + bits
        n //= 2
    counts = bits.count("1"), bits.find("0"), bits.startswith("1"), bits.isdigit(), "11" in bits
    return bits or "0", int(bits or "0", 2), counts, "yes" if bits else "no", not bits


def of_letters(codes):
    count = 0
    for c in codes:
        letter = chr(c)
        if letter in "aeiou":
            count += 1
        elif letter in ("x", "y"):
            count += 10
        elif letter.isalpha():
            count += 100
    return count


def runs_of(x):
    s, out, i = "".join("ab"[v] for v in x), "", 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        out += str(j - i) + s[i]
        i = j
    return out


def sixth(n):
    return str(n)[5]


def no_int(n):
    return int("x" + str(n))


def parted(n):
    return str(n).split("1")


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_is_asked_of_texts() -> None:
    for n in (12321, 5, 153, 20):
        agree(digits_of, n)
        agree(is_palindrome, n)
        agree(asked, n)
    agree(asked, 0)
    agree(of_letters, np.array([97, 98, 101, 120, 48]))
    agree(runs_of, np.arange(90) // 7 % 2)
    agree(sixth, 123456)
    assert isinstance(agree(sixth, 12345), IndexError)
    assert isinstance(agree(no_int, 3), ValueError)
    refused(parted, 2131)


@pytest.mark.slow
def test_a_long_text_costs_memory_for_its_parts_only() -> None:
    """Each iteration kept the whole text of then."""

    @tracebuf.bufferize
    def long(n):
        s = ""
        for k in range(n):
            s += str(k % 10)
        return s

    assert long(20000) == "0123456789" * 2000


class Polynomial:
    def __init__(self, c: Any) -> None:
        self.c = c

    def __str__(self) -> str:
        s = ""
        for i in range(len(self.c)):
            if self.c[i] != 0:
                s += " + %g*x^%d" % (self.c[i], i)  # noqa: UP031
        if s[0:3] == " + ":
            s = s[3:]
        return s


def test_the_text_of_an_object_that_its_class_makes_on_several_paths() -> None:
    """It raised TypeError, as if `__str__` had returned no text."""
    agree(lambda a: (str(Polynomial(a)), f"{Polynomial([a[0], a[1], 2.0])}"), np.array([1.0, -2.0, 0.0, 3.0]))


def test_texts_that_a_loop_binds() -> None:
    def f(v):
        u = "lo"
        for _ in v:
            u = "hi"
        if u:
            return len(u)
        return 0

    climb(f, (floats(7),), again=[(floats(0),)])
