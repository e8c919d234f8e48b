"""Functions of SciPy and of libraries built on it that cannot be traced: host calls of the functions themselves.

What a call gives (the form of its result, dtypes, sizes) is found by calling the function on stand-ins of several
sizes. A size that is one of the arguments' for all of them is known; other sizes the call tells when the program runs.
Results that differ in anything else from those for stand-ins are refused then. The libraries' functions are
taken to leave their arguments as they are, and to keep none.
"""

from __future__ import annotations

import contextlib
import os
import sys
import types
from abc import ABCMeta
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations, product
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from tracebuf.frontends.numpy.arrays.indexing import int_of
from tracebuf.frontends.numpy.functions.host.callbacks import Callback, computes, values_in
from tracebuf.frontends.numpy.functions.host.calls import Fresh, number, pass_on, record, static
from tracebuf.frontends.numpy.functions.host.stand_ins import (
    FILLINGS,
    LONG,
    LONGEST,
    OTHERS,
    SHORT,
    SHORTEST,
    SIZES,
    Filling,
    StandIns,
    arrays_in,
    dims_in,
    given_to,
    nothing_said,
)
from tracebuf.frontends.numpy.numbers.operands import supported
from tracebuf.frontends.numpy.record.callees import Recipe, Untold
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.scalar_checks import check_origin
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    UNSURE_TYPES,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, evaluate
from tracebuf.ir.types import I64, INDEX
from tracebuf.ops.scalars import arith
from tracebuf.process.libraries import LIBRARIES, is_librarys
from tracebuf.running.host import HostFunction
from tracebuf.running.kept import keeping
from tracebuf.running.ufuncs import is_special, name_of_ufunc
from tracebuf.running.untraced import (
    Begun,
    Delivered,
    Form,
    FormOfConstant,
    FormOfNumber,
    FormOfUntold,
    Keeps,
    KeptArgument,
    MadeFunction,
    Parts,
    UntracedCall,
    contents,
    direct,
    in_common,
    is_made,
    numbers_in,
    of_library,
    shared,
)

NOT_COMPUTING = frozenset((
    "io", "datasets", "data", "testing", "_testing", "conftest", "display", "viewer", "graphics",
    "visualization", "inspection", "_shared", "_lib", "_build_utils", "config", "logger", "externals", "tools",
    "tests", "test", "example", "cache", "_cache", "version", "show_versions", "_config", "compat", "samp", "wcs",
    "table", "nddata", "units", "time", "coordinates", "extern", "core",
))  # fmt: skip
"""Packages of libraries whose functions do more than compute."""
OTHER_SUBJECTS = ("set", "get", "test", "register", "skip", "show", "err", "plot", "dendrogram",
                  "load", "fetch", "save")  # fmt: skip
"""How the names of functions begin that have settings, figures or files for their subject."""
UNCHECKED = ("scipy.interpolate._fitpack", "scipy.interpolate._dfitpack", "scipy.spatial._qhull")
"""Modules whose functions believe what they are given: stand-ins could make them read memory that is not theirs."""
CHECKED = frozenset({("scipy.optimize._lsap", "linear_sum_assignment")})
"""Functions in C that check what they are given."""

FORTRAN = ("scipy.linalg._flapack", "scipy.linalg._fblas")
"""Modules that f2py made of LAPACK and BLAS."""


def takes(function: Any) -> bool:
    """Whether a function is one of a library's that may be called as it is: written in Python, mostly."""
    module = getattr(function, "__module__", None)
    if is_lapacks(function):
        return True
    if isinstance(function, types.BuiltinFunctionType):
        return (module, function.__name__) in CHECKED
    if isinstance(function, np.ufunc):
        return is_special(function) and function.nout > 1
    if not isinstance(function, types.FunctionType) or not isinstance(module, str):
        return False
    root, *packages, _ = (*module.split("."), "")
    if root not in LIBRARIES or not is_librarys(function):
        return False
    plain = not function.__name__.startswith(OTHER_SUBJECTS) and not module.startswith(UNCHECKED)
    return plain and NOT_COMPUTING.isdisjoint(packages)


def is_lapacks(function: Any) -> bool:
    """Whether a function is one of LAPACK's or BLAS's as SciPy has them: f2py's code checks what it is given."""
    if type(function).__name__ != "fortran":
        return False
    name = str(getattr(function, "__name__", "")).rpartition(" ")[2]
    return any(getattr(sys.modules.get(module), name, None) is function for module in FORTRAN)


