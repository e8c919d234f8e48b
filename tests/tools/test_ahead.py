"""Programs compiled before they are called: specs in the place of arguments, `Compiled`, its file, and `precompile`."""

from __future__ import annotations

import itertools
import linecache
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.params import slow_but
from tracebuf import BufferizedFunction, Compiled, TracebufError, UnsupportedError, bufferize, cache, load, spec
from tracebuf.api import Specialization
from tracebuf.errors import InternalError
from tracebuf.frontends.numpy.call import provenance
from tracebuf.persist import saved
from tracebuf.persist.precompile import argument, main
from tracebuf.specs import Spec, examples, sizes_of

pytestmark = pytest.mark.fast_tier

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def in_no_cache() -> Iterator[None]:
    before = cache.info()
    cache.use(None)
    yield
    cache.use(before.directory, limit=before.limit)


def program(f: BufferizedFunction) -> Specialization:
    (found,) = f.specializations()
    assert isinstance(found, Specialization)
    return found


# -- specs
@pytest.mark.parametrize(
    ("text", "dtype", "sizes", "number"),
    [
        ("f8[n, m]", "float64", ("n", "m"), ""),
        ("float64[n]", "float64", ("n",), ""),
        (" complex128 [ 3 , n ] ", "complex128", (3, "n"), ""),
        ("bool[]", "bool", (), ""),
        ("?[()]", "bool", (), ""),
        ("np.float16[0, 1]", "float16", (0, 1), ""),
        ("i4[größe]", "int32", ("größe",), ""),
        ("float", None, (), "float"),
        ("bool", None, (), "bool"),
        ("np.float32", None, (), "np.float32"),
        ("np.int_", None, (), "np.int64"),
    ],
)
def test_texts_of_specs(text: str, dtype: str | None, sizes: tuple[Any, ...], number: str) -> None:
    s = spec(text)
    assert (s.dtype and s.dtype.name, s.sizes, s.number) == (dtype, sizes, number)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("f8[n, 2m]", "'2m' (column 7) is no size"),
        ("f8[n,]", "'' (column 6) is no size"),
        ("f8[-1]", "'-1' (column 4) is no size"),
        ("f8[n", "'[n' (column 3) cannot be read"),
        ("f8[n] x", "'x' (column 7) cannot be read"),
        ("", "'' (column 1) cannot be read"),
        (">f8[n]", "'>f8[n]' (column 1) cannot be read"),
        ("q8[n]", "'q8' (column 1) is no dtype"),
        ("object[n]", "'object' (column 1) is no dtype"),
        ("longlong[n]", "'longlong' (column 1) is no dtype"),
        ("float64", "float64[n] one of an axis"),
        ("str", "'str' (column 1) is no type of a number"),
        ("np.longdouble", "is no type of a number"),
        ("f8[n] (G)", "'G' (column 8) is no option"),
        (f"f8[{', '.join('n' * 65)}]", "64 at most"),
    ],
)
def test_errors_of_specs_name_the_place_and_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        spec(text)


def test_options_of_specs() -> None:
    with pytest.raises(ValueError, match="none of C, F, unit, strided"):
        spec("f8[n]", order="K")  # type: ignore[arg-type]
    assert spec("f8[n] (F, read-only)").order == "F" and not spec("f8[n] (F, read-only)").writable
    same = spec("f8[n]", order="strided", writable=False)
    assert repr(same) == "spec('f8[n]', order='strided', writable=False)"
    assert repr(spec("f8[n] (F)")) == "spec('f8[n] (F)')"
    assert (same.order, same.writable) == ("strided", False)


@pytest.mark.parametrize(
    ("words", "like"),
    [
        ("", lambda x: x),
        ("(F)", lambda x: np.asfortranarray(x)),
        ("(unit)", lambda x: x[:, :-1]),
        ("(strided)", lambda x: x[:, ::2]),
        ("(read-only)", lambda x: np.broadcast_to(x, x.shape)),
    ],
)
def test_order_and_writability_are_those_of_real_arrays(words: str, like: Callable[[np.ndarray], np.ndarray]) -> None:
    f = bufferize(lambda x: x * 2)
    compiled = f.lower(spec(f"f8[n, m] {words}")).compile()
    x = like(np.arange(24.0).reshape(4, 6))
    if words == "(read-only)":
        x = np.array(x)
        x.flags.writeable = False
    assert np.array_equal(compiled(x), x * 2)
    assert np.array_equal(f(x), x * 2) and program(f).calls == 2


