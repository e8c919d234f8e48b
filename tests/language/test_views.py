"""Views: reshape and its kin, axes moved, added and dropped, repeats, splits, diagonals (rules S5, S6, S7, B1, B2)."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import tracebuf
from tests.mlir.oracle import UNREGISTERED, mlir_opt, needs_mlir
from tests.support.agreement import agree, outcome, program, refused
from tests.support.arrays import floats
from tests.support.forms import UNUSUAL, check_forms, expression
from tests.support.params import one_in, slow_but
from tracebuf import UnsupportedError, bufferize
from tracebuf.measure import clone_arguments
from tracebuf.testing.ladder import climb

LAYOUTS = {
    "C": floats(4, 6),
    "F": np.asfortranarray(floats(4, 6)),
    "rows": floats(8, 6)[::2],
    "columns": floats(4, 12)[:, ::2],
    "part": floats(6, 9)[1:5, 2:8],
    "upwards": floats(4, 6)[::-1],
    "backwards": floats(4, 6)[:, ::-1],
    "around": floats(4, 6)[::-1, ::-1],
    "turned part": floats(6, 9)[:, 1:5].T,
    "repeated": np.broadcast_to(np.arange(6.0), (4, 6)),
    "one row": floats(1, 6),
    "one column": floats(3, 5)[:, 1:2],
    "nothing": floats(4, 0),
    "no rows": floats(4, 6)[:0],
    "padded by one": floats(4, 6)[:, :5],
}


@pytest.fixture(params=slow_but(("turned part",), LAYOUTS))
def a(request: pytest.FixtureRequest) -> np.ndarray:
    """An array in each of the layouts."""
    return LAYOUTS[request.param]


RESHAPES = [
    "a.reshape(-1)",
    "np.reshape(a, (2, -1))",
    "a.reshape(a.shape)",
    "a.reshape((1, *a.shape, 1))",
    "a.reshape(a.shape[1], a.shape[0])",
    "a[1:].reshape(-1)",
    "a[:, 1:].reshape(-1)",
    "a[:, ::3].reshape(-1)",
    "a[:, 0:1].reshape(-1)",
    "a[0].reshape(-1, 1)",
    "a.T.reshape(-1)",
    "(a + 1).reshape(-1)",
    "(a.T + 1).reshape(-1)",
    "(a.T + 1).T.reshape(-1)",
    "a[None].reshape(-1)",
    "a[::-1, ::-1].reshape(-1)",
    "a.reshape(2, -1)[1:].reshape(-1)",
    "a.reshape(-1).reshape(a.shape)",
    "a.reshape(-1)[1:-1].reshape(2, -1)",
]


@pytest.mark.slow
def test_s5_reshape(a: np.ndarray) -> None:
    """A view exactly where NumPy's is one; a store through it reaches the array then."""
    check_forms(RESHAPES, values={"a": a})
    stored = {view: program(f"def f(a):\n b = {view}\n c = {view}\n b += 1\n return b, c, a") for view in RESHAPES}
    fine = [v for v, f in stored.items() if outcome(f, clone_arguments((a,), {})[0], {})[1] is None]
    for f in [f for v, f in stored.items() if v not in fine]:
        agree(f, a)
    for k in range(0, len(fine), 5):
        try:
            stored_to(fine[k : k + 5], a)
        except Exception:
            for view in fine[k : k + 5]:
                stored_to([view], a)
            raise


def stored_to(views: list[str], a: np.ndarray) -> None:
    """Several views in one function, each of an array of its own."""
    lines = []
    for k, view in enumerate(views):
        of = re.sub(r"\ba\b", f"a{k}", view)
        lines += [f"b{k} = {of}", f"c{k} = {of}", f"b{k} += 1"]
    names, n = ", ".join(f"a{k}" for k in range(len(views))), range(len(views))
    kept = ", ".join(f"b{k}, c{k}, a{k}" for k in n)
    arrays = [clone_arguments((a,), {})[0][0] for _ in n]
    agree(program("\n ".join([f"def f({names}):", *lines, f"return {kept}"])), *arrays)


