"""Random numbers: methods of `np.random.Generator` and `RandomState`, and the functions of `np.random`, as host calls
in program order on the user's own generator, which is afterwards in the state that eager leaves it in.

The shape of what is drawn is known while tracing, by `size` or by the parameters; NumPy itself says the types, of a
generator of its own. No generator of the user's is touched while tracing. Not taken: states, bit generators and bytes.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.indexing import as_strict_int, int_of
from tracebuf.frontends.numpy.arrays.new_arrays import shape_arg
from tracebuf.frontends.numpy.arrays.reshape import is_dense
from tracebuf.frontends.numpy.call.arguments import is_generator
from tracebuf.frontends.numpy.functions.host.calls import Fresh, number, pass_on, record, static
from tracebuf.frontends.numpy.numbers.operands import supported
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.broadcasting import broadcast
from tracebuf.frontends.numpy.record.callees import Draw, Drawer
from tracebuf.frontends.numpy.record.raises import Raises, ask, bind
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, PyBool, PyFloat, PyInt, Scalar
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim
from tracebuf.running.handed import Handed
from tracebuf.running.host import Direct, HostFunction, Passed, Put, fill, put_nothing

INSTEAD = "draw outside and pass the numbers in, or tracebuf.host_call(draw, n, result_shape=n)"
DISTRIBUTIONS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys((
        "random", "standard_normal", "standard_exponential", "normal", "uniform", "exponential", "laplace", "gumbel",
        "logistic", "lognormal", "rayleigh", "standard_cauchy", "random_sample", "rand", "randn",
    ), ()),
    **dict.fromkeys((
        "standard_gamma", "gamma", "chisquare", "standard_t", "pareto", "weibull", "power", "poisson",
    ), (1.0,)),
    "beta": (1.0, 1.0), "f": (1.0, 1.0), "noncentral_f": (2.0, 2.0, 1.0), "noncentral_chisquare": (1.0, 1.0),
    "vonmises": (0.0, 1.0), "wald": (1.0, 1.0), "triangular": (0.0, 0.5, 1.0), "integers": (1,), "randint": (1,),
    "binomial": (1, 0.5), "negative_binomial": (1, 0.5), "geometric": (0.5,), "zipf": (2.0,), "logseries": (0.5,),
    "hypergeometric": (1, 1, 1),
}  # fmt: skip
"""Methods that draw one number for each element of their parameters, broadcast: by name, parameters that they take."""
BY_DIMENSIONS = ("rand", "randn")
OF_VECTORS = {"multivariate_normal": "mean", "dirichlet": "alpha", "multinomial": "pvals"}
"""Methods that draw vectors, and the parameter that has their length."""
OTHERS = ("choice", "permutation", "permuted", "shuffle", "seed")
NO_PARAMETERS = ("size", "dtype", "method", "out", "endpoint")
"""The names of arguments that are no parameters of a distribution."""


# -- where the generator is when the program runs
class Made(threading.local):
    """A generator that the program makes: in each thread the one that was made last."""

    made: Any = None


@frozen(eq=False)
class MethodOfMade:
    """A method of a generator that the program makes."""

    source: Made
    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.source.made, self.name)(*args, **kwargs)


@frozen(eq=False)
class MakeRun:
    """A call that makes a generator."""

    source: Made
    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        self.source.made = self.function(*(fill(p, ins) for p in self.arguments))


# -- while tracing
def drawer_of(x: Any) -> Drawer | None:
    """A generator of the trace, or one from outside, which is guarded by its identity; None for anything else."""
    if isinstance(x, Drawer):
        return x
    return Drawer(type(x), x) if is_generator(x) else None


def draw_of(function: Any) -> Draw | None:
    """The method of a generator that a callee is; None for any other callee."""
    if isinstance(function, Draw):
        return function
    owner = getattr(function, "__self__", None) if inspect.ismethod(function) else None
    return Draw(Drawer(type(owner), owner), function.__name__) if is_generator(owner) else None


def attribute(r: Recorder, drawer: Drawer, name: str) -> Any:
    """`rng.name`: a method."""
    if not hasattr(drawer.kind, name):
        raise Raises(refusals.without(drawer.kind, name))
    if name not in DISTRIBUTIONS and name not in OF_VECTORS and name not in OTHERS:
        raise r.refuse(f"`.{name}` of a {drawer.kind.__name__} in a traced function", INSTEAD)
    return Draw(drawer, name)


def make(r: Recorder, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`np.random.default_rng(seed)` and `np.random.RandomState(seed)`; NotImplemented for any other call."""
    module = getattr(function, "__module__", None)
    if not isinstance(module, str) or not module.startswith("numpy.random"):
        return NotImplemented
    if function is np.random.seed:
        return call(r, Draw(Drawer(np.random.RandomState, np.random.mtrand._rand), "seed"), args, kwargs)
    if function is np.random.PCG64:
        seed = bind(inspect.signature(np.random.default_rng), args, kwargs).arguments
        if not all(is_seed(x) for x in seed.values()):
            raise r.refuse("PCG64 of what is no int", "pass an int")
        return Bits(seed, r.frame)
    if function is np.random.Generator and len(args) == 1 and isinstance(args[0], Bits) and not kwargs:
        return args[0].generator(r)
    kind = {np.random.default_rng: np.random.Generator, np.random.RandomState: np.random.RandomState}.get(function)
    if kind is None:
        return NotImplemented
    given = list(bind(inspect.signature(np.random.default_rng), args, kwargs).arguments.values())
    known = drawer_of(given[0]) if given else None
    if known is not None and function is np.random.default_rng and known.kind is np.random.Generator:
        return known
    if not all(is_seed(x) for x in given):
        raise r.refuse(f"{function.__name__} of a {name_of(given[0])}", "pass an int, or the generator itself")
    source = Made()
    ins: list[Value] = []
    arguments = tuple(pass_on(r, x, ins) for x in given)
    record(r, HostFunction(f"numpy.random.{function.__name__}", MakeRun(source, function, arguments)), ins, [])
    r.makes_generators = True
    return Drawer(kind, source)


