"""Random programs that no thought is given to: any function of any expression, whatever dtypes and shapes meet there.

Half of them raise, and then what NumPy raises is asked for; the others go where a program that is drawn to be valid
does not: numbers in place of arrays, arrays of no dimension, of one row or none, Python's numbers beside NumPy's. The
second set of arguments has other dtypes and ranks.

A program is written by the rules of GRAMMAR: each `<part>` of a text is replaced by one of the part's texts.
"""

from __future__ import annotations

import random
import re

from tracebuf.testing.programs import FOOTER, HEADER, Program

__all__ = ["generate"]

UNARY = (
    "np.sin", "np.exp", "np.sqrt", "np.abs", "np.negative", "np.floor", "np.sign", "np.square", "np.isnan", "np.conj",
    "np.real", "np.imag", "np.cumsum", "np.sort", "np.unique", "np.ravel", "np.transpose", "np.copy", "np.cumprod",
    "np.argsort", "np.flatnonzero", "np.diff", "np.atleast_2d", "np.squeeze", "np.fliplr", "np.flipud", "np.rot90",
    "np.triu", "np.tril", "np.diag", "np.nan_to_num", "np.isfinite", "np.logical_not", "np.trunc", "np.rint", "np.tanh",
    "np.log1p", "np.signbit", "np.reciprocal", "np.nancumsum", "np.gradient", "np.angle", "np.round", "np.invert",
    "np.asarray", "np.array", "np.ascontiguousarray", "np.zeros_like", "np.ones_like", "np.fix", "np.count_nonzero",
    "np.median", "np.ptp", "np.trace", "np.unwrap", "np.deg2rad", "len", "float", "int", "bool", "abs", "sum", "max",
    "-", "+", "~",
)  # fmt: skip
REDUCTIONS = (
    "np.sum", "np.prod", "np.max", "np.min", "np.mean", "np.std", "np.var", "np.any", "np.all", "np.argmax",
    "np.argmin", "np.nansum", "np.nanmax", "np.median", "np.ptp", "np.count_nonzero", "np.nanmean", "np.cumsum",
    "np.sort", "np.argsort", "np.average", "np.linalg.norm", "np.flip", "np.diff",
)  # fmt: skip
BINARY = (
    "np.add", "np.multiply", "np.subtract", "np.divide", "np.maximum", "np.minimum", "np.power", "np.arctan2",
    "np.hypot", "np.floor_divide", "np.remainder", "np.equal", "np.less", "np.greater_equal", "np.logical_and",
    "np.bitwise_xor", "np.copysign", "np.fmax", "np.dot", "np.isclose", "np.left_shift", "np.fmod", "np.logaddexp",
    "np.matmul", "np.inner", "np.convolve", "np.isin", "np.cross", "np.vdot", "np.polyval", "np.union1d",
    "np.setdiff1d", "np.allclose", "np.array_equal", "np.gcd", "np.ldexp", "np.nextafter", "np.correlate", "divmod",
    "np.heaviside", "max", "min",
)  # fmt: skip
OPERATORS = "+", "-", "*", "/", "//", "%", "**", "<", ">", "==", "!=", "&", "|", "^", "@", ">=", "<<", "and", "or"
ATTRIBUTES = (
    "T", "real", "imag", "ravel()", "reshape(-1)", "copy()", "sum()", "max()", "mean()", "astype(np.float32)",
    "astype(int)", "swapaxes(0, -1)", "size", "shape[0]", "ndim", "flatten()", "min(axis=0)", "cumsum()", "conj()",
    "any()", "all(axis=0)", "dot(n)", "repeat(2)", "argsort()", "transpose()", "squeeze()", "flat[0]", "view()",
    "nonzero()[0]", "clip(0, 3)", "std()", "round()", "astype(bool)", "diagonal()", "trace()", "prod()", "tolist()",
    "item()", "reshape(-1, 1)", "astype(complex)", "dtype.kind", "itemsize", "strides[0]", "argmax(axis=0)",
    "take([0])", "var(axis=-1)", "shape", "is_integer()", "bit_length()", "conjugate()", "reshape(n, -1)",
)  # fmt: skip
GROWING = (
    "np.outer(<e>, <e>)", "np.kron(<e>, <e>)", "np.tensordot(<e>, <e>, axes=<012>)", "np.tile(<e>, <reps>)",
    "np.append(<e>, <e>)", "np.stack((<e>, <e>)<axis>)", "np.concatenate((<e>, <e>)<axis>)", "np.hstack((<e>, <e>))",
    "np.vstack((<e>, <e>))", "np.column_stack((<e>, <e>))", "np.meshgrid(<e>, <e>)[<01>]", "np.pad(<e>, 1)",
)  # fmt: skip
"""What is larger than its operands: not in loops, where sizes would grow without end."""
GRAMMAR: dict[str, tuple[str, ...]] = {
    "e": (
        *("<name>",) * 14, *("<number>",) * 2, *("(<e> <operator> <e>)",) * 3, *("<unary>(<e>)",) * 4,
        *("<reduction>(<e><axis>)",) * 3, *("<binary>(<e>, <e>)",) * 3, *("<name>[<index>]",) * 4,
        *("<name>.<attribute>",) * 3, "<made>", "<composed>", "<growing>",
    ),
    "number": ("n", "2", "1.5", "-1", "0.5j", "True", "x", "x"),
    "operator": OPERATORS, "unary": UNARY, "reduction": REDUCTIONS, "binary": BINARY, "attribute": ATTRIBUTES,
    "growing": GROWING,
    "composed": (
        "np.where(<e> > 0, <e>, <e>)", "np.interp(<e>, np.arange(4), <name>.ravel()[:4])",
        "np.clip(<e>, <limit>, <limit>)", "np.take(<e>, <taken><axis>)", "np.broadcast_arrays(<e>, <e>)[<01>]",
        "np.histogram(<e>, bins=4)[<01>]", "np.bincount(<e>)", "(<e> if <condition> else <e>)", "(<e>, <e>)[<01>]",
        "[v for v in <name>][<01>]", "np.select([<e> > 0], [<e>], <number>)", "np.einsum('i,i', <e>, <e>)", "(not <e>)",
    ),
    "made": (
        "np.zeros(3)", "np.ones((2, 3))", "np.zeros(n)", "np.full((2, 3), x)", "np.arange(n)", "np.eye(3)",
        "np.linspace(0, x, 4)", "np.array([x, <name>.sum()])", "np.float64(x)", "np.int8(n)", "np.full(n, <e>)",
    ),
    "axis": (
        "", ", axis=0", ", axis=-1", ", axis=1", ", axis=None", ", axis=0, keepdims=True", ", axis=-1, keepdims=True",
        ", axis=(0, 1)",
    ),
    "limit": ("0", "None", "<name>", "2"), "taken": ("0", "[0, 1]", "n"), "reps": ("2", "(2, 1)", "n"),
    "01": ("0", "1"), "012": ("0", "1", "2"),
    "index": (
        *("<at>",) * 5, *("<at>, <at>",) * 2, "<name> > 0", "<name> > n", "[0, 0]", "[0, -1]", "np.arange(2)",
        "<name>.argmax()", "np.array([True, False, True])",
    ),
    "at": (":", "::2", "1:", ":-1", "::-1", "0", "-1", "...", "None", "n", ":n", "n:", "1:3", "-2:"),
    "condition": (
        "n > 1", "n > 2", "<name>.sum() > 0", "x < 1", "np.any(<name> > 1)", "len(<name>) > 2", "<name>.ndim > 1",
        "<name> is <name>", "isinstance(<name>, np.ndarray)",
    ),
    "range": ("range(n)", "range(3)", "range(1, n)", "range(len(<name>))"),
    "statement": (
        *("<new> = <e>",) * 6, "<name> <assigned> <e>", "<name> <assigned> <e>", *("<name>[<index>] <stored> <e>",) * 3,
        "np.<ufunc>(<e>, <e>, out=<name>)", "x = x * 2 + <number>",
    ),
    "assigned": ("+=", "-=", "*=", "/=", "//=", "**=", "%=", "|=", "&="), "stored": ("=", "=", "+=", "*=", "-="),
    "ufunc": ("add", "multiply", "subtract", "maximum"),
}  # fmt: skip
DTYPES = (
    *("float64",) * 4, "float32", "int64", "int64", "int32", "int16", "uint8", "bool", "complex128", "uint32", "int8",
    "complex64",
)  # fmt: skip
SHAPES = (
    (), (1,), (0,), *((3,),) * 4, *((5,),) * 2, *((2, 3),) * 2, *((3, 3),) * 2, (1, 4), (4, 1), (2, 1, 3), (2, 3, 2),
    (0, 3),
)  # fmt: skip
LAYOUTS = ("C", "C", "C", "F", "stepped", "reversed")
DEPTH = 2
"""Of expressions in one another, and of blocks."""