@pytest.mark.parametrize("order", slow_but("F", "CFAK"))
def test_s5_ravel_and_flatten(order: str, a: np.ndarray) -> None:
    if order != "K":
        agree(program(f"def f(a): return a.reshape(a.shape[::-1], order={order!r})"), a)
    if order != "K" or 0 not in a.strides:
        agree(program(f"def f(a):\n b, c = a.ravel({order!r}), a.flatten({order!r})\n return b, c"), a)
        agree(program(f"def f(a):\n b = np.ravel(a[1:], {order!r})\n b[1:2] = 9\n return b"), a)


@pytest.mark.parametrize("shape", ["4", "(2, 4)", "(2, -1, 4)", "()", "2.0", "(-1, -1)", "(5, -1)", "(0, -1)"])
def test_reshape_refuses_what_numpy_refuses(shape: str) -> None:
    """C1: the class of the exception."""
    agree(program(f"def f(a): return a.reshape({shape})"), np.arange(6.0))
    agree(program(f"def f(a): return np.zeros((0, 3)).reshape({shape})"), np.arange(6.0))


def test_s7_a_size_decides_view_or_copy() -> None:
    """`a[:, :k].reshape(-1)` is a view iff k is the full width or there is one row: guards, one program each."""
    f = tracebuf.bufferize(program("def f(a, k):\n b = a[:, :k].reshape(-1)\n b[0] = 9.0\n return b"))
    for m, n, k in ((3, 4, 2), (3, 4, 4), (3, 4, 9), (1, 4, 2), (3, 5, 1), (2, 7, 3), (2, 3, 0)):
        if min(n, k):
            agree(f, floats(m, n), k)


@pytest.mark.slow
def test_s7_strides_of_an_argument_decide() -> None:
    """Padding that a slice with a step makes up for: `a[:, ::3]` of five columns in rows of six runs on."""
    f = tracebuf.bufferize(program("def f(a):\n b = a[:, ::3].reshape(-1)\n b[1] = 9.0\n return b"))
    for width in (6, 7, 5, 8):
        agree(f, floats(4, width)[:, :5])


@pytest.mark.slow
def test_s7_an_array_without_elements_is_a_view() -> None:
    """Its strides do not matter; that it is a view shows in whether it may be written (rule B2)."""
    f = tracebuf.bufferize(program("def f(a, n): return a[1:n, 1:].reshape(-1), a[1:n, ::2].ravel()"))
    a = floats(4, 6)
    a.flags.writeable = False
    for n in (1, 3, 2, 0):
        got, want = f(a, n), f.__wrapped__(a, n)
        assert [x.flags.writeable for x in got] == [x.flags.writeable for x in want]
        agree(f, a, n)


@pytest.mark.slow
def test_s7_a_computed_size() -> None:
    """A size may turn out to be negative at run time: then it is what is left over, as -1 is."""
    text = "def f(a):\n n = int(a[0])\n return a.reshape(n, 3), np.ones((n + 9, 2)).reshape(-1)"
    f = tracebuf.bufferize(program(text))
    for first in (4.0, -1.0, -7.0, 5.0, 0.0):
        agree(f, np.r_[first, np.arange(11.0)])


def test_s7_what_only_the_run_time_knows_is_refused() -> None:
    text = """
    def f(a):
        s = 0.0
        for k in range(1, a.shape[1]):
            s += a[:, :k].reshape(-1)[0]
        return s
    """
    assert "view or a copy" in str(refused(program(text), floats(4, 6)))


@pytest.mark.slow
def test_s6_k_order_decides_reshape() -> None:
    """`a.T + 1` lies in Fortran's order: its C reshape copies, its transpose's does not."""
    agree(program("def f(a):\n b = a.T + 1\n c = b.reshape(-1)\n c[0] = 99\n return b, c"), floats(4, 6))
    agree(program("def f(a):\n b = np.copy(a.T)\n c = b.T.reshape(-1)\n c[0] = 99\n return b, c"), floats(4, 6))
    agree(program("def f(a):\n b = a.reshape(4, 2, 3)\n return b.transpose(2, 0, 1) + 1, b.T.copy()"), floats(4, 6))