@frozen(eq=False)
class Bits:
    """np.random.PCG64(seed), of which np.random.Generator makes a generator."""

    given: dict[str, Any]
    frame: Any
    made: list[Drawer] = field(default_factory=list)

    def generator(self, r: Recorder) -> Any:
        """The generator, which is the one that np.random.default_rng makes of the seed."""
        if self.made or self.frame is not r.frame:
            raise r.refuse("generators of one bit generator", "np.random.Generator(np.random.PCG64(seed)) for each")
        self.made.append(make(r, np.random.default_rng, [*self.given.values()], {}))
        return self.made[0]


def is_seed(x: Any) -> bool:
    """Whether a generator can be made of a value: an int or None, or several ints."""
    if isinstance(x, (list, tuple)):
        return all(map(is_seed, x))
    return x is None or isinstance(x, PyInt) or (isinstance(x, (int, np.integer)) and not isinstance(x, bool))


def call(r: Recorder, draw: Draw, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a method of a generator."""
    name, kind = draw.name, draw.of.kind
    attribute(r, draw.of, name)
    method = getattr(kind, name)
    given = dict(bind(inspect.signature(method), (None, *args), kwargs).arguments)
    given.pop("self", None)
    if name in BY_DIMENSIONS:
        sizes = given.pop("args", ())
        shape: Any = shape_arg(r, tuple(sizes)) if sizes else None
        return drawn(r, draw, list(sizes), {}, shape, np.dtype(np.float64), float)
    if given.get("out") is not None:
        raise r.refuse(f"`out` of {name}", "assign the result: a[:] = rng.random(n)")
    given.pop("out", None)
    if name == "seed":
        if not all(map(is_seed, given.values())):
            raise r.refuse("a seed that is no int", "pass an int")
        return run(r, draw, [], given, [], [])
    if name in ("permutation", "permuted", "shuffle"):
        return permuted(r, draw, given)
    if name == "choice":
        return choice(r, draw, given)
    for k, x in given.items():
        if isinstance(x, (list, tuple)) and k not in NO_PARAMETERS:
            given[k] = asarray(r, x)
    for k in ("dtype", "method", "endpoint", "check_valid"):
        if k in given:
            given[k] = static(r, given[k], f"`{k}` of {name}")
    size = size_of(r, given)
    if name in OF_VECTORS:
        vector = given.get(OF_VECTORS[name])
        plain = all(not isinstance(x, ArrayRef) or k in (OF_VECTORS[name], "cov") for k, x in given.items())
        if not isinstance(vector, ArrayRef) or vector.ndim != 1 or not plain:
            raise r.refuse(f"{name} of parameters that are not one vector's", INSTEAD)
        dtype = np.dtype(np.int64 if name == "multinomial" else np.float64)
        return drawn(r, draw, [], given, (*(size or ()), vector.shape[0]), dtype, None)
    return drawn(r, draw, [], given, shape_of(r, name, given, size), *types_of(kind, name, given.get("dtype")))


def size_of(r: Recorder, given: dict[str, Any]) -> tuple[Dim, ...] | None:
    """The shape that `size` says; None where it says none."""
    size = given.get("size")
    if isinstance(size, ArrayRef):
        raise r.refuse("a `size` that is an array", "pass the sizes one by one")
    return None if size is None else shape_arg(r, size)


def shape_of(
    r: Recorder, name: str, given: dict[str, Any], size: tuple[Dim, ...] | None
) -> tuple[Dim, ...] | None:
    """The shape of what a distribution gives; None for a number."""
    for k, x in given.items():
        if k not in NO_PARAMETERS and x is not None and not isinstance(x, (ArrayRef, Scalar, *NUMBERS)):
            raise r.refuse(f"a {name_of(x)} as `{k}` of {name}", "pass numbers or arrays")
    if size is not None:
        return size
    shapes = [x.shape for k, x in given.items() if k not in NO_PARAMETERS and isinstance(x, ArrayRef) and x.ndim]
    return broadcast(r, shapes) if shapes else None


@lru_cache(maxsize=512)
def types_of(kind: Any, name: str, dtype: Any) -> tuple[np.dtype, type]:
    """The dtype of many numbers that a method draws, and the type of one, as NumPy gives them."""
    generator: Any = np.random.default_rng(0) if kind is np.random.Generator else kind(0)
    named = {} if dtype is None else {"dtype": dtype}
    one = ask(getattr(generator, name), *DISTRIBUTIONS[name], **named)
    many = ask(getattr(generator, name), *DISTRIBUTIONS[name], size=1, **named)
    return many.dtype, type(one)


def choice(r: Recorder, draw: Draw, given: dict[str, Any]) -> Any:
    """rng.choice(a): of an int, or of the elements of a vector."""
    for k in ("replace", "shuffle", "axis"):
        if k in given:
            given[k] = static(r, given[k], f"`{k}` of choice")
    for k in ("a", "p"):
        if isinstance(given.get(k), (list, tuple)):
            given[k] = asarray(r, given[k])
    a, size = given["a"], size_of(r, given)
    if isinstance(a, ArrayRef) and a.ndim == 1:
        return drawn(r, draw, [], given, size, a.dtype, a.dtype.type)
    if isinstance(a, ArrayRef) or as_strict_int(r, a) is None:
        raise r.refuse(f"choice of a {name_of(a)} that is no vector", "choose an index: a[rng.choice(len(a))]")
    return drawn(r, draw, [], given, size, np.dtype(np.int64), int)


def permuted(r: Recorder, draw: Draw, given: dict[str, Any]) -> Any:
    """rng.permutation(x), rng.permuted(x) and, in place, rng.shuffle(x)."""
    x, name = given["x"], draw.name
    if "axis" in given:
        given["axis"] = static(r, given["axis"], f"`axis` of {name}")
    if name == "shuffle":
        if not isinstance(x, ArrayRef) or not x.ndim:
            raise r.refuse(f"shuffle of a {name_of(x)}", "shuffle an array, or draw a permutation of indices")
        r.check_writable(x)
        return run(r, draw, [], given, [], [x])
    if isinstance(x, (list, tuple)):
        x = given["x"] = asarray(r, x)
    if isinstance(x, ArrayRef) and x.ndim and (x.ndim == 1 or is_dense(r, x, range(x.ndim))):
        return drawn(r, draw, [], given, x.shape, x.dtype, None)
    if isinstance(x, ArrayRef) or name == "permuted" or as_strict_int(r, x) is None:
        raise r.refuse(f"{name} of a {name_of(x)} like this", "use an array in C order")
    return drawn(r, draw, [], given, shape_arg(r, x), np.dtype(np.int64), None)


def drawn(
    r: Recorder, draw: Draw, args: Sequence[Any], named: dict[str, Any], shape: tuple[Dim, ...] | None,
    dtype: np.dtype, one: type | None,
) -> Any:  # fmt: skip
    """Records a draw: an array of this shape and dtype, or (None) a number of type `one`."""
    if shape is None and one in (float, int, bool):  # NumPy draws Python's, whatever the dtype of many is
        dtype = np.dtype(one)
    element = supported(dtype, f"what {draw.name} draws", r.loc)
    sizes = () if shape is None else shape
    (made,) = run(r, draw, args, named, [(element, sizes, range(len(sizes)))], [], one)
    if shape is not None:
        return made
    if one is float:
        return PyFloat(r.load(made, ()))
    if one is bool:
        return PyBool(r.load(made, ()))
    return PyInt(int_of(r, r.load(made, ()))) if one is int else number(r, made)


def run(
    r: Recorder, draw: Draw, args: Sequence[Any], named: dict[str, Any], fresh: Sequence[Fresh],
    written: Sequence[ArrayRef], number: type | None = None,
) -> Any:  # fmt: skip
    """Records the call of a method."""
    name, source = draw.name, draw.of.source
    ins: list[Value] = []
    positional = tuple(pass_on(r, x, ins) for x in args)
    size = named.get("size")
    if isinstance(size, (tuple, list)) and len(size) == 1:
        named = {**named, "size": size[0]}  # machine code passes an int, and makes no tuple of one
    pattern = {k: x if any(x is w for w in written) else pass_on(r, x, ins) for k, x in named.items()}
    for w in written:
        pattern = {k: Passed(len(ins)) if x is w else x for k, x in pattern.items()}
    arguments, names = (*positional, *pattern.values()), tuple(pattern)
    what = f"numpy.random.{draw.of.kind.__name__}.{name}"
    one, bound = ((0,), (None,)) if fresh else ((), ())
    put = Put(what, one, bound, number) if fresh else put_nothing
    if isinstance(source, Handed):
        method, arguments = getattr(draw.of.kind, name), (source, *arguments)
    else:
        method = MethodOfMade(source, name) if isinstance(source, Made) else getattr(source, name)
    direct = Direct(method, arguments, names, None, one, bound, put)
    made = record(r, HostFunction(what, direct, returns=len(fresh)), ins, fresh, written)
    return made if fresh else None
