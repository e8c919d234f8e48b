"""Objects of SciPy's from outside, which are guarded by their identity: methods of distributions (densities,
distribution functions, moments), also with parameters that the function gives them, `norm(loc, scale)`, also of several
variables, `multivariate_normal(mean, cov)`, and calls of interpolants of one variable, as host calls.

Source: `scipy.stats._distn_infrastructure`, `scipy.interpolate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.call.arguments import defers, is_of_scipy
from tracebuf.frontends.numpy.functions.host import untraced
from tracebuf.frontends.numpy.functions.host.calls import Given, HostEntry, Shape, dims, like
from tracebuf.frontends.numpy.functions.host.sparse import Transposed
from tracebuf.frontends.numpy.numbers.scalars import concrete
from tracebuf.frontends.numpy.record.broadcasting import broadcast
from tracebuf.frontends.numpy.record.callees import Buffer, Generator, Partial
from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import ArrayRef, Scalar
from tracebuf.frozen import frozen

STEADY = (ArrayRef, Scalar, int, float)
"""Classes of values that hold the same numbers at the next call, or are traced."""


def check_steady(r: Recorder, *values: Any) -> None:
    """Refuses to compute while tracing with an object of SciPy's from outside, which may hold other numbers at the next
    call, though it is the same object: a sparse matrix, say."""
    for x in values:
        if isinstance(x, STEADY):
            continue
        if isinstance(x, Buffer):
            instead = "np.asarray(x), an array of its memory"
            if defers(x.kind):
                instead = 'np.asarray(x), for which results are arrays, or bufferize(fallback="numpy")'
            raise r.refuse(f"what is computed of a {name_of(x)} itself", instead)
        if isinstance(x, Generator):
            raise r.refuse("what is computed of a generator other than all of its items", "make a list: list(...)")
        if may_change(type(x)):
            instead = "compute it outside; products of sparse matrices may stand here: M @ x, M.T @ x"
            raise r.refuse(f"what is computed of a {name_of(x)}, which may change between calls", instead)


def may_change(kind: type) -> bool:
    """Whether objects of a class of SciPy's may change: no tuples, classes or numbers."""
    fixed = (tuple, type, str, int, float, BaseException)
    return kind is Transposed or (is_of_scipy(kind) and not issubclass(kind, fixed))


MODULE = "scipy.stats._distn_infrastructure"
CLASSES = ("rv_continuous", "rv_discrete", "rv_continuous_frozen", "rv_discrete_frozen")
OF_MANY = ("multi_rv_generic", "multi_rv_frozen")
METHODS = frozenset((
    "pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf", "mean", "median", "var", "std",
    "entropy",
))  # fmt: skip
"""The methods whose result has the shape of their arguments, broadcast."""


@frozen(eq=False)
class DistributionMethod:
    """A method of a distribution; of one that the function has made, `norm(loc, scale)`, the first `parameters` of its
    positional arguments are those of that."""

    of: Any
    name: str
    parameters: int = 0


@frozen(eq=False)
class ManyMethod:
    """A method of a distribution of several variables, as `multivariate_normal.pdf` is, or one that draws. Of one that
    the function has made, `norm(loc, scale).rvs`, the first `parameters` positional arguments are those of that."""

    of: Any
    name: str
    parameters: int | None = None


def is_of_many(x: Any) -> bool:
    """Whether a value is a distribution of SciPy's of several variables, which draws from NumPy's generator or none."""
    kind = type(x)
    return is_of_scipy(kind, "scipy.stats.") and any(c.__name__ in OF_MANY for c in kind.__mro__)


def is_distribution(x: Any) -> bool:
    """Whether a value is a distribution of SciPy's."""
    kind = type(x)
    return is_of_scipy(kind, "scipy.stats.") and any(
        c.__module__ == MODULE and c.__name__ in CLASSES for c in kind.__mro__
    )