AXES = [
    "a.T, a.mT, np.transpose(a), a.transpose(1, 0), a.transpose((-1, 0)), np.matrix_transpose(a)",
    "np.swapaxes(a, 0, 1), a.swapaxes(-1, -1), np.moveaxis(a, 0, -1), np.moveaxis(a[None], (0, 1), (2, 0))",
    "np.rollaxis(a, 1), np.rollaxis(a, 0, 2), np.rollaxis(a[None], 2, -3)",
    "np.expand_dims(a, 0), np.expand_dims(a, (0, -1)), a[np.newaxis]",
    "a.squeeze(), np.squeeze(a[None]), np.squeeze(a[:, None], 1), a[None, :, None].squeeze((0, 2))",
    "np.atleast_1d(a), np.atleast_2d(a[0]), np.atleast_3d(a), np.atleast_3d(a[0]), np.atleast_2d(a, a[0])",
    "np.flip(a), np.flip(a, 0), np.flip(a, (0, 1)), np.fliplr(a), np.flipud(a)",
    "np.rot90(a), np.rot90(a, 2), np.rot90(a, -1), np.rot90(a, 4), np.rot90(a, 1, (1, 0))",
    "np.array_split(a, 3), np.array_split(a, 2, axis=1), np.split(a, [1, 3]), np.split(a, [2], axis=-1)",
    "np.hsplit(a, [2]), np.vsplit(a, [1, 9]), np.hsplit(a[0], [1])",
    "a.view(), np.asarray(a), np.asanyarray(a), np.array(a), np.array(a, copy=None), np.ascontiguousarray(a)",
    "np.asfortranarray(a), np.asarray(a.T, order='C'), np.array(a, order='A'), np.array(a, ndmin=3)",
    "a[None][:0], a[:, None][:, 0:1], a[None, :, None][::2, 1:, :1]",
]


@pytest.mark.parametrize("expression", one_in(6, AXES))
def test_s5_axes(expression: str, a: np.ndarray) -> None:
    agree(program(f"def f(a): return {expression}"), a)


@pytest.mark.parametrize("view", ["np.rot90(a)", "np.moveaxis(a, 0, 1)", "np.flip(a)", "np.expand_dims(a, 1)"])
def test_s5_stores_through_axes(view: str, a: np.ndarray) -> None:
    agree(program(f"def f(a):\n b = {view}\n b[1:] = 7\n b *= 2\n return a"), a)


@pytest.mark.slow
def test_b2_read_only_views(a: np.ndarray) -> None:
    """Diagonals and broadcasts are read-only views; a store through them raises ValueError."""
    views = ["np.diagonal(a)", "a.diagonal(1)", "np.diag(a, -1)", "np.broadcast_to(a, (2, *a.shape))", "a.diagonal(9)"]
    for view in views:
        agree(program(f"def f(a):\n b = {view}\n return b, b.sum(), b + 1, b[:1], b.T"), a)
        got = tracebuf.bufferize(program(f"def f(a): return {view}"))(a)
        assert not got.flags.writeable
        agree(program(f"def f(a):\n b = {view}\n b += 1"), a)
        agree(program(f"def f(a):\n b = {view}\n b[0] = 1"), a)
    agree(program("def f(a):\n b = a.reshape(2, 2, -1).diagonal()\n a[0, 0] = 5\n return b"), a)


ERRORS = [
    "np.squeeze(a, 0)", "np.squeeze(a[None], 5)", "np.squeeze(a[None], (0, 0))", "np.expand_dims(a, (0, 0))",
    "np.expand_dims(a, 5)", "np.moveaxis(a, (0, 1), 0)", "np.swapaxes(a, 0, 2)", "np.diagonal(a, 0, 0, 0)",
    "np.diagonal(a[0])", "np.rot90(a[0])", "np.transpose(a, (0, 0))", "np.transpose(a, (0, 2))",
    "np.transpose(a, (0,))", "np.split(a, 3)", "np.vsplit(a[0], 2)", "a[0].mT", "np.broadcast_to(a, (4, 5))",
    "np.broadcast_to(a, (6,))", "np.flip(a, 2)", "np.flip(a, (0, 0))", "np.fliplr(a[0])", "a.reshape(4, 5)",
    "a.ravel('X')", "np.reshape(a[:, :3], -1, copy=False)",
]  # fmt: skip


@pytest.mark.parametrize("expression", ERRORS)
def test_c1_errors(expression: str) -> None:
    assert agree(program(f"def f(a): return {expression}"), floats(4, 6)) is not None


