"""Functions of SciPy and of libraries built on it that cannot be traced: host calls of the functions themselves.

What a call gives (the form of its result, dtypes, sizes) is found by calling the function on stand-ins of several
sizes. A size that is one of the arguments' for all of them is known; other sizes the call tells when the program runs.
Results that differ in anything else from those for stand-ins raise TracebufError then. The libraries' functions are
taken to leave their arguments as they are, and to keep none.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations, product
from math import prod
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import int_of
from tracebuf.frontends.numpy.functions.host.callbacks import Callback, computes, values_in
from tracebuf.frontends.numpy.functions.host.calls import Fresh, number, pass_on, record, static
from tracebuf.frontends.numpy.functions.host.kinds import order_of
from tracebuf.frontends.numpy.numbers.operands import supported
from tracebuf.frontends.numpy.record.callees import Untold
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    stand_in,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, evaluate, symbols
from tracebuf.ir.types import I64, INDEX
from tracebuf.ops.scalars import arith
from tracebuf.running.host import HostFunction
from tracebuf.running.untraced import (
    Begun,
    Delivered,
    Form,
    FormOfConstant,
    FormOfNumber,
    FormOfUntold,
    MadeFunction,
    UntracedCall,
    contents,
    in_common,
    numbers_in,
    shared,
    taken_apart,
)

LIBRARIES = frozenset({"scipy", "skimage", "sklearn", "statsmodels", "librosa", "astropy"})
"""Libraries whose functions compute, and do nothing else, but for those of these packages:"""
NOT_COMPUTING = frozenset((
    "io", "datasets", "data", "testing", "_testing", "conftest", "display", "viewer", "graphics",
    "visualization", "inspection", "_shared", "_lib", "_build_utils", "config", "logger", "externals", "tools",
    "tests", "test", "example", "cache", "_cache", "version", "show_versions", "_config", "compat", "samp", "wcs",
    "table", "nddata", "units", "time", "coordinates", "extern", "core",
))  # fmt: skip
OTHER_SUBJECTS = ("set", "get", "test", "register", "skip", "show", "err", "plot", "dendrogram",
                  "load", "fetch", "save")  # fmt: skip
"""How the names of functions begin that have settings, figures or files for their subject."""
SIZES = ((12, 9), (90, 70))
"""The least sizes of stand-ins: of short ones, and, where the function raises for these, of others."""
LONG = ((3,), (40, 130, 400, 1500), (40, 130), (40,))
"""By number of axes: the least sizes of long stand-ins, of which the last one tells that takes no time."""
SHORT, SHORTEST = 8, 4
"""Sizes up to these become part of the key: up to SHORT where the function raises for others."""
LARGEST = 4096
"""The most elements of a stand-in that has its operand's sizes."""


UNCHECKED = ("scipy.interpolate._fitpack", "scipy.interpolate._dfitpack", "scipy.spatial._qhull")
"""Modules whose functions believe what they are given: stand-ins could make them read memory that is not theirs."""
CHECKED = frozenset({("scipy.optimize._lsap", "linear_sum_assignment")})
"""Functions in C that check what they are given."""


def takes(function: Any) -> bool:
    """Whether a function is one of a library's that may be called as it is: written in Python, mostly."""
    module = getattr(function, "__module__", None)
    if isinstance(function, types.BuiltinFunctionType):
        return (module, function.__name__) in CHECKED
    if not isinstance(function, types.FunctionType) or not isinstance(module, str):
        return False
    root, *packages, _ = (*module.split("."), "")
    if root not in LIBRARIES or not is_of(root, function.__globals__.get("__name__")):
        return False
    plain = not function.__name__.startswith(OTHER_SUBJECTS) and not module.startswith(UNCHECKED)
    return plain and NOT_COMPUTING.isdisjoint(packages)


def is_of(root: str, module: Any) -> bool:
    """Whether code is a library's own: a function of the user's may say that it is another's."""
    return isinstance(module, str) and module.partition(".")[0] == root