def is_whole(x: Any) -> bool:
    """Whether an argument is of integers: pivots and bounds, which LAPACK believes."""
    return isinstance(x, PyInt) or (isinstance(x, (ArrayRef, NpScalar)) and x.dtype.kind in "iub")


@cache
def file_is_librarys(file: str) -> bool:
    """Whether a file belongs to one of these libraries."""
    homes = [getattr(sys.modules.get(name), "__file__", None) for name in LIBRARIES]
    return any(file.startswith(os.path.dirname(home) + os.sep) for home in homes if home)


def takes_class_method(function: Any) -> bool:
    """Whether a value is a method of such a class itself, as `Polynomial.fit` is."""
    return isinstance(function, types.MethodType) and takes_class(function.__self__)


def takes_class(kind: Any) -> bool:
    """Whether a value is a class of a library's whose objects can be made by a call."""
    if type(kind) not in (type, ABCMeta) or issubclass(kind, (BaseException, tuple, dict, np.ndarray, np.generic)):
        return False
    if of_library(kind) and kind.__module__.startswith("numpy"):
        return True
    root, *packages = str(kind.__module__).split(".")
    return root in LIBRARIES and NOT_COMPUTING.isdisjoint(packages) and not kind.__name__.startswith("_")


def call(
    r: Recorder, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], name: str = "", keeps: Keeps = ""
) -> Any:
    """Records a call. Raises UnsupportedError where its arguments are not arrays, numbers and known values, or what it
    gives cannot be told."""
    name = name or public_name(function)
    named = {k: x for k, x in kwargs.items() if not k.startswith("overwrite_")}
    if is_lapacks(function):  # some do so where it is left out
        named = {k: x if k in named else 0 for k, x in kwargs.items()}
    for key, x in [*((None, x) for x in args), *named.items()]:
        check_argument(r, x, name)
        if is_lapacks(function) and key != "lwork" and is_whole(x):
            raise r.refuse(f"integers that the run time knows as an argument of {name}", "call it outside")
        if is_lapacks(function) and key is None and isinstance(x, int):
            raise r.refuse(f"an integer without a name as an argument of {name}", "say which: lower=1")
    for parameter in ("out", "output"):
        if not isinstance(named.get(parameter), (str, types.NoneType)):
            raise r.refuse(f"`{parameter}=` of {name}", "assign the result: x[...] = ...")
    if any(map(is_unsure, (*args, *named.values()))) and keeps != "all":
        return of_either_origin(r, function, args, named, name, keeps)
    given = [static(r, x, f"a bool as an argument of {name}") if isinstance(x, PyBool) else x
             for x in (*args, *named.values())]  # fmt: skip
    probes = probe(r, function, given, tuple(named), name, keeps)
    keeps = probes[0].keeps
    leaves = list(numbers_in(probes[0].form))
    sizes = sizes_of(r, given, probes) if len(probes) > 2 else []
    shapes = [known_shape([p.arrays[k].shape for p in probes], sizes) for k in range(len(leaves))]
    ins: list[Value] = []
    pattern = tuple([patterned(r, x, ins) for x in given])
    made = UntracedCall(function, name, pattern, tuple(named), probes[0].form, keeps, any(map(is_made, pattern)))
    unknown = [(k, axis) for k, shape in enumerate(shapes) for axis, n in enumerate(shape) if n is None]
    called: Any = made
    if unknown:
        begun = direct(Begun(made, tuple(unknown)), made, len(unknown), len(ins))
        counts = record(r, HostFunction(name, begun, returns=len(unknown)), ins, [(I64, (), ())] * len(unknown))
        called, ins = Delivered(), []
        for (k, axis), count in zip(unknown, counts, strict=True):
            index = r.emit(arith.IndexCast.of(r.load(count, ()), INDEX))
            shapes[k][axis] = r.symbol(index, "found", 0)
    fresh: list[Fresh] = [
        (supported(leaf.dtype, f"the result of {name}", r.loc), [0 if n is None else n for n in shape], order(x))
        for leaf, shape, x in zip(leaves, shapes, probes[0].arrays, strict=True)
    ]
    run = direct(called, made, len(fresh), len(ins))
    results = iter(record(r, HostFunction(name, run, returns=len(fresh)), ins, fresh))
    result = put_together(r, probes[0].form, results)
    if isinstance(result, Untold):
        result = replace(result, kind=probes[0].kind, recipe=Recipe(function, given, tuple(named), []))
    return result