def test_shape_is_set_in_place() -> None:
    """All names of one array object see its new shape (S8: one reference a Python object); the caller's are refused."""
    text = "def f(a):\n b = a + 1\n c = b\n v = b[0]\n b.shape = (3, -1)\n v[0] = 50\n c[0] += 1\n return b, c, v"
    agree(program(text), floats(4, 6))
    agree(program("def f(a):\n b = a.T\n b = b[:, :2]\n b.shape = -1\n return b"), floats(4, 6))
    agree(program("def f(a):\n b = a[:]\n b.shape = -1\n b[3] = 1\n return b"), floats(4, 6))
    assert "argument" in str(refused(program("def f(a):\n a.shape = (2, -1)\n return a"), floats(4, 6)))


def test_flat_is_read(a: np.ndarray) -> None:
    agree(program("def f(a): return a.flat[5], a.flat[-1], a.flat[1:4], a.T.flat[2], len(a.flat)"), a)
    agree(program("def f(a, i): return a.flat[i], a.flat[99]"), a, 3)
    agree(program("def f(a): return a.flat[[1]], a.flat[np.array([[0, -1], [2, 2]])], a.T.flat[[1, 2]]"), a)


ODD = [
    "a.flat + 1", "2 ** a.flat", "np.sin(a.flat)", "np.add(a, a.flat)", "a.flat.copy()",
    "np.where(a.flat, 1, 2)", "np.dot(a, a.flat)", "abs(a.flat)", "a.flat[[True]]", "not a.flat", "a.flat[a > 3]",
    "-a.flat", "3.0 in a.flat", "np.sum(a.flat)", "a.flat", "type(a.flat)", "a @ a.flat", "a.flat[...]",
]  # fmt: skip


@pytest.mark.parametrize("expression", ODD)
def test_x1_what_is_no_operand_is_refused(expression: str) -> None:
    """`.flat` is no array: what takes it for an object of its own must not go on in silence."""
    refused(program(f"def f(a): return {expression}"), floats(4, 6))


def test_flat_is_iterated(a: np.ndarray) -> None:
    agree(program("def f(a):\n s = 0.0\n for x in a.flat: s += x * s + 1\n return s"), a)
    text = "def f(a):\n b = np.zeros(a.size)\n for i, x in enumerate(a.T.flat): b[i] = x\n return b"
    agree(program(text), a)


@pytest.mark.slow
@pytest.mark.parametrize("first", [1.0, -1.0])
def test_s8_reshape_of_one_array_or_another(first: float) -> None:
    """A view where both are; a refusal where one path has a view and the other a copy."""
    a = floats(4, 6) + 10
    a[0, 0] = first
    text = "def f(a):\n b = a if a[0, 0] > 0 else a * 2\n c = b.reshape(-1)\n c[1:3] += 7\n return c.sum(), a"
    agree(program(text), a)
    refused(program(text), a[:, :4])


CLIMBS = [
    "def f(a):\n x = np.zeros((6, 12))\n t = a + 1\n s = t.reshape(-1)[4]\n x[1:5, :a.shape[1]] = t\n return x, s",
    "def f(a):\n t = np.empty(a.shape)\n for i in range(len(a)): t.reshape(-1)[i] = a[i, 0]\n return t[0, :len(a)] + 1",
    "def f(a):\n b = a.reshape(-1)\n b[1:3] += 1\n c = b[::2].reshape(3, -1)\n c[1] *= b[:4]\n return a.sum(axis=0)",
    "def f(a):\n for i in range(a.shape[0]):\n  r = a.reshape(-1, 3)\n  r[i] += r[i + 1] * 2\n return a",
    "def f(a):\n b = a * 2\n c = b.reshape(2, 2, -1)\n for i in range(2):\n  c[i] += c[1 - i, ::-1]\n return b, c",
    "def f(a):\n b = a.T + 1\n c = b.reshape(-1, order='F')\n c[2:] -= c[:-2]\n return b, c",
    "def f(a):\n v = a[1:3].reshape(-1)[3:9].reshape(2, 3)\n v[1] = v[0] + 1\n v.T[0] = 4\n return v",
    "def f(a):\n return a.diagonal() * 2, np.broadcast_to(a[0], a.shape) + a, a.flat[3], a[None][:0]",
]


@pytest.mark.parametrize("text", one_in(8, CLIMBS))
def test_s5_on_every_rung(text: str) -> None:
    climb(program(text), (floats(4, 6),), again=[(floats(4, 9),), (floats(4, 12),)])