@cache
def is_librarys(file: str) -> bool:
    """Whether code belongs to one of these libraries."""
    homes = [getattr(sys.modules.get(name), "__file__", None) for name in LIBRARIES]
    return any(file.startswith(os.path.dirname(home) + os.sep) for home in homes if home)


def call(r: Recorder, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Records a call. Raises UnsupportedError where its arguments are not arrays, numbers and known values, or what it
    gives cannot be told."""
    name = public_name(function)
    named = {k: x for k, x in kwargs.items() if not k.startswith("overwrite_")}
    for x in (*args, *named.values()):
        check_argument(r, x, name)
    for parameter in ("out", "output"):
        if not isinstance(named.get(parameter), (str, types.NoneType)):
            raise r.refuse(f"`{parameter}=` of {name}", "assign the result: x[...] = ...")
    given = [static(r, x, f"a bool as an argument of {name}") if isinstance(x, PyBool) else x
             for x in (*args, *named.values())]  # fmt: skip
    probes = probe(r, function, given, tuple(named), name)
    leaves = list(numbers_in(probes[0].form))
    sizes = sizes_of(r, given, probes) if len(probes) > 2 else []
    shapes = [known_shape([p.arrays[k].shape for p in probes], sizes) for k in range(len(leaves))]
    ins: list[Value] = []
    pattern = tuple([patterned(r, x, ins) for x in given])
    made = UntracedCall(function, name, pattern, tuple(named), probes[0].form)
    unknown = [(k, axis) for k, shape in enumerate(shapes) for axis, n in enumerate(shape) if n is None]
    run: Any = made
    if unknown:
        counts = record(r, HostFunction(name, Begun(made, tuple(unknown)), returns=len(unknown)), ins,
                        [(I64, (), ())] * len(unknown))  # fmt: skip
        run, ins = Delivered(made), []
        for (k, axis), count in zip(unknown, counts, strict=True):
            index = r.emit(arith.IndexCast.of(r.load(count, ()), INDEX))
            shapes[k][axis] = r.symbol(index, "found", 0)
    fresh: list[Fresh] = [
        (supported(leaf.dtype, f"the result of {name}", r.loc), [0 if n is None else n for n in shape], order(x))
        for leaf, shape, x in zip(leaves, shapes, probes[0].arrays, strict=True)
    ]
    results = iter(record(r, HostFunction(name, run, returns=len(fresh)), ins, fresh))
    return put_together(r, probes[0].form, results)


def public_name(function: Any) -> str:
    module = ".".join(part for part in function.__module__.split(".") if part[:1] != "_")
    return f"{module}.{function.__name__}"


def check_argument(r: Recorder, x: Any, name: str) -> None:
    """Refuses what is no array, no number, no known value, no function, and no tuple, list or dict of such."""
    known = (*NUMBERS, str, types.NoneType, np.dtype, slice, range, type(Ellipsis), types.ModuleType)
    for item in values_in(x):
        of_classes = isinstance(item, type) and issubclass(item, (np.generic, *NUMBERS))
        of_libraries = not isinstance(item, type) and callable(item) and computes(item)
        if not (isinstance(item, (ArrayRef, Scalar, *known)) or of_classes or of_libraries):
            raise r.refuse(f"a {name_of(item)} as an argument of {name}", "pass arrays, numbers and texts")


def patterned(r: Recorder, x: Any, ins: list[Value]) -> Any:
    """`pass_on`, of dicts and of functions of the user's too."""
    if isinstance(x, Callback):
        return MadeFunction(x.text, tuple([patterned(r, item, ins) for item in x.values]))
    if type(x) is dict:
        return {key: patterned(r, item, ins) for key, item in x.items()}
    if type(x) in (tuple, list):
        return type(x)([patterned(r, item, ins) for item in x])
    return pass_on(r, x, ins)


def order(x: np.ndarray) -> tuple[int, ...]:
    """The axes by their strides, outermost first."""
    return tuple(sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis])))