def generate(draw: random.Random) -> Program:
    """A program of one to three arrays and the numbers n and x, and its two sets of arguments."""
    arrays = ["a", "b", "c"][: draw.choice((1, 2, 2, 3))]
    lines = _Body(draw, arrays).block(0, draw.randint(1, 4))
    names = [*arrays, *dict.fromkeys(re.findall(r"^(t\d) = ", "\n".join(lines), re.M))]
    returned = ", ".join(draw.choice(names) for _ in range(draw.choice((1, 1, 2))))
    body = "".join(f"    {line}\n" for line in [*lines, f"return {returned}"])
    parts = [HEADER, "TOLERANCE = 1e-09\nDONATED = ()", f"def program({', '.join([*arrays, 'n', 'x'])}):\n{body}"]
    for name in ("arguments", "arguments_again"):
        dtype, shape = draw.choice(DTYPES), draw.choice(SHAPES)
        made = []
        for _ in arrays:
            d = dtype if draw.random() < 0.85 else draw.choice(DTYPES)
            s = shape if draw.random() < 0.9 else draw.choice(SHAPES)
            special = ", special=True" if draw.random() < 0.15 else ""
            made.append(f'array("{d}", {s}, {draw.randrange(99)}, "{draw.choice(LAYOUTS)}"{special})')
        made += [str(draw.randrange(4)), draw.choice(("0.5", "1.0", "2", "-1"))]
        parts.append(f"def {name}():\n    return {', '.join(made)}\n")
    return Program("\n\n\n".join(parts) + FOOTER)