FREE = [
    "def f(a):\n b = a.reshape(-1)\n b[1:3] += 1",
    "def f(a):\n a.reshape(-1)[1:3] += a[0, 0]",
    "def f(a):\n a.reshape(3, -1)[1] = a[0, 1] * 2",
    "def f(a):\n b = a[1:3].reshape(-1)\n b[1:-1] *= 2\n b[0] = 5",
    "def f(a):\n b = a.T.reshape(-1, order='F')\n b[2:] += 1",
    "def f(a):\n for i in range(3):\n  a.reshape(3, -1)[i] += 1",
    "def f(a):\n b = a.reshape(2, 2, -1)\n b[0] += b[1]",
    "def f(a):\n b = a.reshape(-1)\n b[:4] = b[8:12]\n b[::2] *= 3",
    "def f(a):\n b = a.reshape(2, 2, -1)\n for i in range(2):\n  b[i] = b[1 - i]\n  b[i] -= b[1 - i]",
    "def f(a):\n b = a.reshape(-1)\n b[1:] = b[:-1]\n b[:-2] += b[2:]\n b[1:9] = b[9:17]",
    "def f(a):\n np.rot90(a)[1:] += 1\n np.moveaxis(a, 0, 1)[0] = 3",
]


@pytest.mark.parametrize("text", one_in(8, FREE))
def test_s5_stores_through_a_reshape_cost_nothing(text: str) -> None:
    """Matching subsets are seen through the chain: no allocation, no copy."""
    f = tracebuf.bufferize(verify=True)(program(text))
    agree(f, floats(4, 6))
    _, counters = f.call_counted(floats(4, 6))
    assert counters is not None and (counters.allocations, counters.copies) == (0, 0), f.explain(floats(4, 6))


ALL_OF_IT = [" b = a[:, :k].reshape(-1)\n b[0] = 9\n b[2:] += 1\n return b", " a[:, :k].T[1:] += 1"]


@pytest.mark.parametrize("text", slow_but(ALL_OF_IT[1:], ALL_OF_IT))
def test_s2_a_part_that_is_everything_costs_nothing(text: str) -> None:
    """Its size is known to be the array's by a guard; a store through its reshape copied the array twice."""
    f = program("def f(a, k):\n" + text)
    climb(f, (floats(4, 6), 6), again=[(floats(4, 6), 3)])
    _, counters = tracebuf.bufferize(f).call_counted(floats(4, 6), 6)
    assert counters is not None and (counters.allocations, counters.copies) == (0, 0)


@pytest.mark.parametrize("text", ["a[None, 0] *= a", "a[0, :, None].T[...] += a", "a[0][None] -= a[:, ::-1][:, ::-1]"])
def test_s2_a_new_axis_for_one_of_size_one(text: str) -> None:
    """The view is all of the array, element for element, though one of its axes is another one."""
    f = program(f"def f(a):\n {text}")
    climb(f, (floats(1, 6),), again=[(floats(1, 9),)])
    _, counters = tracebuf.bufferize(f).call_counted(floats(1, 6))
    assert counters is not None and (counters.allocations, counters.copies) == (0, 0)


PRINTED = [
    "def f(a):\n b = a.reshape(-1)\n b[1:3] += 1\n return b",
    "def f(a):\n return a[1:, 2:].T.reshape(2, -1), a[::2].reshape(-1, 2, 2)",
    "def f(a):\n b = a * 2\n b.reshape(3, -1)[1] = 4\n return b.T + 1",
]


@needs_mlir
@pytest.mark.parametrize("stage", one_in(4, ["traced", "bufferize"]))
@pytest.mark.parametrize("text", one_in(4, PRINTED))
def test_text_is_mlirs(text: str, stage: str) -> None:
    """collapse_shape and expand_shape are printed as mlir-opt reads and verifies them."""
    shown = tracebuf.bufferize(program(text)).lower(floats(4, 6)).as_text(stage)
    assert "collapse_shape" in shown
    mlir_opt(shown, UNREGISTERED)


@pytest.mark.slow
def test_steps_that_are_computed_from_elements() -> None:
    """A step that only the run time knows must be positive: checked there, and a negative one is refused there."""

    def program(a, k, out):
        p = k[0]
        out[p * p :: p] = 1
        for q in k:
            out[q::q] += a[q::q]
        return a[k[1] :: k[0]] * 2, a[: k[1] : k[2]]

    f = bufferize(program)
    for n in (1, 9, 20):
        agree(f, np.arange(float(n)), np.array([2, 3, 1]), np.zeros(n))
    agree(f, np.arange(4.0), np.array([0, 3, 1]), np.zeros(4))
    with pytest.raises(UnsupportedError, match="the step of a slice that is computed from elements is negative"):
        f(np.arange(4.0), np.array([-1, 3, 1]), np.zeros(4))
    climb(program, (np.arange(9.0), np.array([2, 3, 1]), np.zeros(9)))