# -- stand-ins
class Probe(NamedTuple):
    """What a call gave for stand-ins, where symbols had the sizes in `env`, and large sizes those in `small`; how long
    it took."""

    result: Any
    form: Form
    arrays: list[np.ndarray]
    env: Mapping[Any, int]
    small: Mapping[int, int]
    seconds: float

    def like(self, form: Form) -> Probe:
        """The same in this form, which tells less."""
        arrays: list[np.ndarray] = []
        return self._replace(form=taken_apart(self.result, arrays, like=form), arrays=arrays)


def dims_in(x: Any) -> Iterator[Dim]:
    """The sizes and ints of an argument, and the lengths of its lists."""
    if isinstance(x, (tuple, list)):
        for item in x:
            yield from dims_in(item)
        yield len(x)
        return
    for item in values_in(x):
        if isinstance(item, ArrayRef):
            yield from item.shape
        elif isinstance(item, PyInt) or type(item) is int:
            yield item.expr if isinstance(item, PyInt) else item


def arrays_in(x: Any) -> list[ArrayRef]:
    """The arrays in an argument."""
    return [item for item in values_in(x) if isinstance(item, ArrayRef)]


def probe(r: Recorder, function: Any, given: Sequence[Any], names: tuple[str, ...], name: str) -> list[Probe]:
    """What the function gives for stand-ins of several sizes, for the first fillings for which it does not raise."""
    said: Raises | None = None
    short_sizes(r, given, SHORTEST)
    for narrowed, least, filling in product((free, known_ints, equal_sizes, short_sizes), SIZES, FILLINGS):
        if filling is FILLINGS[0] and least is SIZES[0] and not narrowed(r, given):
            continue
        called, others = partial(probed, r, function, given, names, name, filling), list[Probe]()
        try:
            found = [called(size) for size in least]
        except Raises as error:
            said = error
            continue
        seconds = found[0].seconds + found[1].seconds
        if seconds < LONGEST / 10:
            with contextlib.suppress(Raises):  # sizes that are limited for long arrays are not the arguments'
                for size in LONG[max([0, *(min(x.ndim, 3) for x in arrays_in(tuple(given)))])]:
                    found[2:] = [called(size)]
                    if found[2].seconds > LONGEST / 30:  # for the next one it may be n**3 times as many
                        break
        if seconds < LONGEST:
            for other in OTHERS:
                with contextlib.suppress(Raises):
                    others.append(probed(r, function, given, names, name, other, least[0]))
        form: Form | None = found[0].form
        for p in (*found, *others):
            form = None if form is None else in_common(form, p.form)
        if form is None:
            raise r.refuse(f"the types of what {name} gives depend on its arguments", "call it outside")
        return [p.like(form) for p in found]
    assert said is not None
    raise r.refuse(f"{name} raises for stand-ins ({type(said.error).__name__}: {said.error})", "call it outside")


def free(r: Recorder, given: Sequence[Any]) -> bool:
    """Stand-ins may have any sizes."""
    return True


def known_ints(r: Recorder, given: Sequence[Any]) -> bool:
    """Makes ints of the caller's part of the key, which may be axes; whether there are any."""
    found = [x.expr for x in values_in(tuple(given)) if isinstance(x, PyInt) and r.entry_only(x.expr)]
    for e in found:
        r.static_int(e, "an int that a library's function is given")
    return bool(found)


def short_sizes(r: Recorder, given: Sequence[Any], most: int = SHORT) -> bool:
    """Makes short sizes part of the key, as those of points and of rows of coefficients; whether there are any."""
    found = False
    for d in dict.fromkeys(r.facts.canon(d) for x in arrays_in(tuple(given)) for d in x.shape):
        if not isinstance(d, int) and r.entry_only(d) and evaluate(d, r.hints) <= most:
            r.static_int(d, "a size of what a library's function is given")
            found = True
    return found


def equal_sizes(r: Recorder, given: Sequence[Any]) -> bool:
    """Makes it part of the key which sizes are equal; whether there are any that are."""
    sizes = list(dict.fromkeys(r.facts.canon(d) for x in arrays_in(tuple(given)) for d in x.shape))
    asked = [r.ask_equal(a, b) for a, b in combinations(sizes, 2) if r.entry_only(a) and r.entry_only(b)]
    return any(asked)


