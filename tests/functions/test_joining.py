"""Arrays joined, repeated and moved, against eager NumPy (rules C1, S3, S6)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.arrays import floats
from tests.support.forms import UNUSUAL, check_forms, expression
from tests.support.params import one_in, slow_but
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

FORMS = {
    "concatenate": """
np.concatenate((a, a), axis=None)|np.concatenate((a, i), dtype=np.float32)|np.concatenate((v, [1.0, 2.0]))
np.concatenate([[x], v, [y]])|np.concatenate(([x, y], [n]))|np.concatenate((v, w), out=np.empty(12))
np.concatenate((v, w), dtype=int)|np.concatenate((v, w), dtype=int, casting='unsafe')|np.concatenate(sq)
np.concatenate(a)|np.concatenate([v]*3)|np.concatenate(())|np.concatenate((iv, f[0]))|np.concatenate((u8, u8), 1)
""",
    "stack": """
np.stack(sq)|np.stack([v, w, iv], 1)|np.stack((v, w), dtype=np.float32)|np.stack((v, [1,2,3,4,5,6]))|np.stack([x, y])
np.stack((v, w), axis=2)|np.stack((a, b), axis=-2)|np.stack((v, w), out=np.empty((2, 6)))
""",
    "hstack and its kin": """
np.hstack((a, b))|np.hstack([x, v])|np.hstack((v, w), dtype=np.float32)|np.hstack([[1,2],[3]])|np.vstack((v, w, v))
np.vstack([x, y])|np.vstack((a, a), dtype=np.float32)|np.dstack((v, w))|np.dstack((a, b))|np.dstack((sq, sq))
np.dstack([x, y])|np.column_stack((v, w, iv))|np.column_stack([[1,2],[3,4]])|np.vstack(sq)|np.hstack(sq)
np.vstack([v, [1]*6])
""",
    "append": """
np.append(v, [1, 2])|np.append(v, x)|np.append(a, b, axis=1)|np.append(a, [[1,2,3,4,5]], axis=0)|np.append([1,2],[x])
""",
    "repeat": """
np.repeat(v, 2, axis=0)|np.repeat(a, 3, axis=-1)|np.repeat(x, 3)|np.repeat(3, 4)|np.repeat([1, 2], 2)
np.repeat(a, n, axis=1)|np.repeat(v, -1)|np.repeat(a, 1)|np.repeat(a,2,axis=2)|np.repeat(v, [2])
np.repeat(e, -one)|np.repeat(e, -1)|np.repeat(v, -one)|np.repeat(v[:0, None], -one, axis=0)
""",
    "tile": """
np.tile(v, (2, 1))|np.tile(v, (2, 3))|np.tile(a, 2)|np.tile(a, (2, 1))|np.tile(a, (2, 2))|np.tile(a, (2, 1, 1))
np.tile(v, (n, 1))|np.tile(x, 3)|np.tile(x, (2, 2))|np.tile([1, 2], 2)|np.tile(v, 1)|np.tile(a, ())
np.tile(a.T, (1, 2))|np.tile(v, (0, 2))|np.tile(e, 3)|np.tile(v, [2, 1])|np.tile(v, -1)|np.tile(sq, (1, 2, 1))
np.tile(v[:, None], (1, n))|np.tile(iv, n)
""",
    "roll": """
np.roll(a, (1, 2), axis=(0, 1))|np.roll(a, 1, axis=(0, 1))|np.roll(a, (1, -1), (1, 0))|np.roll(a, (1, 1), axis=0)
np.roll(v, n)|np.roll(v, -n)|np.roll(v, 100)|np.roll(a, n, 0)|np.roll(sq, (1, 1, 1), (0, 1, 2))|np.roll(v, 1, axis=1)
np.roll(a, -1, -1)|np.roll(a, (1,2))|np.roll(v, [1])|np.roll(o, 1)|np.roll([1,2,3], 1)
""",
    "block": """
np.block([v, w])|np.block([[a, b], [b, a]])|np.block([[a, np.zeros((4, 1))], [np.ones((1, 5)), np.eye(1)]])
np.block([x, v])|np.block([[1, 2], [3, 4]])|np.block(a)|np.block([[v], [w]])|np.block([[a, a[:, :2]]])
np.block([[a, v]])|np.block([a, b])|np.block([])
np.block([[np.eye(2), np.zeros((2,2))],[np.zeros((2,2)), np.eye(2)*x]])
""",
    "insert": """