def method(x: Any, name: str) -> Any:
    """`x.name`, a method of a distribution; NotImplemented for all else."""
    if name == "rvs" and isinstance(x, Partial) and is_distribution(x.func):
        return Partial(ManyMethod(x.func, name, len(x.args)), x.args, x.keywords)
    if (name in (*METHODS, "cov", "rvs") and is_of_many(x)) or (name == "rvs" and is_distribution(x)):
        return ManyMethod(x, name) if callable(ask(getattr, x, name, None)) else NotImplemented
    if name not in METHODS:
        return NotImplemented
    if isinstance(x, Partial) and is_distribution(x.func):
        return Partial(DistributionMethod(x.func, name, len(x.args)), x.args, x.keywords)
    return DistributionMethod(x, name) if is_distribution(x) and hasattr(x, name) else NotImplemented


def evaluate(distribution: Any, name: str, arguments: tuple[Any, ...], names: tuple[str, ...]) -> Any:
    """A call of a method, whose last arguments are passed by these names."""
    count = len(arguments) - len(names)
    return getattr(distribution, name)(*arguments[:count], **dict(zip(names, arguments[count:])))


def shapes(r: Recorder, given: Given) -> Sequence[Shape]:
    return [broadcast(r, [tuple(dims(x)) for x in given["arguments"]])]


EVALUATE = HostEntry(evaluate, (), shapes, values=("arguments",), of_sizes=True)


# -- interpolants
INTERPOLANTS = frozenset((
    "CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "CubicHermiteSpline", "PPoly", "BPoly", "BSpline",
    "interp1d", "UnivariateSpline", "InterpolatedUnivariateSpline", "LSQUnivariateSpline", "BarycentricInterpolator",
    "KroghInterpolator",
))  # fmt: skip
"""Classes whose objects are called with places, of numbers that have one value at each."""


def is_interpolant(x: Any) -> bool:
    kind = type(x)
    return is_of_scipy(kind, "scipy.interpolate.") and kind.__name__ in INTERPOLANTS


def interpolate(interpolant: Any, x: Any) -> Any:
    """interpolant(x)."""
    return interpolant(x)


def place_in(x: Any) -> float:
    """A place at which an interpolant has a value."""
    for name in ("x", "xi", "t"):
        if (places := getattr(x, name, None)) is not None and len(places):
            return float(places[len(places) // 2])
    return 1.0


def interpolated(r: Recorder, interpolant: Any, x: Any) -> Any:
    """interpolant(x), of values that are numbers."""
    if ask(np.ndim, ask(interpolant, place_in(interpolant))) != 0:
        raise r.refuse(f"a {type(interpolant).__name__} of values that are arrays", "one for each column")
    entry = HostEntry(interpolate, ("x",), like("x"), stand_ins={"x": place_in(interpolant)}, of_sizes=True)
    return entry(r, interpolant, x)


def call(r: Recorder, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a distribution, of its method or of an interpolant; NotImplemented for others."""
    if isinstance(function, ManyMethod):
        name = f"{untraced.public_name(type(function.of))}.{function.name}"
        if function.parameters is not None:
            kwargs = {**kwargs, **dict(zip(("size", "random_state"), args[function.parameters :]))}
            args = args[: function.parameters]
        return untraced.call(r, getattr(function.of, function.name), args, kwargs, name)
    if is_of_many(function):
        return untraced.call(r, function, args, kwargs, keeps="all")
    if is_distribution(function) and hasattr(function, "rvs") and not hasattr(function, "dist"):
        ask(function, *map(concrete, args), **{k: concrete(x) for k, x in kwargs.items()})  # raises what SciPy raises
        return Partial(function, tuple(args), kwargs)
    if is_interpolant(function) and len(args) == 1 and not kwargs:
        return interpolated(r, function, args[0])
    if not isinstance(function, DistributionMethod):
        return NotImplemented
    held = [*getattr(function.of, "args", ()), *getattr(function.of, "kwds", {}).values()]
    if any(ask(np.ndim, x) for x in held):
        raise r.refuse("a distribution whose parameters are arrays", "pass them: norm.pdf(x, loc, scale)")
    args = [*args[function.parameters :], *args[: function.parameters]]
    given = map(untraced.sure, (*args, *kwargs.values()))  # what it gives is NumPy's for each
    return EVALUATE(r, function.of, function.name, tuple(given), tuple(kwargs))