class _Body:
    """Statements over names that are bound whichever path is taken."""

    def __init__(self, draw: random.Random, names: list[str]) -> None:
        self.draw, self.names = draw, list(names)
        self.loops = 0

    def block(self, depth: int, count: int) -> list[str]:
        lines: list[str] = []
        for _ in range(count):
            how = self.draw.random() if depth < DEPTH else 1.0
            if how < 0.1:
                lines += [f"if {self.text('<condition>')}:", *self.inside(depth)]
                lines += ["else:", *self.inside(depth)] if self.draw.random() < 0.5 else []
            elif how < 0.2:
                self.loops += 1
                inside = self.inside(depth)
                if self.draw.random() < 0.6:
                    inside.append(f"    {self.text('<name>')}[i{depth}] {self.text('<stored> <e>')}")
                lines += [f"for i{depth} in {self.text('<range>')}:", *inside]
                self.loops -= 1
            else:
                lines.append(self.text("<statement>", depth))
        return lines

    def inside(self, depth: int) -> list[str]:
        return ["    " + line for line in self.block(depth + 1, self.draw.randint(1, 2))]

    def text(self, form: str, block: int = 1, depth: int = 0) -> str:
        """A text by the grammar; a new name is known to what follows only where it is bound on every path."""
        bound: list[str] = []

        def part(match: re.Match[str]) -> str:
            kind = match[1]
            if kind == "name" or (kind == "e" and depth > DEPTH):
                return self.draw.choice(self.names)
            if kind == "new":
                bound.append(f"t{len(self.names)}" if block == 0 and self.draw.random() < 0.75 else "")
                return bound[0] or self.draw.choice(self.names)
            texts = [t for t in GRAMMAR[kind] if t != "<growing>" or not self.loops]
            return self.text(self.draw.choice(texts), block, depth + (kind == "e"))

        found = re.sub(r"<(\w+)>", part, form)
        self.names += [name for name in bound if name]
        return found