np.insert(v, 0, x)|np.insert(v, 2, 1.5)|np.insert(v, -1, 1)|np.insert(v, len(v), 3)|np.insert(v, [1, 3], [x, y])
np.insert(a, 1, 0, axis=0)|np.insert(a, 1, v[:4], axis=1)|np.insert(a, 1, 5)|np.insert(v, 9, 1)|np.insert(iv, 1, 2.7)
np.insert(v, [1, 1], 2)|np.insert(v, 1, [x, y])|np.insert(a, 0, b, axis=0)|np.insert(v, [3, 1], [x, y])
""",
    "delete": """
np.delete(v, 0)|np.delete(v, -1)|np.delete(v, [1, 3])|np.delete(a, 1, axis=0)|np.delete(a, [0, 2], axis=1)
np.delete(v, slice(1, 3))|np.delete(v, slice(None, None, 2))|np.delete(a, 3)|np.delete(v, 9)|np.delete(v, n - 3)
np.delete(a, -1, 1)|np.delete(v, [])|np.delete(v, np.s_[::2])|np.delete(a.T, 1, 0)|np.delete(v,[1,1,-1])
np.delete(a, slice(1, 3), 1)|np.delete(a, slice(3, 1), 1)|np.delete(a, np.s_[:-2], 1)|np.delete(a, np.s_[::2], 1)
np.delete(a, np.s_[3:1:-1], 1)|np.delete(a, np.s_[4::-2], 1)|np.delete(a.T, np.s_[1:3], 1)|np.delete(a, np.s_[::-1], 0)
np.delete(a, slice(m, n), axis=1)|np.delete(a.T, np.s_[::2], axis=0)|np.delete(a[:, ::2], slice(1, 2), axis=1)
""",
    "resize": """
np.resize(v, 3)|np.resize(v, (2, 3))|np.resize(v, (4, 4))|np.resize(a, 30)|np.resize(v, (n, m))|np.resize(v, 0)
np.resize(e, 3)|np.resize([1, 2], 5)|np.resize(x, (2, 2))|np.resize(v, -1)
""",
    "moved": """
np.rollaxis(sq, 2)|np.rollaxis(sq, 2, 1)|np.squeeze(a[None])|np.squeeze(a[:, :1])|np.squeeze(a[None], axis=0)
a[None].squeeze()|a.squeeze(0)|np.ravel(a, 'F')|np.ravel(a.T, 'K')|a.ravel(order='A')|np.ravel([[1, 2], [3, 4]])
np.reshape([1,2,3,4], (2,2))|np.transpose([[1,2],[3,4]])|np.broadcast_to(v, (3, 6))|np.broadcast_to(x, (2, 2))
np.broadcast_to(v[:, None], (6, n))|np.broadcast_arrays(v, w[:, None])|np.broadcast_arrays(a, 1.0)
np.broadcast_arrays(v, w)|np.broadcast_arrays(a, v)|np.broadcast_to([1,2,3],(2,3))
""",
    "flips": """
np.flip(a)|np.flip(a, (0, 1))|np.flipud(a)|np.fliplr(a)|np.flip(v)|np.rot90(a)|np.rot90(a, 2)|np.rot90(a, -1)
np.rot90(sq, 1, (1, 2))|np.rot90(a, k=n)
""",
    "splits": """
np.split(v, 3)|np.split(v, [2, 4])|np.array_split(v, 4)|np.array_split(a, 2, axis=1)|np.hsplit(a, 5)|np.vsplit(a, 2)
np.array_split(v, np.array([2, 4]))|np.split(v, np.cumsum([1, 2]))
np.split(v, 4)|np.hsplit(a, [1, 3])|np.dsplit(sq, 5)|np.split(a, (1, 2), axis=1)|np.split(v, m)
""",
    "repeat as a method": """
v.repeat(2)|a.repeat(2, axis=0)|a.repeat(3)|np.repeat(v, n)|np.repeat(a, one, axis=0)
""",
    "pad": """
