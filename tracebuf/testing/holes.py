"""What may stand at a parameter of a NumPy function, by its meaning: each hole draws the text of one argument."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tracebuf.testing.drawn import INTEGERS, Array, Drawn, Hole, texts_of

__all__ = [
    "ARRAY", "ARRAYS", "AXES", "AXIS", "BOOLS", "DTYPE", "FLAG", "MASK", "NUMBER", "OPERAND", "ORDER", "OTHER",
    "PLACES", "SAME", "SHAPE", "VECTOR", "WRITABLE", "arrays_along", "array_of", "ints", "several", "texts_of",
]  # fmt: skip


def ARRAY(d: Drawn) -> str:
    """An array of any kind."""
    return d.array()


def WRITABLE(d: Drawn) -> str:
    """An array that may be stored to: `ufunc.at` ignores NumPy's flag and stores to read-only arrays as well, which is
    not tested."""
    name = d.array()
    made = d.values[name]
    assert isinstance(made, Array)
    d.main = d.values[name] = replace(made, writable=True, layout="C" if made.layout == "repeated" else made.layout)
    return name


def array_of(
    dtypes: Sequence[str] | None = None, shapes: Sequence[tuple[int, ...]] | None = None, pool: str | None = None
) -> Hole:
    return lambda d: d.array(None if shapes is None else tuple(d.pick(shapes)), dtypes, pool)


VECTOR = array_of(shapes=((3,), (5,), (1,), (0,), (9,)))


def NUMBER(d: Drawn) -> str:
    """A number of Python's or NumPy's."""
    kind = d.pick(("float", "int", "np", "bool", "float", "int"))
    if kind == "np":
        kind = d.dtype()
    if kind in INTEGERS or kind == "int":
        return d.number(kind, (2, 1, 0, 3) if kind.startswith("u") else (2, -1, 0, 3))
    return d.number(kind, (True, False) if kind == "bool" else (0.5, -1.0, 2.0, 0.0))


def OTHER(d: Drawn) -> str:
    """A number, or an array that broadcasts with the main one."""
    kind = d.pick(("same", "fit", "number", "fit", "wide", "wrong"))
    if kind == "number":
        return NUMBER(d)
    if kind == "wrong" and d.one_in(4):
        return d.array()
    return d.array(d.fitting() if kind == "fit" else (2, *d.shape) if kind == "wide" and d.ndim < 3 else d.shape)


def OPERAND(d: Drawn) -> str:
    """An array, rarely a number."""
    return NUMBER(d) if d.one_in(12) else d.array()


def SAME(d: Drawn) -> str:
    """An array of the main one's shape, rarely of another."""
    return d.array(None if d.one_in(12) else d.shape)


def AXIS(d: Drawn) -> str:
    return str(d.axis())


def AXES(d: Drawn) -> str:
    """An axis, a tuple of axes, or None."""
    kind = d.pick(("one", "one", "two", "none", "all", "empty"))
    if kind == "one":
        return AXIS(d)
    if kind == "none":
        return "None"
    if kind == "empty":
        return "()"
    return str(tuple(range(d.ndim)) if kind == "all" else (d.axis(), d.axis()))


FLAG = texts_of("True|False")
ORDER = texts_of("'C'|'F'|'K'|'A'")


def DTYPE(d: Drawn) -> str:
    return str(d.pick((f"np.{d.dtype()}", "float", "int", "bool", f"'{d.dtype()}'", "None"))).replace("np.bool", "bool")


def MASK(d: Drawn) -> str:
    """What `where=` takes."""
    if d.one_in(6):
        return str(d.pick(("True", "False")))
    return d.array(d.fitting(), ("bool", "bool", *(("int64",) if d.one_in(12) else ())))


def BOOLS(d: Drawn) -> str:
    return d.array(d.shape, ("bool",))


def SHAPE(d: Drawn) -> str:
    """A shape argument: an int or a tuple, some of whose sizes are arguments."""

    def size() -> str:
        return d.number("int", (3, 2, 0, 1, 4, 2, 3, -1) if d.one_in(12) else (3, 2, 0, 1, 4, 2, 3))

    n = d.pick((1, 2, 2, 3, 0))
    if n == 1 and d.one_in(2):
        return size()
    return "(" + "".join(f"{size()}, " for _ in range(n)) + ")"


def ints(*items: int) -> Hole:
    """A small int, as a literal or an argument."""
    return lambda d: d.number("int", items)


def PLACES(d: Drawn) -> str:
    """Indices into an axis of the main array, now and then out of range."""
    n = max(d.shape, default=1)
    kind = d.pick(("array", "int", "list", "array", "number"))
    if kind == "int":
        return str(d.pick(range(-n, n + 1)))
    if kind == "number":
        return d.number("int", range(-n, n) or (0,))
    if kind == "list":
        return str([d.pick(range(-n, n)) if n else 0 for _ in range(d.pick((2, 3, 0, 1)))])
    shape = d.pick(((3,), (2, 2), (0,), (1,), ()))
    return d.array(shape, (*INTEGERS, "float64") if d.one_in(12) else INTEGERS, "index")


def ARRAYS(d: Drawn) -> str:
    """A tuple or list of arrays of one shape, some of other dtypes."""
    first = d.array()
    names = [first, *(first if d.one_in(5) else d.array(d.shape) for _ in range(d.pick((1, 2, 0))))]
    return f"[{', '.join(names)}]" if d.one_in(2) else f"({', '.join(names)},)"


def arrays_along(axis: int) -> Hole:
    """Arrays that differ in their size along an axis."""

    def hole(d: Drawn) -> str:
        names = [d.array()]
        for _ in range(d.pick((1, 2, 0))):
            shape = list(d.shape)
            if shape and not d.one_in(4):
                shape[axis if -len(shape) <= axis < len(shape) else 0] = d.pick((1, 2, 3, 0))
            names.append(d.array(tuple(shape)))
        return f"[{', '.join(names)}]" if d.one_in(2) else f"({', '.join(names)},)"

    return hole


def several(hole: Hole, counts: Sequence[int] = (1, 2, 3)) -> Hole:
    """Arguments one after the other, for `*args`."""
    return lambda d: ", ".join(hole(d) for _ in range(d.pick(counts)))