def probed(
    r: Recorder, function: Any, given: Sequence[Any], names: tuple[str, ...], name: str, how: Filling, least: int
) -> Probe:
    """What the function gives for stand-ins whose sizes are at least `least`."""
    fill, real = how.fill, how.real
    step = least // 3 + 1
    dims = [r.facts.canon(d) for x in given for d in dims_in(x)]
    found = sorted({s for d in dims for s in symbols(d)}, key=lambda s: s.serial)
    env = {s: least + step * k for k, s in enumerate(found)}
    known = {d for x in arrays_in(tuple(given)) for d in x.shape if isinstance(d, int)}
    large = sorted(d for d in known if d > 8)
    small = {d: least + step * (len(found) + k) for k, d in enumerate(large)}

    def size(d: Dim) -> int:
        return max(0, evaluate(r.facts.canon(d), env))

    def made(x: Any) -> Any:
        if isinstance(x, ArrayRef):
            shape = [size(d) for d in x.shape]
            if prod(shape) > LARGEST:
                shape = [small.get(n, n) for n in shape]
            axes = order_of(x)
            dense = fill(tuple(shape[axis] for axis in axes), x.dtype)
            inputs.append(dense.transpose(np.argsort(axes)) if x.ndim else dense)
            return inputs[-1]
        if isinstance(x, PyInt):
            return evaluate(r.facts.canon(x.expr), env)
        if isinstance(x, (PyFloat, PyComplex)):
            return type(stand_in(x))(real)
        if isinstance(x, NpScalar):
            return x.element.dtype.type(real if x.element.dtype.kind in "fc" else 1)
        if isinstance(x, Scalar):
            return stand_in(x)
        if isinstance(x, Callback):
            return x.text.made([made(item) for item in x.values])
        if type(x) is dict:
            return {key: made(item) for key, item in x.items()}
        return type(x)(map(made, x)) if type(x) in (tuple, list) else x

    inputs: list[np.ndarray] = []
    arguments = [made(x) for x in given]
    before = contents([arguments, inputs], True)
    positional = len(arguments) - len(names)
    begin = perf_counter()
    with nothing_said():
        result = ask(function, *arguments[:positional], **dict(zip(names, arguments[positional:])))
    seconds = perf_counter() - begin
    arrays: list[np.ndarray] = []
    try:
        form = taken_apart(result, arrays)
    except TypeError as error:
        raise r.refuse(f"{error} of {name}", "call it outside") from None
    if contents([arguments, inputs], True) != before:
        raise r.refuse(f"{name}, or a function that it calls, writes to its arguments", "call it outside")
    if shared(form, arrays, inputs):
        raise r.refuse(f"{name} gives memory of its arguments, or the same twice", "call it outside")
    return Probe(result, form, arrays, env, small, seconds)


@contextlib.contextmanager
def nothing_said() -> Iterator[None]:
    """Nothing is printed by this thread, and the numbers that NumPy's generator draws are not used up."""
    state = np.random.get_state()
    _silence.enter()
    try:
        yield
    finally:
        _silence.leave()
        np.random.set_state(state)


class _Silence:
    """Takes the place of the output while threads call for stand-ins, and drops what these print."""

    def __init__(self) -> None:
        self.output: Any = None
        self.inside: list[int] = []
        self.lock = threading.Lock()

    def enter(self) -> None:
        with self.lock:
            if cast(Any, sys.stdout) is not self:
                self.output, sys.stdout = sys.stdout, cast(Any, self)
            self.inside.append(threading.get_ident())

    def leave(self) -> None:
        with self.lock:
            self.inside.remove(threading.get_ident())
            if not self.inside and cast(Any, sys.stdout) is self:
                sys.stdout = self.output

    def write(self, text: str) -> int:
        found: int = len(text) if threading.get_ident() in self.inside else self.output.write(text)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.output, name)


_silence = _Silence()


