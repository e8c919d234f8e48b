"""What code asks of arrays and numbers while it is traced: flags, strides, attributes, classes, membership."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in, some
from tracebuf.testing.ladder import climb

MATRICES = {
    "rows": np.arange(12.0).reshape(3, 4),
    "columns": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "parts": np.arange(48.0).reshape(6, 8)[::2, ::2],
    "backwards": np.arange(12.0).reshape(3, 4)[:, ::-1],
    "row": np.arange(4.0).reshape(1, 4),
    "of a row": np.arange(16.0).reshape(4, 4)[:1, ::2],
    "column": np.arange(12.0).reshape(3, 4)[:, 1:2],
    "none": np.empty((0, 3)),
    "constant": np.broadcast_to(np.arange(4.0), (3, 4)),
}
MADE = (
    "a", "a.T", "a[:, 1:]", "a[1:]", "a[0]", "a[:, 0]", "a[:2, :1]", "a.ravel()", "a.copy()", "a.copy('F')", "a + 1",
    "a.T + 1", "a.reshape(-1)", "np.zeros((2, 3))", "np.zeros((3, 2), order='F')", "a[None]", "a[..., None]",
    "np.broadcast_to(a, (2, *a.shape))", "np.diagonal(a)", "a.real", "a.imag", "a.astype(complex).imag",
    "a.swapaxes(0, 1)", "np.moveaxis(a, 0, 1)[::-1]", "np.ascontiguousarray(a)", "np.asfortranarray(a)",
    "np.asarray(a)", "a.sum(axis=0)", "a.T.sum(axis=0)", "np.cumsum(a, axis=0)", "a @ a.T", "np.flip(a)", "a.view()",
    "np.squeeze(a)", "np.atleast_3d(a)", "np.array(a)", "np.sort(a)", "a[a > 2]", "a[[0]]", "np.where(a > 1, a, 0)",
    "np.concatenate((a, a))", "np.split(a, 1)[0]", "np.linspace(0, 1, 5)", "np.eye(3)", "np.full_like(a, 2)",
    "np.transpose(a[None], (2, 0, 1))", "np.empty_like(a)", "np.lib.stride_tricks.sliding_window_view(a, 1, axis=0)",
    "np.expand_dims(a, 1)", "np.rot90(a)", "np.tile(a, 2)", "np.repeat(a, 2, axis=1)", "np.outer(a, a)",
    "np.einsum('ij->ji', a)", "np.einsum('ij->j', a)", "np.triu(a)", "np.meshgrid(a[:, 0], a[:, 0])[1]",
    "np.real_if_close(a)", "np.pad(a, 1)", "np.roll(a, 1, axis=0)",
)  # fmt: skip


@pytest.mark.parametrize("layout", one_in(6, MATRICES))
@pytest.mark.cases(4)
def test_flags_are_numpys(layout: str) -> None:
    names = (
        "c_contiguous", "f_contiguous", "contiguous", "fortran", "writeable", "aligned", "behaved", "carray", "farray",
        "fnc", "forc", "writebackifcopy",
    )  # fmt: skip
    given = MATRICES[layout]
    for made in MADE:
        asked = ", ".join([*(f"x.flags.{n}" for n in names), *(f"x.flags[{n!r}]" for n in ("C_CONTIGUOUS", "W", "F"))])
        f = program(f"def f(a):\n    x = {made}\n    return {asked}")
        try:
            tracebuf.bufferize(f).trace(given)
        except tracebuf.UnsupportedError as refused:
            assert ".flags" not in refused.reason, made
            continue
        except Exception:  # of eager too
            continue
        agree(f, given)


def test_flags_depend_on_the_call() -> None:
    def f(a: np.ndarray, n: int) -> bool:
        return bool(a[:n].flags.c_contiguous and a[:, :n].flags.c_contiguous)

    for n in (1, 2, 3, 4):
        agree(f, np.ones((3, 3)), n)
    agree(program("def f(a):\n    return a.flags.writable"), np.ones(3))
    agree(program("def f(a):\n    return a.flags['WRITE']"), np.ones(3))
    frozen = np.ones(3)
    frozen.flags.writeable = False
    agree(program("def f(a):\n    return a.flags.writeable, a[1:].flags.writeable, a.copy().flags.writeable"), frozen)


def test_code_that_asks_for_contiguity_first() -> None:
    f = program("""
        def f(a):
            if not a.flags.c_contiguous:
                a = np.ascontiguousarray(a)
            if not a.flags["WRITEABLE"]:
                a = a.copy()
            a[0] = -1
            return a
    """)
    for given in MATRICES.values():
        if len(given) and given.strides[0]:
            agree(f, given.copy("K"))
    agree(f, np.arange(6.0)[::2])


def test_strides() -> None:
    f = program("""
        def f(a):
            b = a + 1
            return a.strides, a.T.strides, b.strides, b.T.strides, b[:, :2].strides, a[:2].strides[0] // a.itemsize
    """)
    for layout in ("rows", "columns", "parts", "backwards"):
        agree(f, MATRICES[layout])
    agree(f, np.arange(20.0).reshape(4, 5))
    refused(f, MATRICES["row"], "an axis of fewer than 2 elements")


def test_attributes_and_classes() -> None:
    f = program("""
        def f(a, x, n):
            found = [hasattr(y, name) for y in (a, x, n, a[0, 0]) for name in (
                "shape", "dtype", "foo", "real", "tolist", "__array__", "__array_interface__", "mask", "ctypes",
                "flags", "__len__", "__iter__", "is_integer", "bit_length", "astype", "todense", "__float__", "base")]
            names = [getattr(a, "mask", None), getattr(x, "ndim", 0), getattr(n, "dtype", "none"), a[0, 0].size]
            kinds = a.__class__ is np.ndarray, x.__class__, n.__class__.__name__, a[0, 0].__class__
            return found, names, kinds, issubclass(a.dtype.type, np.floating), a.device, type(x) is type(2.0)
    """)
    agree(f, MATRICES["rows"], 2.5, 3)
    agree(f, np.ones((2, 2), np.int32), np.float32(2.5), True)
    g = program("""
        def f(a, x):
            ask = isinstance
            return [ask(y, k) for y in (a, x, a.shape, a.shape[0], a[0, 0], [1], {}, "x") for k in (
                numbers.Number, numbers.Real, numbers.Integral, abc.Iterable, abc.Sequence, abc.Sized, abc.Mapping,
                abc.Hashable, abc.Callable, np.ma.MaskedArray, np.matrix, np.memmap, np.recarray, np.generic)]
    """, numbers=__import__("numbers"), abc=__import__("collections.abc").abc)
    agree(g, MATRICES["rows"], 2.5)
    h = program("""
        def f(a):
            m = np.ma
            return (m.isMaskedArray(a), m.isMA(a), m.isarray(a), m.is_masked(a), m.getdata(a), m.getmaskarray(a),
                m.getmask(a) is m.nomask, m.filled(a), np.iterable(a), np.iterable(a.size), m.getdata(a[1:]))
    """)
    agree(h, MATRICES["rows"])


@pytest.mark.slow
def test_membership() -> None:
    f = program("""
        def f(a, x, n):
            return [3 in a.shape, None in a.shape, n in a.shape, a.shape[0] in (1, 3), 0 in a.shape, "x" in a.shape,
                None in (a.size, None), x in (1.0, 2.5), n in (x, 7.0), a.size not in (n, 12), 2.5 in (n, x),
                True in a.shape]
    """)
    for n in (3, 4, 7):
        agree(f, MATRICES["rows"], 2.5, n)
        agree(f, MATRICES["row"], float("nan"), n)
    for bad in ("x in (x, 1.0)", "x in (y, x)"):
        refused(program(f"def f(x, y):\n    return {bad}"), 2.5, 1.0, "`in` needs values known")
    g = program("def f(a, x):\n    return x in a, x not in a, 2 in a, a[0] in a")
    agree(g, MATRICES["rows"], 3.0)
    agree(g, MATRICES["rows"], 3.5)
    agree(g, np.arange(4), True)
    agree(program("def f(a):\n    if 0 in a.shape:\n        return a.copy()\n    return a + 1"), MATRICES["none"])


def test_memory() -> None:
    agree(program("def f(a):\n    return np.shares_memory(a, a[1:]), np.may_share_memory(a, a.T)"), MATRICES["rows"])
    refused(program("def f(a, b):\n    return np.shares_memory(a, b)"), np.ones(3), np.ones(3), "share memory")
    refused(program("def f(a):\n    return np.roll(a, 1).flags.owndata"), np.ones(3), "who owns an array's memory")
    refused(program("def f(a):\n    return np.roll(a, 1).base is None"), np.ones(3), "ask outside who owns the memory")
    refused(program("def f(a):\n    return a.flags.num"), np.ones(3), "who owns an array's memory")
    refused(program("def f(a):\n    a.flags.writeable = False"), np.ones(3), "of an array of the caller's")
    f = program("def f(a):\n    b = a * 2\n    return np.shares_memory(a, b), np.may_share_memory(b, a[1:])")
    agree(f, np.ones(3))


@pytest.mark.slow
def test_flags_that_are_set() -> None:
    for code in (
        "b.flags.writeable = False", "b.setflags(write=False)", "b.flags['WRITEABLE'] = False",
        "b.flags['W'] = False", "b.flags.writeable = True", "b.setflags(True)",
        "b.flags.writeable = False; b.flags.writeable = False",
        "c = b[1:]; b.flags.writeable = False; c[0] = 5.0; b = (b, c)",
        "b.flags.writeable = False; b = (b, b[1:], b.T)", "b.flags.writeable = False; b[0] = 1",
        "b.flags.writeable = False; b += 1", "b.setflags(write=False); a[:] = 2",
        "b.flags.writeable = False; b = b.copy(); b[0] = 2", "b.flags.writeable = False; b = b.flags.writeable",
    ):
        for made in ("a * 2", "a[1:]", "a.T", "np.zeros((3, 3))", "a.copy()"):
            f = program(f"def f(a):\n    b = {made}\n    {code}\n    return b")
            want = agree(f, np.ones((3, 3)))
            if isinstance(want, np.ndarray):
                got = tracebuf.bufferize(f)(np.ones((3, 3)))
                assert got.flags.writeable == want.flags.writeable, (code, made)
    for code, reason in (
        ("b = a * 2\n    if a[0] > 1:\n        b.flags.writeable = False\n    return b", "`.flags.writeable` here"),
        ("b = a * 2 if a[0] > 1 else a[:2]\n    b.flags.writeable = False\n    return b", "`.flags.writeable` here"),
        ("b = a * 2\n    b.flags.writeable = False\n    b.setflags(write=True)\n    return b", ".writeable` here"),
        ("a.setflags(write=False)", "of the caller's"),
        ("b = a * 2\n    b.flags.aligned = False", "attribute is set"),
    ):  # fmt: skip
        refused(program(f"def f(a):\n    {code}"), np.ones(3), reason)


@pytest.mark.slow
def test_a_median_that_may_sort_its_argument() -> None:
    for made in ("a", "a * 2", "a[1:, ::2]", "a.T", "a[::-1]", "a[0]", "a.astype(int)"):
        for axis in ("", ", axis=0", ", axis=-1, keepdims=True"):
            f = program(f"def f(a):\n    b = {made}\n    return np.median(b{axis}, overwrite_input=True), b, a")
            a = np.random.default_rng(1).permutation(np.arange(20.0)).reshape(4, 5)
            if "a[0]" not in made or "keepdims" not in axis:
                agree(f, a)
            a[1, 2] = np.nan
            if made not in ("a.astype(int)", "a[0]"):
                agree(f, a)
    f = program("def f(a):\n    return np.percentile(a, 30, overwrite_input=True)")
    refused(f, np.ones(3), "overwrite_input=True")


def test_what_array_libraries_ask() -> None:
    f = program("""
        def f(a):
            xp = a.__array_namespace__()
            new = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
            return xp is np, xp.sum(a), a.to_device("cpu") is a, new, np.isdtype(a.dtype, "real floating")
    """)
    agree(f, np.ones(3))
    agree(program("def f(a):\n    return a.to_device('gpu')"), np.ones(3))
    for text in (
        "a.__array__() is a", "a.__array_wrap__(a * 2), a.__array_wrap__(a.sum(keepdims=True)[0, ...])",
        "a.__array_wrap__(np.array(n), None, True), a.__array_wrap__(a, None, True) is a", "a.__array_wrap__(n)",
        "getattr(a, '__array_wrap__', None)(a + n)", "np.moveaxis(a[None], np.asarray(-1)[()], 0)",
        "hasattr((1, a), '__getitem__'), hasattr([a], 'append'), hasattr({}, 'nope'), hasattr(None, 'x')",
        "hasattr('hann', '__name__'), hasattr((a,), 'mro'), hasattr(None, '__name__'), hasattr([], '__module__')",
        "np.__array_namespace_info__().capabilities()['boolean indexing']",
    ):  # fmt: skip
        agree(program(f"def f(a, n):\n    return {text}"), np.arange(3.0), 2)


def refused(f: object, *args: object) -> None:
    """Refused for the reason that comes last."""
    with pytest.raises(tracebuf.UnsupportedError, match=str(args[-1])):
        tracebuf.bufferize(f)(*args[:-1])  # type: ignore[call-overload]


def test_the_least_dtype_of_an_array_is_its_own() -> None:
    def f(a, b):
        return np.zeros(2, np.min_scalar_type(a)), a.astype(np.min_scalar_type(300)) + b, np.min_scalar_type(b[:0])

    agree(f, np.arange(3, dtype=np.uint16), np.ones(3, np.float32))


LEAST = (
    0, 1, -1, 127, 128, 255, 256, -128, -129, 32767, 32768, 65535, 65536, -32768, -32769, 2**31 - 1, 2**31, 2**32 - 1,
    2**32, -(2**31), -(2**31) - 1, 2**63 - 1, -(2**63),
)  # fmt: skip
"""Ints about which the least dtype changes."""


@pytest.mark.slow
def test_the_least_dtype_of_an_int_of_the_run_time() -> None:
    f = program("""
        def f(a, k):
            n = int(a[k])
            x, y = np.min_scalar_type(n), np.min_scalar_type(a[k])
            return x, y, np.promote_types(x, np.int8) == np.int16, a[:2].astype(x), np.zeros(2, y)
    """)
    for dtype in some(7, (np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16, np.uint32)):
        given = [n for n in LEAST if np.iinfo(dtype).min <= n <= min(np.iinfo(dtype).max, 2**32 - 1)]
        for k in some(len(given), range(len(given))):
            agree(f, np.array(given, dtype), k)
    g = program("def f(a, n):\n    return [np.min_scalar_type(a[k]) for k in range(3)], np.min_scalar_type(n)")
    for n in some(12, LEAST):
        agree(g, np.array([2**64 - 1, 2**63, 7], np.uint64), n)


def test_the_least_dtype_is_refused_where_it_is_longlong() -> None:
    f = tracebuf.bufferize(program("def f(a):\n    return a.astype(np.min_scalar_type(int(a[0])))"))
    agree(f, np.array([2**32 - 1]))
    if np.min_scalar_type(2**40).char not in "LI":
        with pytest.raises(tracebuf.UnsupportedError, match="min_scalar_type is ulonglong"):
            f(np.array([2**32]))
    g = program("def f(a, b):\n    return np.min_scalar_type(a[0]), np.min_scalar_type(b[()])")
    for n in (3, -3, 2**31, -(2**31) - 1):
        agree(g, np.array([n], np.longlong), np.array(n, np.longlong))


@pytest.mark.slow
def test_the_least_dtype_of_a_float_of_the_run_time() -> None:
    f = program("def f(a, x):\n    return np.min_scalar_type(a[0]), np.min_scalar_type(x), np.min_scalar_type(a.sum())")
    for x in (0.5, 64999.9, 65000.0, -65000.0, 3.4e38, 3.39e38, -3.4e38, 1e300, np.inf, -np.inf, np.nan):
        for dtype in (np.float64, np.float32, np.float16):
            with np.errstate(all="ignore"):
                agree(f, np.array([x], dtype), x)
    agree(program("def f(a):\n    return np.min_scalar_type(a[0] > 1), np.min_scalar_type(a.max() > 1)"), np.ones(2))
    for number in ("a", "a[()]"):
        f = program(f"def f(a):\n    return np.min_scalar_type({number})")
        for x in (3, 300, -300, 1e5, 2.5, True):
            agree(f, np.array(x))
    with pytest.raises(tracebuf.UnsupportedError, match="min_scalar_type of a complex number"):
        tracebuf.bufferize(lambda a: np.min_scalar_type(a[0]))(np.ones(2, complex))


@pytest.mark.slow
def test_images_are_offset_in_the_least_dtype() -> None:
    f = program("""
        def f(image):
            low, high = int(image.min()), int(image.max())
            if low < 0:
                dtype = np.promote_types(np.min_scalar_type(high - low), np.min_scalar_type(low))
                if image.dtype != dtype:
                    image = image.astype(dtype)
                image = image - low
            return np.bincount(image.ravel(), minlength=high - min(low, 0) + 1)
    """)
    for low, high in some(3, ((-40, 90), (-4, 9), (3, 70), (-300, 2), (-1, 40000), (0, 0))):
        for dtype in some(2, (np.int64, np.int32)):
            agree(f, np.linspace(low, high, 12).astype(dtype).reshape(3, 4))


def test_arrays_of_none() -> None:
    """`x, y = np.array(x), np.array(y)` before it is looked at what there is."""
    f = program("""
        def f(x, y=None):
            x, y = np.array(x), np.asarray(y)
            if x.ndim == 1:
                if x.size != y.size:
                    raise ValueError("of another size")
                return x * 2 if y.shape == () else x * y
            return x.sum() + y.ndim, y.shape, y.dtype, y.nbytes, isinstance(y, np.ndarray), y is None
    """)
    for x in (np.ones((2, 3)), np.ones(3), np.ones(1)):
        agree(f, x)
        agree(f, x, None)
        agree(f, x, np.ones(3))
    for body in ("y.size", "getattr(y, 'foo', 3)", "y.foo", "type(y)", "y is np.array(None)", "hasattr(y, 'shape')"):
        agree(program(f"def f(x, y=None):\n    y = np.array(y)\n    return {body}, x"), np.ones(2))


@pytest.mark.parametrize("body", one_in(2, (
    "y", "[y]", "y == None", "y.item()", "y + 1", "x + y", "x[y]", "not y", "y or x", "y.T", "np.array(y)", "np.sum(y)",
    "str(y)", "f'{y}'", "y[()]", "len(y)", "list(y)", "np.array([y, y])", "np.ravel(y)", "np.shape(y)", "hash(y)",
    "np.add(x, y, out=x)", "max(y, 1)", "y in [1]", "np.isnan(y)", "sum(y)",
)))  # fmt: skip
def test_arrays_of_none_are_refused_elsewhere(body: str) -> None:
    f = program(f"def f(x, y=None):\n    y = np.array(y)\n    return {body}")
    with pytest.raises(tracebuf.UnsupportedError):
        tracebuf.bufferize(f)(np.ones(2))


def test_arguments_bound_to_a_signature() -> None:
    namespace = {"inspect": inspect, "g": lambda x, y=2, *more, **named: None}
    f = program(
        """