def is_unsure(x: Any) -> bool:
    """Whether a number is a float, or NumPy's of the same value, by the path."""
    if not isinstance(x, NpScalar) or x.python is None:
        return False
    return x.dtype == np.float64 and UNSURE_TYPES[x.python.kind] == (float,)


def sure(x: Any, as_python: bool = False) -> Any:
    """A number that is unsure as Python's, or as NumPy's."""
    if not is_unsure(x):
        return x
    return PyFloat(x.value) if as_python else NpScalar(x.value, x.element)


def of_either_origin(
    r: Recorder, function: Any, args: Sequence[Any], named: Mapping[str, Any], name: str, keeps: Keeps
) -> Any:
    """A call of numbers that are Python's or NumPy's by the path: of NumPy's, where what it gives is of the same types
    for both."""
    either = [[sure(x, python) for x in (*args, *named.values())] for python in (False, True)]
    forms = [probe(r, function, given, tuple(named), name, keeps)[0].form for given in either]
    if forms[0] != forms[1]:
        check_origin(r, *args, *named.values())
    return call(r, function, either[0][: len(args)], dict(zip(named, either[0][len(args) :])), name, keeps)


def public_name(function: Any) -> str:
    if isinstance(function, np.ufunc):
        return name_of_ufunc(function)
    if is_lapacks(function):
        return f"scipy.linalg.{function.__name__.rpartition(' ')[2]}"
    if not hasattr(function, "__name__"):  # an object that is called
        function = type(function)
    module = ".".join(part for part in function.__module__.split(".") if part[:1] != "_")
    return f"{module}.{function.__name__}"


def check_argument(r: Recorder, x: Any, name: str) -> None:
    """Refuses what is no array, no number, no known value, no function, and no tuple, list or dict of such."""
    known = (*NUMBERS, str, types.NoneType, np.dtype, slice, range, type(Ellipsis), types.ModuleType)
    for item in values_in(x):
        of_classes = isinstance(item, type) and issubclass(item, (np.generic, *NUMBERS))
        of_libraries = not isinstance(item, type) and callable(item) and computes(item)
        of_libraries = of_libraries or (isinstance(item, Untold) and item.recipe is not None)
        if not (isinstance(item, (ArrayRef, Scalar, *known)) or of_classes or of_libraries):
            raise r.refuse(f"a {name_of(item)} as an argument of {name}", "pass arrays, numbers and texts")