def varied(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Numbers in no order, in (0, 1) or 1 to 5; a square matrix is positive definite."""
    parts = np.random.default_rng(0).random(shape)
    if dtype.kind == "b":
        return np.asarray(parts > 0.4, dtype)
    if dtype.kind in "iu":
        return np.asarray(1 + np.floor(parts * 5), dtype)
    if len(shape) >= 2 and shape[-1] == shape[-2]:
        parts = parts @ np.swapaxes(parts, -1, -2) + np.eye(shape[-1])
    return np.asarray(parts, dtype)


def rising(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Rising numbers, in (0, 1] or from 0."""
    n = prod(shape)
    if dtype.kind == "b":
        return np.asarray(np.arange(n) * 2 >= n, dtype).reshape(shape)
    return np.asarray(np.arange(n) if dtype.kind in "iu" else np.arange(1, n + 1) / max(n, 1), dtype).reshape(shape)


def ones(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.ones(shape, dtype)


def of_both_signs(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Numbers in no order around 0."""
    if dtype.kind in "bu":
        return varied(shape, dtype)
    return np.asarray(np.random.default_rng(1).random(shape) * 4 - 2, dtype)


class Filling(NamedTuple):
    """How arrays are filled, and what real numbers are."""

    fill: Callable[[tuple[int, ...], np.dtype], np.ndarray]
    real: float


FILLINGS = (Filling(varied, 0.5), Filling(rising, 0.5), Filling(varied, 2.0), Filling(rising, 2.0), Filling(ones, 1.0))
OTHERS = (Filling(of_both_signs, 0.5), Filling(varied, 2.0))
"""For these a function gives the same types, or raises; for matrices of low rank, say, it may give others."""
LONGEST = 0.5
"""Seconds of the first calls for stand-ins, beyond which there are no more."""


# -- sizes
Sizes = Sequence[tuple[Dim, tuple[int, ...]]]
"""The sizes and ints of a call's arguments, and what they were in each call for stand-ins."""


def sizes_of(r: Recorder, given: Sequence[Any], probes: Sequence[Probe]) -> Sizes:
    found: list[tuple[Dim, tuple[int, ...]]] = []
    for d in [r.facts.canon(d) for x in given for d in dims_in(x)]:
        if isinstance(d, int):
            found.append((d, (d,) * len(probes)))
            found.append((d, tuple([p.small.get(d, d) for p in probes])))
        else:
            found.append((d, tuple([evaluate(d, p.env) for p in probes])))
    return found


def known_shape(shapes: Sequence[tuple[int, ...]], sizes: Sizes) -> list[Dim | None]:
    """The shape of a result that had these shapes for stand-ins; None for the sizes that only a call can tell."""
    return [next((d for d, had in sizes if had == sized), None) for sized in zip(*shapes, strict=True)]


# -- results
def put_together(r: Recorder, form: Form, results: Iterator[ArrayRef]) -> Any:
    """The result as eager has it, of what the call made."""
    if isinstance(form, FormOfUntold):
        return Untold(PyInt(int_of(r, r.load(next(results), ()))))
    if isinstance(form, FormOfConstant):
        return form.value
    if isinstance(form, FormOfNumber):
        return loaded(r, form, next(results))
    items = [put_together(r, item, results) for item in form.items]
    kind: Any = form.kind
    if issubclass(kind, tuple):
        count = len(items) - len(form.names)
        made = tuple.__new__(kind, items[:count])
        if form.names:
            vars(made).update(zip(form.names, items[count:]))
        return made
    if kind is list:
        return r.heap.own(items, r)
    if kind is dict:
        return r.heap.own(dict(zip(form.names, items)), r)
    whole = Record(kind)
    whole.fields.update(zip(form.names, items))
    return r.heap.own(whole, r)


def loaded(r: Recorder, form: FormOfNumber, ref: ArrayRef) -> Any:
    """An array, or the number that it holds."""
    if form.number is None:
        return ref
    if form.number is int:
        return PyInt(int_of(r, r.load(ref, ())))
    value = number(r, ref)
    python: dict[type, Any] = {float: PyFloat, complex: PyComplex, bool: PyBool}
    return python[form.number](value.value) if form.number in python else value