def test_equal_names_are_equal_sizes_and_others_differ() -> None:
    (x, y, (z,)), kwargs, sizes = examples((spec("f8[n, m]"), spec("i4[m, 1009]"), [spec("bool[n]")]), {})
    assert sizes is not None and not kwargs
    assert x.shape == (sizes["n"], sizes["m"]) and y.shape == (sizes["m"], 1009) and z.shape == (sizes["n"],)
    assert len({*sizes.values(), 1009, 7}) == 4


def test_examples_are_small() -> None:
    specs = [spec(f"c16[{', '.join('abcdefgh'[:k])}]") for k in range(9)]
    assert all(s.example(sizes_of(specs)).nbytes <= 2**26 for s in specs)
    with pytest.raises(ValueError, match="give names in the place of numbers"):
        bufferize(lambda x: x).lower(spec("f8[1000000, 1000000, 1000000]"))


class Pair(NamedTuple):
    x: Any
    y: Any


@dataclass
class State:
    u: Any
    dt: Any = 0.1


class Slotted:
    __slots__ = ("u",)

    def __init__(self, u: Any) -> None:
        self.u = u


def test_specs_in_containers() -> None:
    @bufferize
    def f(p: Any, pair: Any, state: Any, slotted: Any) -> Any:
        return p["w"][0] * pair.x + state.u * state.dt + slotted.u, pair.y

    s, untouched = spec("f8[n]"), {"k": [1.0]}
    given = {"w": [s, untouched]}, Pair(s, 2.0), State(s), Slotted(s)
    compiled = f.lower(*given).compile()
    x = np.arange(5.0)
    args: tuple[Any, ...] = {"w": [x, untouched]}, Pair(x + 1, 2.0), State(x + 2), Slotted(x + 3)
    a, b = compiled(*args), f.__wrapped__(*args)
    assert np.array_equal(a[0], b[0]) and a[1] == b[1]
    assert given[0]["w"][0] is s and given[2].u is s, "the caller's own are as they were"
    made, _, _ = examples(given, {})
    assert made[0]["w"][1] is untouched and made[0] is not given[0]


def test_a_container_that_occurs_twice_stays_one() -> None:
    shared = [spec("f8[n]")]
    (a, b, c), _, _ = examples((shared, {"also": shared}, shared), {})
    assert a is b["also"] is c and isinstance(a[0], np.ndarray)
    itself: list[Any] = [spec("f8[n]")]
    itself.append(itself)
    examples((itself,), {})  # ends


def test_without_specs_arguments_are_as_they_are() -> None:
    args: tuple[Any, ...] = ([1.0], {"a": State(2.0)})
    made, kwargs, sizes = examples(args, {"k": 1})
    assert made is args and kwargs == {"k": 1} and sizes is None


def test_the_example_is_named_in_errors() -> None:
    with pytest.raises(ValueError, match="broadcast") as caught:
        bufferize(lambda x, y: x + y).lower(spec("f8[n]"), spec("f8[m]"))
    assert "as an example, n is 1009, m is 1013" in caught.value.__notes__[-1]


@pytest.mark.slow
def test_explain_and_memory_and_trace_of_specs() -> None:
    @bufferize
    def f(x: Any, rounds: Any) -> Any:
        for _ in range(rounds):
            x = np.roll(x, 1) + 1
        return x.sum()

    given = spec("f8[n]"), spec("int")
    assert "8*len(x)" in str(f.explain(*given))
    assert str(f.lower(*given).memory().peak) == str(f.lower(np.ones(9), 3).memory().peak)
    call, _ = f.trace(*given)
    assert call.keys == f.trace(np.ones(9), 3)[0].keys


def test_a_spec_is_no_argument_of_a_call() -> None:
    with pytest.raises(UnsupportedError, match="is of type Spec"):
        bufferize(lambda x: x)(spec("f8[n]"))