@pytest.mark.slow
def test_powers_as_sizes_and_reshapes_that_are_only_read() -> None:
    """Powers of a positive int are positive; a reshape that is an operand may be a view or a copy."""

    def program(x, r, k):
        out = np.zeros_like(x)
        for i in range(k):
            y = np.transpose(x.reshape((r**i, r, r ** (k - i - 1))), (1, 0, 2))
            out += y.reshape((r**k,)) * (i + 1) - np.reshape(y, (len(x),))
        return out

    f = bufferize(program)
    for r, k in ((2, 3), (3, 2), (1, 4), (2, 0)):
        agree(f, floats(r**k), r, k)
    climb(program, (floats(8), 2, 3), again=[(floats(27), 3, 3)])


@pytest.mark.slow
def test_numbers_that_are_reshaped_stay_numbers() -> None:
    for text in ("np.transpose(a.sum())", "np.reshape(a.sum(), ())", "np.squeeze(a[0])", "np.moveaxis(a.max(), (), ())",
                 "np.transpose(2.5), np.reshape(3, ())"):  # fmt: skip
        agree(program(f"def program(a):\n    return {text}"), floats(4))


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "np.flip(z), np.flip(a, ()), np.flip(a, (0, 1))",
        "np.flip(z, 0)",
        "np.moveaxis(z, 0, 0)",
        "np.unstack(v), np.unstack(a, axis=1)",
        "np.split(z, [1])",
        "np.size(a, 1), np.size(a, (0, 1)), np.size(a, axis=-1)",
        "np.size(z, 0)",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)


@pytest.mark.slow
def test_s5_reshapes_to_products_of_sizes() -> None:
    f = program("""
        def f(a, k):
            shape = a.shape
            return [a.reshape(int(np.prod(shape[:2])), -1), a.reshape(np.prod(shape[:-1]), -1),
                a.reshape(-1, np.prod(shape[1:])),
                a.reshape(np.prod(shape)), a.reshape(np.int64(shape[0]), -1), a.reshape(np.sum(shape[:1]), -1),
                np.prod(shape), np.sum(shape), np.prod(shape) - a.size, np.prod((k, 2)),
                np.zeros(np.prod(shape[1:])).shape,
                np.prod([k, shape[0]]), np.prod((k, 2.0)), np.prod((k, True)),
                a.ravel().reshape(np.prod(shape) // 2, -1)]
    """)
    for shape in ((2, 3, 4), (4, 1, 5), (6, 2, 1), (1, 2, 2)):
        agree(f, np.arange(float(np.prod(shape))).reshape(shape), 3)
        agree(f, np.asfortranarray(np.arange(float(np.prod(shape))).reshape(shape)), -3)
    g = program("def f(a, k):\n    return a.reshape(k[0], -1)")
    for k in (1, 2, 3, 5, 6, 0, -1, -2):
        agree(g, np.arange(6.0), np.array([k]))
    agree(program("def f(n):\n    return np.prod((n, n, n, n)), np.sum((n, n))"), 2**20)


@pytest.mark.parametrize("shape", [(2, 3), (3, 0), (0, 3)], ids=str)
def test_s5_what_is_empty_repeats_nothing(shape: tuple[int, ...]) -> None:
    """Strides of 0 are no repetition where an axis has size 0: refused once as a broadcast array."""
    f = program("def f(a):\n    return a.ravel('K'), a.T.flatten('K'), a[1:].ravel('K')")
    agree(f, np.ones(shape).astype(np.int16))
    agree(f, np.broadcast_to(np.ones(shape[1]), (0, shape[1])))


@pytest.mark.parametrize(
    "text", ["np.repeat(a[:n], 2, axis=0)", "(a[:n, None] + np.ones((2, 1))).reshape(-1, a.shape[1])"]
)
def test_s5_reshapes_of_slices_of_nothing(text: str) -> None:
    """Where n is 0, n and 2 * n are equal, and yet no boundary between groups of axes."""
    f = bufferize(program(f"def f(a, n):\n    return {text}"))
    for rows, n in ((0, 0), (0, 2), (2, 0), (3, 2), (2, -5)):
        agree(f, np.ones((rows, 4)), n)


