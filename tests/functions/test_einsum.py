"""np.einsum and np.tensordot (rules C1, C2, N5, S2, S6)."""

from __future__ import annotations

import random as random_numbers
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.forms import expression, split
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(5)


def random(*shape: int) -> np.ndarray:
    return RNG.uniform(0.5, 1, shape)


VALUES: dict[str, Any] = {
    "a": random(4, 5), "b": random(5, 6), "c": random(4, 5), "s": random(4, 4), "v": random(5), "w": random(4),
    "t": random(3, 4, 5), "u": random(3, 5, 6), "i": RNG.integers(-3, 4, (4, 5)), "m": RNG.random((4, 5)) > 0.5,
    "f": random(4, 5).astype(np.float32), "one": random(1, 5), "cube": random(4, 4, 4), "x": random(17, 8, 9),
    "y": random(9, 8, 20), "z": random(17, 8, 9) * (1 + 0.5j),
    "o": np.zeros((4, 6)), "none": np.zeros((0, 5)), "i8": np.full(3, 100, np.int8),
    "wide": np.zeros((), np.int64), "strided": random(8, 10)[::2, ::-2], "fortran": random(5, 4).T,
}  # fmt: skip
FORMS = """
'ij,jk->ik', a, b|'ij,jk', a, b|'ij,jk->ki', a, b|'ij,j', a, v|'i,ij->j', w, a|'ij,jk->ik', i, i.T|'ij,jk', m, m.T
'ij,jk->ik', f, f.T|'ij,jk->ik', a, f.T|'ij,jl', i, f.T|'ij,kj->ik', strided, fortran|'ij,jk', none, b
'ij,ik', none, none|'ii', s|'iij->j', cube|'iii', cube|'ij->j', a|'ij->', a|'ijk->k', t|'i->', m[0]|'ij->i', fortran
'ij->i', none|'ij,ij->i', a, c|'ij,ij->', a, c|'ij,ij->ij', a, fortran|'i,j->ij', v, w|'i,j->ji', v, w
'bij,bij->b', t, t|'i,i', v, v|'bij,bjk->bik', t, u|'bij,bjk->ibk', t, u|'...j,j->...', t, v|'...j,...j->...', t, a
'...,...', t, 2|'ij...->j...', t|'ijk,kjl->il', x, y|'ijk,kjl->li', x, y|'ijk,kjl->il', z, z.T|'ijk,kjl->il', z, y
'ijk,klm->ijlm', x, y.transpose(0, 2, 1)|'ijk,kl->ilj', x, y[:, :, 1]|'ij,jk,kl->il', a, b, b.T|'ij,j,j->i', a, v, v
'ij,kl->', a, b|'ij,jk->i', a, b|'i,', v, 2|',', 2.0, v[0]|'ij,jk,kl->il', a, b, b.T, optimize=True
'ij,jk->ki', a, b, optimize=True|'i,i', v, v, optimize=True|'ij->i', a, optimize=True
'ijk,kjl->il', x, y, optimize='greedy'|'ij,jk->i', a, b, optimize=True|'ij,i,j', a, w, v, optimize='optimal'
'i,j,k->kji', v, w, v, optimize=True|'ij,jk', i, i.T, optimize=True
'ij,jk,kl->il', a, b, b.T, optimize=['einsum_path', (1, 2), (0, 1)]|'ij,j->i', one, v|'ij,ij->ij', one, a
'i,i->', v, one[0, :1]|'ij,jk->ik', a, one.T|a, [0, 1], b, [1, 2]|a, [0, 1], b, [1, 2], [2, 0]
t, [Ellipsis, 0], [Ellipsis]|[1, 2], [0], [3.0, 4], [0], []|'ij,jk->ik', a, b, out=o|'i,i', i8, i8
'i,i', i8, i8, out=wide|'i,i', i8, i8, dtype=np.int32|'i,', i8, 1000|'ij,jk', a, b, order='F'
'bij,jk->ibk', t, b, order='C'|'ij->ji', a, order='F'|'ij,jk->i', m, b, optimize=True
'...j,...j->...', t, a, optimize=True|'ij,j,k', i, v, f[0], optimize=True|'i->ii', v|'ij,jk', a, a|'i', a|'ii->i', a
'i->j', v|'i..', v|'i,i', v|'ij,jk->ik', a, b, out=o.T|'i', v, dtype=np.int8|'i,', i8, 2.0, out=wide|'...i->i', a
'ij,jk->ik', a, b, out=o.astype(np.float32)
"""


TEXTS = split(FORMS)


@pytest.mark.parametrize("text", slow_but(TEXTS[::18], TEXTS))
def test_c1_einsum(text: str) -> None:
    """Rules C1, N5, S6: value, dtype, order of strides, class of the exception."""
    expression(f"np.einsum({text})", VALUES, ulp=300)


def test_s5_one_operand_of_which_nothing_is_summed_is_a_view() -> None:
    """Rules S3, S5: it shares memory, and is stored through; the diagonal too."""

    def program(a, t):
        turned = np.einsum("ij->ji", a)
        turned[0] = 7
        every = np.einsum("...", a)
        return turned, every, np.einsum("kij->jki", t), np.einsum("iij->ji", t)

    agree(program, random(3, 4), random(3, 3, 2))