np.pad(v, 2, mode='edge')|np.pad(a, 1, mode='edge')|np.pad(a, ((1, 2), (0, 1)), mode='edge')
np.pad(v, 2, mode='reflect')|np.pad(a, 1, mode='reflect')|np.pad(v, (2, 3), 'symmetric')|np.pad(a, 2, 'symmetric')
np.pad(v, 3, 'wrap')|np.pad(a, (1, 2), 'wrap')|np.pad(v, 2, 'linear_ramp')|np.pad(v, 2, 'linear_ramp', end_values=5)
np.pad(v, (2, 3), 'linear_ramp', end_values=(5, -4))|np.pad(v, 2, 'maximum')|np.pad(v, 2, 'minimum')
np.pad(v, 2, 'mean')|np.pad(v, 2, 'mean', stat_length=2)|np.pad(a, 1, 'mean')|np.pad(a, 1, 'maximum', stat_length=2)
np.pad(v, 2, 'empty')[2:-2]|np.pad(iv, 2, 'linear_ramp')|np.pad(iv, 2, 'mean')|np.pad(iv, 2, 'wrap')
np.pad(a, 2, 'median')|np.pad(iv, (1, 2), 'median', stat_length=((1, 3),))|np.pad(v, 2, 'reflect', reflect_type='odd')
np.pad(a, ((1, 2), (0, 1)), 'symmetric', reflect_type='odd')|np.pad(iv, 2, 'symmetric', reflect_type='odd')
np.pad(a[:1, :1], 2, 'reflect', reflect_type='odd')|np.pad(a.T, 1, 'reflect', reflect_type='odd')
np.pad(v, 10, 'reflect')|np.pad(v, 10, 'wrap')|np.pad(v, 10, 'symmetric')|np.pad(o, 2, 'reflect')|np.pad(o, 2, 'wrap')
np.pad(e, 1, 'edge')|np.pad(e, 1)|np.pad(a, ((1, 1), (2, 2)), constant_values=((1, 2), (3, 4)))
np.pad(a, 1, constant_values=(1, 2))|np.pad(v, (1, 2), constant_values=(x, y))|np.pad(a, [(0, 0), (1, 1)])
np.pad(a, ((1,), (2,)))|np.pad(a.T, 1)|np.pad(a.T, 1, mode='edge')|np.pad(v, 1, mode='foo')|np.pad(v, (1, 2, 3))
np.pad(a, ((0, 0), (1, 1)), 'edge')|np.pad(sq, ((0,0),(1,1),(1,1)), 'reflect')|np.pad(iv, 1, constant_values=2.7)
np.pad(v, n, 'edge')|np.pad(v, m, 'reflect')|np.pad(v, 2, 'wrap')|np.pad(v, {0: (1, 2)})|np.pad(v, 0)
np.pad(v, (0, 1))|np.pad(bb, 1)|np.pad(v, 1.5)|np.pad(v, 2, mode='edge', constant_values=3)
""",
    "ends and masks": """
np.trim_zeros(sv)|np.trim_zeros(sv, "b")|np.trim_zeros(v)|np.trim_zeros(v*0)|np.trim_zeros(v*0, "f")|np.trim_zeros(e)
np.trim_zeros(sv, "q")|np.asarray_chkfinite(a)|np.asarray_chkfinite(N)|np.astype(a, int)|np.isfortran(a)
np.isfortran(a.T)|np.astype(a, np.float64, copy=False)|(np.putmask(a, a > 0, 5.0), a)[1]|(np.putmask(i, bb, 2.7), i)[1]
(np.putmask(a, bb, b), a)[1]
""",
    "joined": """
np.concatenate((v, w))|np.concatenate([v, w, iv])|np.concatenate((a, a))|np.concatenate((a, i), axis=1)
np.concatenate((a.T, a.T))|np.concatenate((a.T, T))|np.concatenate((a, v))|np.concatenate((a, a[:, :3]))
np.concatenate((a, a[:, :3]), axis=1)|np.concatenate((a, a[:, :3]), axis=-1)|np.concatenate((v, e))
np.concatenate((e2, a))|np.concatenate((v, ))|np.concatenate((v, w), axis=1)|np.concatenate((v, s))
np.concatenate((f, f))|np.concatenate((v[1:], v[:1]))
np.concatenate((sq.transpose(2, 0, 1), sq.transpose(2, 0, 1)), axis=2)
np.concatenate((sq.transpose(2, 0, 1)[:, :, ::-1], sq.transpose(2, 0, 1)), axis=1)|np.stack((v, w))
np.stack((v, w), axis=1)|np.stack((v, w), axis=-1)|np.stack((a, i), axis=1)|np.stack((a.T, a.T), axis=-1)
np.stack((v, a))|np.stack((v, v[:3]))|np.hstack((v, w))|np.hstack((a, a))|np.hstack((v, s))|np.vstack((v, w))
np.vstack((a, v[:5]))|np.vstack((a, v))|np.column_stack((v, w))|np.column_stack((a, a[:, 0]))|np.append(v, w)
np.append(v, 2.5)|np.append(iv, x)|np.append(a, a, axis=0)
""",
    "parts": """