def patterned(r: Recorder, x: Any, ins: list[Value]) -> Any:
    """`pass_on`, of dicts and of functions of the user's too."""
    if isinstance(x, Untold):
        return KeptArgument(pass_on(r, x.number, ins))
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
    it took; the class of the result."""

    result: Any
    form: Form
    arrays: list[np.ndarray]
    env: Mapping[Any, int]
    small: Mapping[int, int]
    seconds: float
    kind: type
    keeps: Keeps

    def like(self, form: Form) -> Probe:
        """The same in this form, which tells less."""
        parts = Parts(self.keeps, form)
        with keeping():
            return self._replace(form=parts.whole(self.result), arrays=parts.arrays)


def probe(
    r: Recorder, function: Any, given: Sequence[Any], names: tuple[str, ...], name: str, keeps: Keeps
) -> list[Probe]:
    """What the function gives for stand-ins of several sizes, for the first fillings for which it does not raise."""
    said: Raises | None = None
    short_sizes(r, given, SHORTEST)
    known_ints(r, given, (-1, 0, 1))
    for narrowed, least, filling in product((free, known_ints, equal_sizes, short_sizes), SIZES, FILLINGS):
        if filling is FILLINGS[0] and least is SIZES[0] and not narrowed(r, given):
            continue
        of_size, others = partial(probed, r, function, given, names, name, keeps, filling), list[Probe]()
        try:
            found = [of_size(size) for size in least]
        except Raises as error:
            said = error
            continue
        seconds = found[0].seconds + found[1].seconds
        if seconds < LONGEST / 10:
            with contextlib.suppress(Raises):  # sizes that are limited for long arrays are not the arguments'
                for size in LONG[max([0, *(min(x.ndim, 3) for x in arrays_in(tuple(given)))])]:
                    found[2:] = [of_size(size)]
                    if found[2].seconds > LONGEST / 30:  # for the next one it may be n**3 times as many
                        break
        if seconds < LONGEST:
            for other in OTHERS:
                with contextlib.suppress(Raises):
                    others.append(probed(r, function, given, names, name, keeps, other, least[0]))
        form: Form | None = found[0].form
        for p in (*found, *others):
            form = None if form is None else in_common(form, p.form)
        if form is None:
            if not keeps:  # perhaps the texts do
                return probe(r, function, given, names, name, "texts")
            raise r.refuse(f"the types of what {name} gives depend on its arguments", "call it outside")
        told = [*found, *others] if len(found) > 2 else found  # a size may depend on the numbers
        return [p.like(form) for p in told]
    assert said is not None
    raise r.refuse(f"{name} raises for stand-ins ({type(said.error).__name__}: {said.error})", "call it outside")


def free(r: Recorder, given: Sequence[Any]) -> bool:
    """Stand-ins may have any sizes."""
    return True


def known_ints(r: Recorder, given: Sequence[Any], only: Sequence[int] | None = None) -> bool:
    """Makes ints of the caller's part of the key, which may be axes; whether there are any. `only`: those that are one
    of these in the call, as flags are."""
    ints = [r.facts.canon(x.expr) for x in values_in(tuple(given)) if isinstance(x, PyInt)]
    found = {e: value for e in ints if (value := r.in_this_call(e)) is not None}
    for e, value in found.items():
        if only is None or value in only:
            r.static_int(e, "an int that a library's function is given")
    return bool(found)


def short_sizes(r: Recorder, given: Sequence[Any], most: int = SHORT) -> bool:
    """Makes short sizes part of the key, as those of points and of rows of coefficients; whether there are any."""
    found = False
    for d in dict.fromkeys(r.facts.canon(d) for x in arrays_in(tuple(given)) for d in x.shape):
        if not isinstance(d, int) and (value := r.in_this_call(d)) is not None and value <= most:
            r.static_int(d, "a size of what a library's function is given")
            found = True
    return found


def equal_sizes(r: Recorder, given: Sequence[Any]) -> bool:
    """Makes it part of the key which sizes are equal; whether there are any that are."""
    sizes = list(dict.fromkeys(r.facts.canon(d) for x in arrays_in(tuple(given)) for d in x.shape))
    asked = [r.ask_equal(a, b) for a, b in combinations(sizes, 2) if r.entry_only(a) and r.entry_only(b)]
    return any(asked)


def probed(
    r: Recorder, function: Any, given: Sequence[Any], names: tuple[str, ...], name: str, keeps: Keeps, how: Filling,
    least: int,
) -> Probe:  # fmt: skip
    """What the function gives for stand-ins whose sizes are at least `least`."""
    stand_ins = StandIns(r, given, how, least)
    with nothing_said():  # methods are called again for the objects among them
        arguments = [ask(stand_ins.of, x) for x in given]
    positional = len(arguments) - len(names)
    for k, (x, named) in enumerate(zip(given[positional:], names), positional):
        if is_lapacks(function) and named == "lwork" and isinstance(x, Scalar):  # any that is large enough
            arguments[k] = 1000 * max([1, *(n for array in stand_ins.arrays for n in array.shape)])
    before = contents([arguments, stand_ins.arrays], True)
    begin = perf_counter()
    with nothing_said(), keeping():
        result = ask(given_to, function, arguments[:positional], dict(zip(names, arguments[positional:])))
    seconds = perf_counter() - begin
    parts = Parts(keeps)
    try:
        with keeping():
            form = parts.whole(result)
    except TypeError as error:
        raise r.refuse(f"{error} of {name}", "call it outside") from None
    if contents([arguments, stand_ins.arrays], True) != before:
        raise r.refuse(f"{name}, or a function that it calls, writes to its arguments", "call it outside")
    if shared(form, parts.arrays, stand_ins.arrays):
        raise r.refuse(f"{name} gives memory of its arguments, or the same twice", "call it outside")
    return Probe(result, form, parts.arrays, stand_ins.env, stand_ins.small, seconds, type(result), keeps)


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