@pytest.mark.slow
def test_s5_stores_through_a_diagonal() -> None:
    """Rules S3, S5: as NumPy documents it, np.einsum("ii->i", a)[:] = x."""

    def program(a, t):
        np.einsum("ii->i", a)[:] = 1
        diagonal = np.einsum("ii->i", a[1:, 1:])
        diagonal += diagonal[::-1]
        diagonal[0] = 5
        np.einsum("iji->ij", t)[...] *= 2
        return diagonal

    agree(program, random(4, 4), random(3, 2, 3))


@pytest.mark.slow
def test_c4_nothing_but_the_result_is_allocated() -> None:
    """Rule C4: products over several axes copy nothing."""
    x, y, t = VALUES["x"], VALUES["y"], VALUES["t"]
    for text, args in (
        ("ijk,kjl->il", (x, y)), ("ijk,jil->kl", (x, y.T.copy()[:, :8, :].transpose(1, 0, 2)[:8, :17].copy())),
        ("bij,bjk->bik", (t, VALUES["u"])), ("ij,ij->i", (VALUES["a"], VALUES["c"])), ("ij,jk,k->i", (VALUES["a"],
        VALUES["b"], random(6))),
    ):  # fmt: skip
        names = "pqr"[: len(args)]
        given = ", ".join(names)
        climb(program(f"def f({given}):\n    return np.einsum('{text}', {given})"), args, tolerance=1e-13)


def test_sizes_are_symbolic() -> None:
    """Rule Z1: other sizes run the same code, and sizes that do not fit raise."""
    f = bufferize(program("def f(a, b):\n    return np.einsum('bij,bkj->bik', a, b)"))
    for n in (3, 17):
        agree(f, random(n, 30, 40), random(n, 20, 40), ulp=300)
    agree(f, random(2, 3, 4), random(2, 3, 5))
    assert len(f.specializations()) <= 2


TENSORDOT = """
x, y, axes=([1, 2], [1, 0])|x, y, ([2, 1], (0, 1))|x, y, axes=(2, 0)|a, b, 1|a, b, axes=0|a, c|a, c, axes=2
a, fortran, 1|t, a, axes=([1, 2], [0, 1])|i, i.T, 1|m, m.T, axes=1|f, f, axes=([0], [0])|a, i, axes=([1], [1])
v, v, axes=1|v, 2, 0|none, b, 1|t, t, axes=3|x, x, axes=([0, 2], [0, 2])|strided, strided, ([0], [0])
a, b, axes=(-1, -2)|a, b, axes=([-1], [0])|a, a, 1|a, b, axes=([0, 1], [0])|a, b, axes=3|a, b, axes=([5], [0])
a, c, axes=([0, 0], [0, 0])
"""


PAIRS = split(TENSORDOT)


@pytest.mark.parametrize("text", slow_but(PAIRS[::13], PAIRS))
def test_c1_tensordot(text: str) -> None:
    expression(f"np.tensordot({text})", VALUES, ulp=300)


def test_what_is_refused() -> None:
    """Subscripts, and sizes that may be 1, that only the run time knows."""

    def repeated(a, b, n):
        total = 0.0
        for k in range(1, n):
            total += np.einsum("i,i", a[:k], b[: n - k])
        return total

    refused(repeated, random(5), random(5), 5)
    refused(program("def f(a):\n    return np.einsum('ij,jk', a, a, order='A')"), random(2, 2))


def drawn(rng: random_numbers.Random, dtypes: str) -> tuple[str, list[np.ndarray]]:
    """Subscripts and operands at random: dtypes, layouts, sizes of 1."""
    sizes = {x: rng.choice([1, 2, 3, 4, 7, 13]) for x in "ijklm"}
    terms = ["".join(rng.choices("ijklm", k=rng.randint(0, 4))) for _ in range(rng.choice([1, 2, 2, 3]))]
    every = sorted(set("".join(terms)))
    out = "->" + "".join(rng.sample(every, rng.randint(0, len(every))))
    text = ",".join(terms) + (out if rng.random() < 0.8 else "")
    arrays = []
    for term in terms:
        a = RNG.uniform(1, 5, [sizes[x] for x in term]).astype(rng.choice(dtypes))
        layouts = [a, np.asfortranarray(a), a[::-1], np.stack([a, a], -1)[..., 0]] if term else [np.asarray(a)]
        arrays.append(rng.choice(layouts))
    return text, arrays


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_subscripts_at_random(seed: int) -> None:
    rng = random_numbers.Random(seed)
    for _ in range(20):
        option = rng.choice(["", ", optimize=True"])
        text, arrays = drawn(rng, "ddDi?" if option else "ddfDi?")  # a path rounds to single in between
        names = ", ".join("abc"[: len(arrays)])
        agree(program(f"def f({names}):\n    return np.einsum('{text}', {names}{option})"), *arrays, ulp=500)