@pytest.mark.slow
def test_slices_of_sizes_of_many_minima() -> None:
    """What follows from the sizes of two such being equal was looked at without an end."""

    def f(a, b, n, m):
        b[n - 1 : 2] = np.where(b[n // 2 : 2 * m : 2], n < a[m % 3 : 4 : 2], m != b[:-1:3])

    climb(f, (floats(5), np.arange(6), -6, 3), again=[(floats(2), np.arange(3), -1, 4)])


def reshaped_by_data(a, s):
    return a.reshape(s[0], s[1]), a.reshape(tuple(s[k] for k in range(3))).transpose((2, 0, 1)) if len(s) > 2 else 0


def in_blocks(a, s):
    n = np.array(a.shape) // s[0]
    return a.reshape(n[0], s[0]).sum(axis=1)


@pytest.mark.parametrize(
    "shape", [(3, 4), (-1, 4), (3, -1), (-1, -1), (5, 3), (5, -1), (0, -1), (-3, 4), (-3, -2), (12, 1), (12, -1, 1)]
)
def test_sizes_of_either_sign_that_the_data_give(shape: tuple[int, ...]) -> None:
    """At most one is negative, and is found."""
    agree(reshaped_by_data, np.arange(12.0), np.array(shape))
    agree(reshaped_by_data, np.zeros(0), np.array(shape))
    agree(in_blocks, np.arange(12.0), np.abs(shape) + 1)


@pytest.mark.slow
def test_views_of_views_whose_sizes_only_a_branch_knows():
    def real_parts(a, b):
        z = a + 1j * b
        i = np.where(b[0] > 2)[0]
        if len(i):
            p = np.real(z[:, i[-1]]).squeeze()
            p /= p[0] + 3
        else:
            i = np.where(b[0] < 2)[0]
            p = np.real(z[:, i[0]]).squeeze()
        return p, z

    def regrouped(a, b):
        k = int(b[0, 0])
        if k > 1:
            p = (a * 2)[:, :k].T.ravel()[:3]
            q = a.reshape(-1)[k:]
        else:
            p = (a * 3)[0]
            q = a.ravel()[:1]
        q[...] = 5.0
        return p, q, a

    def windows_and_diagonals(a, b):
        k = int(b[0, 0]) + 1
        if b[0, 1] > 1:
            c = np.concatenate([a[0, :k], a[1, :k]])
            w = np.lib.stride_tricks.sliding_window_view(c, 2)
            d = np.diag(a[:2, :2] * k)
            e = c.reshape(2, -1)[1]
        else:
            w = a[:, :1]
            e = d = a[0, :1]
        return w.sum(), w * 2, d + 1, e

    def stored_to(a, b):
        k = int(b[0, 0])
        if k >= 0:
            c = np.concatenate([a.ravel()[:k], a.ravel()])
            p = c.reshape(-1, 1)
            q = p[1:]
        else:
            p = a
            q = a[1:]
        q[0] = 9.0
        return p, q

    a = np.arange(12.0).reshape(3, 4)
    for f in (real_parts, regrouped, windows_and_diagonals, stored_to):
        climb(f, (a, a + 2), alike=[(a, a.copy()), (a, a - 1), (a, a + 1)])


def test_windows_by_strides_of_a_size_that_only_the_run_time_knows():
    def f(a, n):
        x = a[: int(a[0])]
        if x.shape[0] < n:
            raise ValueError("short")
        return as_strided(x, (x.shape[0] - n + 1, n), (*a.strides, *a.strides)) * 2

    g = bufferize(f)
    agree(g, np.arange(5.0, 20.0), 3)
    agree(g, np.arange(7.0, 20.0), 3)
    agree(g, np.arange(2.0, 20.0), 3)


def test_strides_of_one_array_or_another():
    """What leaves the array is refused when the program runs."""

    def f(a, n):
        x = a[1:] if a[0] > 1 else a * 2
        return as_strided(x, (n, 2), (8, 8)) * 2

    g = bufferize(f)
    for first in (0.0, 5.0):
        agree(g, np.arange(first, 20.0), 3)
    assert "within them" in str(refused(g, np.arange(5.0, 9.0), 3))