np.diff(v)|np.diff(v, 2)|np.diff(a)|np.diff(a, axis=0)|np.diff(bb)|np.diff(e)|np.diff(v, 0)|np.diff(iv[:one])
np.roll(v, 1)|np.roll(v, -1)|np.roll(v, 2)|np.roll(v, 0)|np.roll(v, 8)|np.roll(v, -9)|np.roll(v, m)|np.roll(v, neg)
np.roll(a, 1, axis=0)|np.roll(a, -2, axis=1)|np.roll(a.T, 1, axis=0)|np.roll(e, 1)|np.repeat(v, 3)|np.repeat(v, m)
np.repeat(a, 2, axis=0)|np.repeat(a.T, 2, axis=1)|np.repeat(v, 0)|np.repeat(v, 1)|np.tile(v, 2)|np.tile(v, m)
np.tile(v, 0)|np.pad(v, 1)|np.pad(v, (1, 2))|np.pad(v, m, constant_values=x)|np.pad(a, 1)|np.pad(a, ((1, 2), (0, 3)))
np.pad(i, 1, constant_values=7)|np.pad(a, 1, mode='constant', constant_values=2)|np.pad(v, neg)|np.meshgrid(v, w)
np.meshgrid(v, iv, indexing='ij')|np.meshgrid(v, w, iv)|np.meshgrid(v, w)[0]*2
""",
    "arrays in arrays": """