# -- compiled programs
def test_the_function_has_the_program_from_then_on() -> None:
    f = bufferize(lambda u, v, dt: u[1:] * dt + v[:-1].sum())
    s = spec("f8[n]")
    compiled = f.lower(s, s, spec("float")).compile()
    kernel = program(f).kernel
    for n in (2, 5, 1000):
        args = np.arange(float(n)), np.ones(n), 0.5
        assert np.array_equal(compiled(*args), f.__wrapped__(*args))
        agree(f, *args)
    assert program(f).kernel is kernel
    assert compiled.function is f and str(compiled).endswith("for (float64[n], float64[n], float)")
    assert "linalg.generic" in compiled.as_text("tensor") or "arith" in compiled.as_text("tensor")


def test_compile_of_real_arguments_too() -> None:
    f = bufferize(lambda x, k: x * k)
    x = np.arange(3.0)
    f(x, 2.0)
    compiled = f.lower(x, spec("float")).compile()
    assert np.array_equal(compiled(x, 3.0), x * 3.0) and program(f).calls == 2


@bufferize
def step(u: Any, v: Any, dt: Any, mode: Any = "add") -> Any:
    u += dt * v
    return u.max() if mode == "add" else u.min()


@pytest.fixture(scope="module")
def compiled_step() -> Compiled:
    s = spec("f8[n, m]")
    return step.lower(s, s, spec("float")).compile()