def f(x, z):
    signature = inspect.signature(g)
    kinds = [p.name for p in signature.parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    bound = signature.bind(x, 3.0, z, k=x + 1)
    short = signature.bind(x)
    short.apply_defaults()
    found = {k: v for k, v in bound.arguments.items() if k not in kinds}
    return found["x"] * found["y"], bound.args[2], bound.kwargs["k"], short.arguments["y"], list(short.arguments)
""",
        **namespace,
    )
    agree(f, np.arange(3.0), 2.0)
    agree(program("def f(x):\n    return inspect.signature(g).bind(y=x)", **namespace), np.arange(3.0))


def test_attributes_found_without_asking() -> None:
    text = "def f(a, n):\n    return [inspect.getattr_static(x, 'iloc', None) is None for x in (a, n, [a], 'a')], a"
    agree(program(text, inspect=inspect), np.arange(3.0), 1)


def test_types_with_items() -> None:
    text = "def f(a):\n    kind = list[int]\n    b: dict[str, float] = {}\n    return a * 2, b, kind is None"
    agree(program(text), np.ones(3))


ASKED_OF_THE_TRACERS = ("iter(a)", "zip(a, a)", "enumerate(a)", "map(abs, a)", "sys.stdout", "slice(len(a))")


@pytest.mark.parametrize("text", ASKED_OF_THE_TRACERS)
@pytest.mark.cases(3)
def test_what_an_object_of_the_tracers_has_is_eagers_or_refused(text: str) -> None:
    """hasattr said False, and getattr gave the default."""
    f = program(f"import sys\ndef f(a):\n    x = {text}\n    return hasattr(x, '__next__'), hasattr(x, 'isatty')")
    a = np.arange(3.0)
    try:
        found = tracebuf.bufferize(f)(a)
    except tracebuf.UnsupportedError:
        return
    assert found == f(a)


def test_with_of_what_has_no_exit_is_refused() -> None:
    for x in ("iter(a)", "a", "range(3)"):
        f = program(f"def f(a):\n    x = {x}\n    with x as y:\n        a = a + 1\n    return a")
        with pytest.raises(tracebuf.UnsupportedError, match="`with`"):
            tracebuf.bufferize(f)(np.arange(3.0))


WHOSE = (
    "x.base is None", "x.base is a", "x.base is x", "x[...].base is x", "x[:1].base is x", "a.base is None",
    "a[:1].base is a", "a.T[1:].T.base is a", "x.base is b", "b.base is x", "x.flags.owndata", "x.flags['OWNDATA']",
    "a.flags.owndata", "x.T.flags.owndata",
)  # fmt: skip


@pytest.mark.parametrize("layout", one_in(6, MATRICES))
@pytest.mark.cases(4)
def test_whose_memory_an_array_is(layout: str) -> None:
    given, told = MATRICES[layout], 0
    for made in MADE:
        f = program(f"def f(a):\n    x = {made}\n    b = a + 1\n    return {', '.join(WHOSE)}")
        g = tracebuf.bufferize(f)
        try:
            for a in (given, given.copy()):
                assert g(a) == f(a), made
            told += 1
        except (tracebuf.UnsupportedError, ValueError, IndexError, np.exceptions.AxisError):  # of eager too
            continue
    assert told > 30


MEMORY = (
    "a.data == b.data", "a.data != b.data", "a.data == a.copy().data", "a.data is None", "a.data is a.data",
    "a.data < b.data", "a.data.contiguous", "a.data.c_contiguous", "a.data.f_contiguous", "a.data.nbytes",
    "a.data.shape", "a.data.format", "a.data.tolist()", "a.data.readonly", "a.data.obj is a", "a.data.itemsize",
    "a.data.ndim", "a.data.strides", "a.data.nope",
)  # fmt: skip


@pytest.mark.parametrize("asked", MEMORY)
@pytest.mark.cases(3)
def test_what_is_asked_of_a_memoryview(asked: str) -> None:
    f = program(f"def f(a, b):\n    return {asked}")
    x, m = np.arange(4.0), np.arange(12).reshape(3, 4)
    nan = np.full(3, np.nan, np.float32)
    for a, b in ((x, x + 0), (x, x + 1), (x[::2], x[::2]), (m, m), (m, m.T), (m.T, m.T), (nan, nan), (x, x[1:])):
        agree(f, a.copy("K"), b.copy("K"))
        agree(f, a[:, ::2] if a.ndim > 1 else a[::-1], b)


def test_attributes_and_globals_are_asked_whose_memory_they_are() -> None:
    class Held:
        def __init__(self) -> None:
            self.w, self.v = np.arange(6.0).reshape(2, 3), np.arange(3.0)

    text = "return x.w.base is None, x.v.base is None, x.w.T.base is x.w, x.v[1:].base is x.v, G.base is None"
    for given in (np.arange(4.0), np.arange(4.0)[1:]):
        agree(program(f"def f(x):\n    {text}, G[1:].base is G", G=given), Held())
    f = program("def f(a):\n    b = a if a.base is None else a.copy()\n    b += 1\n    return b")
    for given in (np.arange(4.0), np.arange(4.0)[1:]):
        g = tracebuf.bufferize(f)
        assert (g(given) is given) == (given.base is None)
    asked = program("def f(a):\n    return a.base is None, a[1:].base is a")
    climb(asked, (np.ones(3),))
    g = tracebuf.bufferize(asked)
    assert [g(x) for x in (np.ones(3), np.ones(4)[1:], np.ones(5))] == [(True, True), (False, False), (True, True)]
    assert len(g.specializations()) == 1


def test_what_is_made_of_one_array_or_another_owns_its_memory() -> None:
    for made in ("x + 1", "np.concatenate([x, b])", "x.copy()", "np.where(x > 1, x, b)", "x[::2].copy()"):
        text = f"x = a if a[0] > 1 else b.T\n    y = {made}\n    return y.base is None, y[1:].base is y"
        f = program(f"def f(a, b):\n    {text}")
        agree(f, np.arange(3.0), np.arange(3.0))
        agree(f, np.arange(3.0) + 2, np.arange(3.0))


def test_what_is_asked_of_memory_and_refused() -> None:
    asks = ("a.base is b", "a.base is b.base", "a.base.shape", "a.data.tobytes()", "a.data == a", "a.data == m.data")
    for asked in asks:
        f = program(f"def f(a, b, m):\n    return {asked}")
        refused(f, np.ones(3), np.ones(3), np.ones(3, np.float16), "a")