np.roll(a, 1)|np.roll(a.T, -3)|np.repeat(a, 2)|np.repeat(a.T, 3)|np.append(a, a)|np.append(a, 1.5)
np.concatenate((a, v), axis=None)|np.concatenate((a.T, v), axis=None)|np.array([a, a])|np.array([a.T, a.T])
np.array([v, iv])|np.array([[v, w], [w, v]])|np.array([v, w[:3]])|np.array([v, x])|np.array([v.sum(), iv[0]])
np.diag(v)|np.diag(v, 1)|np.diag(iv, -2)|np.diag(a)|np.diag(e)|np.diag(v[:one])|min(v)|max(v)|min(iv)|max(f[0])|max(e)
max(bb[0])|min(np.array([np.nan, 1.0])+v[:2])|max(np.array([1.0, np.nan])*v[:2])|any(v>0)|all(v>-9)|any(v)|all(iv)
any(e)|all(e)|any([x>1, y>1])|all((x>0, y>9))
""",
}


@pytest.mark.parametrize("group", slow_but(["stack", "repeat"], FORMS))
def test_c1_forms(group: str) -> None:
    check_forms(FORMS[group])


@pytest.mark.slow
def test_a_roll_by_an_element() -> None:
    """A shift that is computed was refused."""

    def program(a, k):
        out = np.zeros_like(a)
        for i in range(len(k)):
            out += np.roll(np.roll(a, k[i], axis=1), k[-1], axis=0)
        return out, np.roll(a, k[0]), np.roll(a, (k[1], 1), axis=(0, 1))

    f, shifts = bufferize(program), np.array([1, -2, 0, 9, -11])
    for shape in ((4, 5), (1, 3), (0, 2), (7, 1)):
        agree(f, floats(*shape), shifts)
    climb(program, (floats(4, 5), shifts), again=[(floats(2, 3), shifts)])


@pytest.mark.parametrize(
    "text",
    [
        "np.concatenate((f, e))",  # an array without elements decides the order of axes: its strides are 0
        "np.concatenate((c, rep))",  # and so does a repeated axis
        "np.concatenate((c, c)), np.concatenate((c, a)), np.concatenate((a, c))",
        "np.concatenate((a, i), out=out), np.stack((v, h), dtype=np.float32), np.concatenate((a, i), dtype=int)",
        "np.concatenate((i, i), dtype=np.int8, casting='unsafe'), np.hstack((h, h), casting='safe')",
        "np.concatenate((a, a), dtype=int, casting='safe')",
        "np.concatenate((a, a), out=v)",
        "np.vstack((v, h), dtype=np.float32)",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["edge", "wrap", "symmetric", "reflect", "empty"])
def test_margins_that_continue_the_array(mode: str) -> None:
    """np.pad by rows of the array: margins narrower and wider than it, on all axes, of none, in one pass."""
    for width in ("1", "((2, 0), (1, 3))", "(2, 3)", "7", "0", "n", "((0, 0), (n, 1))"):
        read = "[2:-2]" if mode == "empty" else ""
        f = bufferize(program(f"def f(a, n):\n    return np.pad(a, {width}, mode='{mode}'){read}"))
        for shape in ((3, 4), (1, 5), (2, 1), (0, 3), (6, 7)):
            agree(f, np.arange(float(np.prod(shape))).reshape(shape), 2) if mode != "empty" else None
        assert width != "1" or "no copies" in str(f.explain(np.ones((9, 9)), 2))
    f = program(f"def f(a):\n    return np.pad(a.astype(np.int8), 2, '{mode}')")
    if mode != "empty":
        climb(f, (np.arange(12.0).reshape(3, 4),), again=[(np.arange(35.0).reshape(5, 7),)])


@pytest.mark.parametrize("shape", one_in(3, [(1, 2, 5), (2, 2, 5), (1, 1, 5), (2, 1, 3)]))
def test_an_empty_part_of_an_array_has_its_strides(shape: tuple[int, ...]) -> None:
    """The result was in C order, as if the empty part had strides of 0."""

    def parts(a):
        two = [a[q:] for q in range(2)]
        return np.concatenate(two), np.concatenate([a[q:] for q in range(3)]), np.concatenate((a[:0], a))

    for order in "CF":
        a = np.array(np.arange(float(np.prod(shape))).reshape(shape), order=order)
        agree(parts, a)


ORDERS = {
    "C": lambda: np.arange(36.0).reshape(4, 3, 3),
    "F": lambda: np.arange(36.0).reshape(3, 3, 4).T,
    "outer two turned": lambda: np.arange(36.0).reshape(3, 4, 3).transpose(1, 0, 2),
    "first innermost": lambda: np.arange(36.0).reshape(3, 4, 3).transpose(1, 2, 0),
}


@pytest.mark.parametrize("order", one_in(4, ORDERS))
def test_parts_of_no_row_and_of_one_decide_the_order(order: str) -> None:
    """Of one row alone, that was so only where the result was not in C order otherwise."""

    def by_size(a, k):
        return np.concatenate((a, a[:k].copy()))

    def by_count(a, m):
        b = a[m]
        if len(b) == 0:
            return np.concatenate((a, b))
        if len(b) == 1:
            return np.concatenate((a, b))
        return np.concatenate((a, b))

    a = ORDERS[order]()
    for k in range(4):
        agree(by_size, a, k)
        agree(by_count, a, np.arange(4) < k)


def test_the_order_of_what_a_mask_leaves_is_of_many_rows() -> None:
    """The ladder takes it as the one that rule C1 states, and no other."""

    def joined(a, m):
        return np.concatenate((a, a[m]))

    a = ORDERS["F"]()
    f = climb(joined, (a, a[:, 0, 0] < 0), again=[(a, a[:, 0, 0] < k) for k in (1, 9)], tolerance=0)
    assert f(a, a[:, 0, 0] < 0).strides == joined(a, a[:, 0, 0] >= 0)[:4].strides != joined(a, a[:, 0, 0] < 0).strides
    assert not f._traced((ORDERS["C"](), a[:, 0, 0] < 0), {})[1].order_is_open


FROM_ITERABLES = (
    "np.fromiter((v * 2 for v in a), float)", "np.fromiter(range(n), int)", "np.fromiter([n, 2.5], dtype='f4')",
    "np.fromiter(map(abs, a), dtype=float)", "np.fromiter((v > 0 for v in a), bool)", "np.fromiter((), float)",
    "np.fromiter([n, 1.5], int)",
)  # fmt: skip
RAISING = (
    "np.fromiter((n * 75 for v in a), np.uint8)", "np.fromiter((-k for k in range(3)), np.uint8)",
    "np.fromiter((v * np.nan for v in a), int)", "np.fromiter((k * 1j for k in range(3)), float)",
)  # fmt: skip
REFUSED = (
    "np.fromiter(a, float, count=2)", "np.fromiter((a[:2] for v in a), float)", "np.fromiter([a], float)",
    "np.fromiter(((v, v) for v in a), float)", "np.fromiter(np.stack([a, a]), float)",
)  # fmt: skip


@pytest.mark.parametrize("text", FROM_ITERABLES + RAISING)
def test_fromiter(text: str) -> None:
    """Of anything but generator functions it was refused. Each item is converted by itself, which may raise."""
    f = program(f"def f(a, n):\n    return {text}")
    agree(f, np.array([1.5, -2, 3]), 4)
    agree(f, np.array([1.5, -2, 3]), 2**53 + 1 if "75" not in text and "range(n)" not in text else 5)


@pytest.mark.parametrize("text", REFUSED)
def test_fromiter_refused(text: str) -> None:
    refused(program(f"def f(a, n):\n    return {text}"), np.array([1.5, -2, 3]), 4)


def test_axes_of_a_roll_are_looked_at_before_its_shifts() -> None:
    climb(program("def f(a): return np.roll(a, [], 2)"), (np.ones((2, 3)),))
    climb(program("def f(a): return np.roll(a, 1, ())"), (np.ones((2, 3)),))
    refused(program("def f(a, b): return np.roll(a, b, ())"), np.ones((2, 3)), np.arange(3))