SQUARE = np.arange(16.0).reshape(4, 4)
WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = {
    "dtype": ((SQUARE, SQUARE.astype("f4"), 0.1), {}, TypeError, "not for (float64[n, n], float32[n, n], float"),
    "rank": ((SQUARE, SQUARE[0], 0.1), {}, TypeError, "float64[n], float"),
    "a size of 1": ((SQUARE[:1], SQUARE[:1] + 1, 0.1), {}, TypeError, "float64[1, n]"),
    "layout": ((SQUARE, SQUARE.T.copy("K"), 0.1), {}, TypeError, "axes (1, 0)"),
    "other sizes": ((SQUARE, np.ones((5, 4)), 0.1), {}, ValueError, "these arguments have not"),
    "an int": ((SQUARE, SQUARE + 1, 1), {}, TypeError, "float64[n, n], int"),
    "a constant": ((SQUARE, SQUARE + 1, 0.1, "sub"), {}, TypeError, "='sub'"),
    "one array twice": ((SQUARE, SQUARE, 0.1), {}, TypeError, "which of them are one array"),
    "arrays that overlap": (
        (SQUARE[1:, :], SQUARE[:-1, :], 0.1),
        {},
        ValueError,
        "overlap in memory and are stored to",
    ),
    "too few": ((SQUARE,), {}, TypeError, "missing 2 required positional arguments"),
    "an unknown name": ((SQUARE, SQUARE + 1), {"step": 0.1}, TypeError, "unexpected keyword argument"),
    "no argument at all": ((SQUARE, {1}, 0.1), {}, UnsupportedError, "argument `v` is of type set"),
    "longlong": ((SQUARE, SQUARE.astype("q").view("longlong"), 0.1), {}, TypeError, "longlong[n, n]"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_of_a_compiled_program(compiled_step: Compiled, case: str) -> None:
    args, kwargs, kind, said = WRONG[case]
    with pytest.raises(kind, match=re.escape(said)):
        compiled_step(*args, **kwargs)
    assert np.array_equal(SQUARE, np.arange(16.0).reshape(4, 4)), "nothing has run"


def test_a_compiled_program_takes_keywords_and_out() -> None:
    f = bufferize(lambda x, k=2.0: x * k)
    compiled = f.lower(spec("f8[n]"), k=spec("float"), out=spec("f8[n]")).compile()
    x, out = np.arange(4.0), np.empty(4)
    assert compiled(x, k=3.0, out=out) is out and np.array_equal(out, 3 * x)
    assert compiled(k=2.0, x=x, out=out) is out and np.array_equal(out, 2 * x)
    with pytest.raises(TypeError, match=r"out: float64\[n\]\), not for \(float64\[n\], float\)"):
        compiled(x, 3.0)


def test_static_arguments_and_donations() -> None:
    @bufferize(static_argnames="order", donate="x")
    def f(x: Any, order: Any) -> Any:
        return x * 2 + order

    compiled = f.lower(spec("f8[n]"), 3).compile()
    x = np.arange(4.0)
    assert np.shares_memory(compiled(x, 3), x)
    with pytest.raises(TypeError, match="=4"):
        compiled(x, 4)


TABLE, SCALE = np.arange(4.0), 2.0


def test_captured_arrays_are_fetched_and_captured_numbers_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    f = bufferize(lambda x: x * TABLE + SCALE)
    compiled = f.lower(spec("f8[4]")).compile()
    x = np.ones(4)
    assert np.array_equal(compiled(x), TABLE + 2)
    monkeypatch.setitem(globals(), "TABLE", TABLE + 1)
    assert np.array_equal(compiled(x), TABLE + 2)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    with pytest.raises(TracebufError, match="a name from outside that it was made with has changed"):
        compiled(x)
    assert np.array_equal(f(x), TABLE + 3)
    monkeypatch.setitem(globals(), "TABLE", np.ones((2, 4), "f4"))
    with pytest.raises(TypeError, match="captured"):
        compiled(x)


def test_a_program_stays_when_the_function_meets_other_arrays() -> None:
    tables = [np.ones(3), np.full(3, 2.0)]

    def picked(x: Any, which: Any) -> Any:
        return x * tables[0] if which == 0 else x * tables[1] + tables[0]

    f = bufferize(static_argnames="which")(picked)
    compiled = f.lower(spec("f8[3]"), 0).compile()
    x = np.arange(3.0)
    for _ in range(3):
        assert np.array_equal(f(x, 1), x * 2 + 1)
        assert np.array_equal(compiled(x, 0), x)


def test_methods() -> None:
    class Model:
        def __init__(self, w: np.ndarray) -> None:
            self.w = w

        @bufferize
        def apply(self, x: Any) -> Any:
            return x * self.w

    model, x = Model(np.arange(3.0)), np.ones(3)
    compiled = model.apply.lower(spec("f8[3]")).compile()
    assert np.array_equal(compiled(model, x), model.w)
    assert np.array_equal(model.apply(x), model.w)
    assert program(Model.apply).calls == 2


def test_what_runs_the_original_is_not_compiled() -> None:
    f = bufferize(max_specializations=1)(lambda x: x * 2)
    f(np.ones(3))
    with pytest.raises(UnsupportedError, match="these arguments run the original function"):
        f.lower(spec("f4[n]")).compile()


def test_texts_alone_are_not_compiled() -> None:
    with pytest.raises(ValueError, match="no function"):
        tracebuf.stages.Lowered({}).compile()


@pytest.mark.parametrize("tier", slow_but(["auto"], ["auto", "fast"]))
def test_compiled_programs_have_fast_code(tier: str) -> None:
    def f(x: Any) -> Any:
        for k in range(30):
            x = np.sqrt(x[1:] + k) * np.exp(-x[:-1])
        return x

    made = bufferize(tier=tier)(f)
    made.lower(spec("f8[100]")).compile()
    assert program(made).kernel.code.tier == "fast"


# -- files
_numbers = itertools.count()
HEAD = """
import enum
import functools
import numpy as np
import tracebuf
from tracebuf import bufferize, spec
"""


def module_of(text: str, name: str = "saved_example") -> types.ModuleType:
    """A module of this text, made anew, under one name and in one file, as in another process."""
    made = types.ModuleType(name)
    made.__file__ = file = f"<{name}>"
    full = HEAD + text
    linecache.cache[file] = (len(full), None, full.splitlines(True), file)
    sys.modules[name] = made
    provenance.code_digest.cache_clear()
    exec(compile(full, file, "exec"), made.__dict__)
    return made


def refuse_to_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    def traced(*_: object) -> None:
        raise InternalError("it was traced")

    monkeypatch.setattr(tracebuf.stages, "trace", traced)


FILES = {
    "plain": ("@bufferize\ndef f(x, k):\n    return x * k + 1\n", lambda: (np.arange(5.0), 2.0)),
    "captured": (
        "TABLE, SCALE = np.arange(5.0), 3\n"
        "def helper(x):\n    return x * SCALE\n"
        "@bufferize\ndef f(x, k):\n    return helper(x) * TABLE + k\n",
        lambda: (np.arange(5.0), 2.0),
    ),
    "containers": (
        "@bufferize\ndef f(p, k):\n    p['w'] -= k\n    return {'sum': p['w'].sum(), 'b': p['b']}\n",
        lambda: ({"w": np.ones(3), "b": (1.0, np.arange(2))}, 2.0),
    ),
    "two loops and a product": (
        "@bufferize\ndef f(x, k):\n    y = np.tanh(x @ x.T)\n    return (y * k).sum(axis=0), y.max()\n",
        lambda: (np.arange(6.0).reshape(2, 3), 2.0),
    ),
    "functions of Python's": (
        "def called(x, k):\n    return x * k\n"
        "NAMELESS = lambda x: x - 1\n"
        "@bufferize\ndef f(x, k):\n"
        "    y = tracebuf.host_call(called, x, k, result_shape=x.shape)\n"
        "    z = tracebuf.host_call(NAMELESS, x, result_shape=x.shape)\n"
        "    return np.unique(y, return_counts=True), np.linalg.lstsq(x[:, None], z)[0], np.sort(z)\n",
        lambda: (np.arange(5.0), 2.0),
    ),
    "constants": (
        "class Mode(enum.Enum):\n    ADD = 1\n"
        "@bufferize\ndef f(x, mode, axis=(0, 1)):\n    return x.sum(axis=axis) if mode is Mode.ADD else x\n",
        lambda: (np.ones((2, 3)), sys.modules["saved_example"].Mode.ADD),
    ),
}


@pytest.mark.parametrize("case", slow_but(["plain", "captured", "containers", "constants"], FILES))
def test_a_saved_program_is_loaded_and_runs_without_tracing(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, args = FILES[case]
    path = tmp_path / "program"
    module_of(text).f.lower(*args()).compile().save(path)
    assert not list(tmp_path.glob("*.new"))
    f = module_of(text).f
    refuse_to_trace(monkeypatch)
    loaded = load(path)
    assert loaded.function is f
    first, second = args(), args()
    assert repr(loaded(*first)) == repr(f.__wrapped__(*second)) and repr(first) == repr(second)
    agree(f, *args())
    assert program(f).loaded and program(f).calls == 2
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("first", ["loaded", "f"])
def test_the_function_and_the_loaded_one_run_one_program(first: str, tmp_path: Path) -> None:
    text, _ = FILES["captured"]
    module_of(text).f.lower(spec("f8[5]"), spec("float")).compile().save(tmp_path / "program")
    f = module_of(text).f
    loaded = load(tmp_path / "program")
    calls = [loaded, f] if first == "loaded" else [f, loaded]
    for call in calls * 2:
        assert np.array_equal(call(np.ones(5), 1.0), f.__wrapped__(np.ones(5), 1.0))
    assert program(f).calls == 4


def test_a_loaded_program_takes_only_its_own_arguments(tmp_path: Path) -> None:
    text = "@bufferize\ndef f(x, y):\n    return x * y\n"
    module_of(text).f.lower(spec("f8[n]"), spec("f8[n]")).compile().save(tmp_path / "program")
    loaded = (f := module_of(text).f) and load(tmp_path / "program")
    with pytest.raises(TypeError, match=r"was compiled for \(float64\[n\], float64\[n\]\), not for \(float32"):
        loaded(np.ones(3, "f4"), np.ones(3))
    with pytest.raises(ValueError, match="these arguments have not"):
        loaded(np.ones(3), np.ones(4))
    with pytest.raises(TracebufError, match="without texts"):
        loaded.as_text()
    agree(f, np.ones(3, "f4"), np.ones(3))
    assert not program(f).loaded


CHANGES = {
    "the function": ("k + 1", "k + 2", "example.f is not what it was: its code"),
    "its default": ("def f(x, k):", "def f(x, k=1):", "is not what it was"),
    "its file": ("HELLO = 0", "HELLO = 1", "the text of its file"),
    "its options": ("@bufferize", "@bufferize(strategy='copy-before-write')", "is not what it was|options"),
    "what it captures": ("SCALE = 3", "SCALE = 4", "is not what it was"),
}
CHANGED = """HELLO = 0
SCALE = 3
def helper(x):
    return x * SCALE
@bufferize
def f(x, k):
    return helper(x) * k + 1
"""


@pytest.mark.parametrize("case", CHANGES)
def test_a_program_of_what_has_changed_is_refused(case: str, tmp_path: Path) -> None:
    old, new, said = CHANGES[case]
    path = tmp_path / "program"
    module_of(CHANGED).f.lower(spec("f8[n]"), spec("float")).compile().save(path)
    f = module_of(CHANGED.replace(old, new)).f
    with pytest.raises(TracebufError, match=said):
        load(path)
    agree(f, np.ones(3), 2.0)
    assert not program(f).loaded


def test_what_differs_without_another_text(tmp_path: Path) -> None:
    path = tmp_path / "program"
    module_of(CHANGED).f.lower(spec("f8[n]"), spec("float")).compile().save(path)
    again = module_of(CHANGED)
    again.SCALE = 5
    with pytest.raises(TracebufError, match="`SCALE` is not what it was"):
        load(path)
    again.SCALE = 3
    again.f = bufferize(strategy="copy-before-write")(again.f)
    with pytest.raises(TracebufError, match="the options of saved_example.f are not what they were"):
        load(path)
    again.f = again.f.__wrapped__
    with pytest.raises(TracebufError, match="which is a function and not bufferized"):
        load(path)
    del again.f
    with pytest.raises(TracebufError, match=r"where there is no such name; load\(path, function=...\)"):
        load(path)
    del sys.modules["saved_example"]
    with pytest.raises(TracebufError, match="which cannot be imported"):
        load(path)


def test_which_values_are_one_object_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "program"
    text = (
        "def g(x):\n    return x\n"
        "H = g\n"
        "@bufferize\ndef f(x):\n    return x + 1 if g is H else x - 1\n"
    )
    module_of(text).f.lower(spec("f8[n]")).compile().save(path)
    module = module_of(text)
    module.H = types.FunctionType(module.g.__code__, module.__dict__, "g")
    loaded = load(path)
    with pytest.raises(TracebufError, match="is stale"):
        loaded(np.ones(3))
    agree(module.f, np.ones(3))
    assert not program(module.f).loaded


def test_what_changes_after_loading_is_seen_at_the_call(tmp_path: Path) -> None:
    path = tmp_path / "program"
    module_of(CHANGED).f.lower(spec("f8[n]"), spec("float")).compile().save(path)
    module = module_of(CHANGED)
    loaded = load(path)
    module.SCALE = 5
    with pytest.raises(TracebufError, match="is stale"):
        loaded(np.ones(3), 2.0)
    agree(module.f, np.ones(3), 2.0)
    assert not program(module.f).loaded


def test_a_function_is_given(tmp_path: Path) -> None:
    path, text = (
        tmp_path / "program",
        "def make():\n    @bufferize\n    def f(x):\n        return x * 2\n    return f\n",
    )
    module_of(text).make().lower(spec("f8[n]")).compile().save(path)
    f = module_of(text).make()
    with pytest.raises(TracebufError, match="no such name"):
        load(path)
    assert np.array_equal(load(path, function=f)(np.ones(3)), np.full(3, 2.0))
    with pytest.raises(TypeError, match="load takes a bufferized function, not a function"):
        load(path, f.__wrapped__)
    with pytest.raises(TracebufError, match="is not what it was"):
        load(path, bufferize(lambda x: x * 3))


@pytest.mark.parametrize("name", ["NumPy", "processor", "tracebuf", "Python"])
def test_another_environment_is_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, text = tmp_path / "program", FILES["plain"][0]
    module_of(text).f.lower(spec("f8[n]"), spec("float")).compile().save(path)
    module_of(text)
    here = saved.environment()
    monkeypatch.setattr(saved, "environment", lambda: here | {name: "another"})
    with pytest.raises(TracebufError, match=f"it was made with (another )?{name}"):
        load(path)


class Called:
    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.sort(x)


def test_what_cannot_be_saved(tmp_path: Path) -> None:
    called = Called()
    hosted = bufferize(lambda x: tracebuf.host_call(called, x, result_shape=3))
    with pytest.raises(UnsupportedError, match="a value from outside of type Called"):
        hosted.lower(spec("f8[3]")).compile().save(tmp_path / "program")
    quick = bufferize(tier="quick")(lambda x: x * 2)
    with pytest.raises(UnsupportedError, match="no fast code"):
        quick.lower(spec("f8[n]")).compile().save(tmp_path / "program")
    thing = object()
    odd = bufferize(static_argnames="o")(lambda x, o: x * 2)
    with pytest.raises(UnsupportedError, match="a value from outside of type object"):
        odd.lower(spec("f8[n]"), thing).compile().save(tmp_path / "program")
    assert not list(tmp_path.iterdir())
    with pytest.raises(OSError, match="No such file"):
        bufferize(lambda x: x * 2).lower(spec("f8[n]")).compile().save(tmp_path / "no" / "program")


def test_a_damaged_file_is_refused_whatever_byte_it_is(tmp_path: Path) -> None:
    path = tmp_path / "program"
    module_of(FILES["plain"][0]).f.lower(spec("f8[n]"), spec("float")).compile().save(path)
    good = path.read_bytes()
    for k in range(len(good)):
        bad = bytearray(good)
        bad[k] ^= 1 << k % 8
        assert refused(bytes(bad))
    for k in range(0, len(good), 7):
        assert refused(good[:k])
    assert refused(good + b"\0") and refused(b"") and not refused(good)
    path.write_bytes(bytes(bad))
    with pytest.raises(TracebufError, match="is damaged"):
        load(path)
    path.write_bytes(b"text")
    with pytest.raises(TracebufError, match="no program that this version of tracebuf has saved"):
        load(path)


def refused(data: bytes) -> bool:
    try:
        saved.check(data, "program")  # what `load` asks before all else
    except TracebufError as error:
        return bool(re.search("is damaged|no program that this version", str(error)))
    return False


@pytest.mark.slow
def test_a_damaged_file_is_refused_at_each_bit(tmp_path: Path) -> None:
    path = tmp_path / "program"
    module_of(FILES["plain"][0]).f.lower(spec("f8[n]"), spec("float")).compile().save(path)
    good = path.read_bytes()
    for k, bit in itertools.product(range(len(good)), range(8)):
        bad = bytearray(good)
        bad[k] ^= 1 << bit
        assert refused(bytes(bad))


# -- the command
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-1.5", -1.5),
        ("None", None),
        ("'mean'", "mean"),
        ("(1, 2)", (1, 2)),
        ("f8[n, m]", spec("f8[n, m]")),
        ("f8[]", spec("f8[()]")),
        ("np.float32", spec("np.float32")),
        ("f8[n] (F, read-only)", spec("f8[n] (F, read-only)")),
        ("{'w': [f8[n, k], f8[ ]], 'r': float}", {"w": [spec("f8[n, k]"), spec("f8[()]")], "r": spec("float")}),
    ],
)
def test_arguments_of_the_command(text: str, value: Any) -> None:
    def plain(x: Any) -> Any:
        if isinstance(x, Spec):
            return x.dtype, x.sizes, x.number, x.order, x.writable
        if isinstance(x, dict):
            return {k: plain(v) for k, v in x.items()}
        return [plain(i) for i in x] if isinstance(x, list) else x

    assert plain(argument(text)) == plain(value)


@pytest.fixture
def solvers(tmp_path: Path) -> types.ModuleType:
    text = (
        "@bufferize\ndef step(u, v, dt):\n    u += dt * v\n    return u.max()\n"
        "class Called:\n    def __call__(self, x):\n        return x + 1\n\nCALLED = Called()\n"
        "@bufferize\ndef odd(x):\n    return tracebuf.host_call(CALLED, x, result_shape=x.shape)\n"
        "@bufferize\ndef hosted(x):\n    return tracebuf.host_call(np.sort, x, result_shape=x.shape), np.unique(x)\n"
        "def plain(x):\n    return x\n"
    )
    return module_of(text, "solvers_example")


def test_precompile_puts_programs_into_the_cache(
    solvers: types.ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ["--cache", str(tmp_path / "cache")]
    call = ["solvers_example:step", "f8[n]", "f8[n]", "dt=float", *where]
    assert main(call) == 0
    assert "compiled: solvers_example:step for (float64[n], float64[n], float)" in capsys.readouterr().out
    solvers.step = bufferize(solvers.step)
    assert main(call) == 0
    assert "was there: solvers_example:step" in capsys.readouterr().out
    solvers.step = bufferize(solvers.step)
    refuse_to_trace(monkeypatch)
    agree(solvers.step, np.ones(3), np.ones(3), 0.5)
    assert program(solvers.step).loaded


def test_precompile_says_what_fails_and_compiles_the_others(
    solvers: types.ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = tmp_path / "calls"
    calls.write_text(
        "# what the image needs\n"
        "solvers_example:odd f8[n]\n\nsolvers_example:hosted f8[n]\n"
        'solvers_example:step "f8[n]" "f8[m]" float   # other sizes\n'
        'solvers_example:step "f8[n]" "f8[2n]" float\n'
        "solvers_example:plain f8[n]\nsolvers_example:none f8[n]\nno_such_module:f\nnothing\n"
        "solvers_example:step dt=float f8[n]\n"
        "solvers_example:step 'f4[n]' 'f4[n]' float\n"
    )
    assert main(["--from", str(calls), "--cache", str(tmp_path / "cache")]) == 1
    out, err = capsys.readouterr()
    assert out == (
        "compiled: solvers_example:hosted for (float64[n])\n"
        "compiled: solvers_example:step for (float32[n], float32[n], float)\n"
    )
    for said in (
        "odd: this program cannot be kept as a whole: a value from outside of type Called",
        "broadcast", "as an example, n is 1009, m is 1013", "'2n' (column 4) is no size",
        "plain: a function, which is not bufferized", "there is no solvers_example.none",
        "No module named 'no_such_module'", "named MODULE:FUNCTION", "follows one by keyword",
    ):  # fmt: skip
        assert said in err


def test_precompile_needs_a_function_and_a_cache(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2 and "no function" in capsys.readouterr().err
    assert main(["--from", str(tmp_path / "none")]) == 2
    assert main(["solvers_example:step"]) == 1 and "there is no cache" in capsys.readouterr().err


def test_precompile_where_nothing_can_be_written(
    solvers: types.ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["solvers_example:step", "f8[n]", "f8[n]", "float", "--cache", str(tmp_path / "file")]) == 1
    assert "could not be written into" in capsys.readouterr().err


# -- several processes
def in_process(folder: Path, *args: str, **environment: str) -> str:
    env = os.environ | {"PYTHONPATH": str(ROOT), "TRACEBUF_CACHE_PROGRAMS": "1"} | environment
    done = subprocess.run([sys.executable, *args], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


SOLVERS = """
import numpy as np
from tracebuf import bufferize

@bufferize
def step(u, v, dt):
    u += dt * v
    return u.max()
"""
TRACERS = "print(sorted(m for m in sys.modules if 'numpy.interpreter' in m or m in ('llvmlite', 'tracebuf.specs')))"


@pytest.mark.slow
def test_save_in_one_process_and_load_in_another(tmp_path: Path) -> None:
    (tmp_path / "solvers.py").write_text(SOLVERS)
    save = (
        "from tracebuf import spec\nimport solvers\n"
        "solvers.step.lower(spec('f8[n]'), spec('f8[n]'), spec('float')).compile().save('program')"
    )
    in_process(tmp_path, "-c", save, TRACEBUF_CACHE_DIR="")
    use = (
        "import sys, tracebuf, numpy as np\nc = tracebuf.load('program')\n"
        "print(c(np.ones(3), np.ones(3), 0.5), c.function(np.ones(4), np.ones(4), 0.5))\n"
    )
    assert in_process(tmp_path, "-c", use + TRACERS, TRACEBUF_CACHE_DIR="") == "1.5 1.5\n[]\n"
    (tmp_path / "solvers.py").write_text(SOLVERS.replace("max", "min"))
    stale = (
        "import tracebuf\ntry:\n    tracebuf.load('program')\nexcept tracebuf.TracebufError as error:\n    print(error)"
    )
    assert "solvers.step is not what it was" in in_process(tmp_path, "-c", stale, TRACEBUF_CACHE_DIR="")


@pytest.mark.slow
def test_precompile_in_one_process_and_call_in_another(tmp_path: Path) -> None:
    (tmp_path / "solvers.py").write_text(SOLVERS)
    here = {"TRACEBUF_CACHE_DIR": str(tmp_path / "cache")}
    out = in_process(tmp_path, "-m", "tracebuf", "precompile", "solvers:step", "f8[n]", "f8[n]", "float", **here)
    assert out == "compiled: solvers:step for (float64[n], float64[n], float)\n"
    use = "import sys, solvers, numpy as np\nprint(solvers.step(np.ones(3), np.ones(3), 0.5))\n" + TRACERS
    assert in_process(tmp_path, "-c", use, **here) == "1.5\n[]\n"
