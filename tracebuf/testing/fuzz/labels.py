"""Random programs of arrays of text: labels that vectors are picked, grouped and counted by, in loops and branches too.

Eager NumPy and every rung of the ladder; which texts there are differs from call to call. Sums of groups are compared
within a tolerance.
"""

from __future__ import annotations

import random

from tracebuf.testing.programs import FOOTER, HEADER, Program

__all__ = ["generate"]

TEXTS = "cat", "dog", "ant", "bee", "horse", "", "Cat"
VECTORS = (
    "{a} = np.where({y} == {t!r}, {b}, {a})", "{a}[{y} == {t!r}] += 1.5", "{a} = {a} * ({y} != {z})",
    "{a}[np.isin({y}, [{t!r}, {u!r}])] = {b}[0]", "{a} = {a} + np.unique({y}, return_inverse=True)[1]",
    "{a}[{y} < {z}] = {b}[{y} < {z}]", "{a} = {b} + np.searchsorted(np.unique({y}), {y})",
    "for t in np.unique({y}):\n    {a}[{y} == t] -= {b}[{y} == t].mean()", "{a} = {b}[np.argsort({y}, kind='stable')]",
    "for i, t in enumerate({y}):\n    if t == {t!r}:\n        {a}[i] = x", "{a}[{y} == {z}[0]] *= 0.5",
    "for i, t in enumerate({y}):\n    {a}[i] += t > {t!r}", "{a} = {b}[::-1] + x",
    "for k, t in enumerate(np.union1d({y}, {z})):\n    {a}[{z} == t] = k", "{a}[0] = ({y} >= {z}).sum()",
)  # fmt: skip
LABELS = (
    "{y} = {z}[::-1]", "{y} = np.where({a} > {b}, {y}, {z})", "{y} = np.sort({z})", "{y} = np.roll({y}, {k})",
    "{y} = np.concatenate(({z}[{k}:], {y}[:{k}]))", "{y} = {z}.copy()",
    "{y} = {y}[np.unique({z}, return_inverse=True)[1]]",
    "{y} = np.array([{t!r}, {u!r}])[({a} > 0).astype(int)]", "{y} = np.where({z} == {t!r}, {u!r}, {z})",
)  # fmt: skip
NUMBERS = (
    "x = float(({y} == {z}).sum())", "x = np.mean({y} == {z}) + x", "x = len(np.unique({y})) * 0.5",
    "x = np.count_nonzero({y} < {z})", "x = np.unique({y}, return_counts=True)[1].max()", "x = {a}[{y} == {t!r}].sum()",
    "x = 1.0 if {t!r} in {y} else 2.0", "x = 0.5 if {y}[0] == {z}[-1] else x", "x = len(np.setdiff1d({y}, {z})) + 0.5",
    "x = sum(1 for t in {y} if t == {t!r})", "x = np.intersect1d({y}, {z}).size",
)  # fmt: skip
HEADS = "for i in range(n):", "for i in range(2):", "if n > 2:", "if flag[0]:", "if (y == z).any():", "if y[0] < z[0]:"
RESULTS = (
    "v, w, y, z", "v + w", "y, x", "np.unique(y), v", "y == z, w", "v, x, z[::2]", "np.unique(z, return_counts=True)",
    "y[v > w], x", "y[0], z[-1], v",
)  # fmt: skip


def generate(draw: random.Random) -> Program:
    """A program over the vectors v and w and the labels y and z, and its arguments."""

    def statement() -> str:
        a, b = draw.sample(["v", "w"], 2)
        y, z = draw.sample(["y", "z"], 2)
        t, u = draw.sample(TEXTS, 2)
        kind = draw.choices((VECTORS, LABELS, NUMBERS), (6, 2, 2))[0]
        return draw.choice(kind).format(a=a, b=b, y=y, z=z, t=t, u=u, k=draw.randint(1, 3))

    def block(depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(draw.randint(1, 4 - depth)):
            if depth < 2 and draw.random() < 0.3:
                lines += [draw.choice(HEADS), *("    " + line for line in block(depth + 1))]
            else:
                lines += statement().split("\n")
        return lines

    lines = ["x = 1.0", *block(0), *block(0), f"return {draw.choice(RESULTS)}"]
    text = [HEADER, "TOLERANCE = 1e-09", "DONATED = ()"]
    text.append("def program(v, w, y, z, flag, n):\n    " + "\n    ".join(lines))
    layout = draw.choice(("C", "C", "reversed", "stepped"))
    for name, size, seed in (("arguments", 7, 0), ("arguments_again", 9, 5)):
        made = [f'array("float64", ({size},), {seed + k}, "{layout}")' for k in range(2)]
        made += [f"np.array({[draw.choice(TEXTS[: 4 + seed]) for _ in range(size)]!r})" for _ in range(2)]
        text.append(f'def {name}():\n    return {", ".join(made)}, array("bool", (5,), {seed}, "C"), {2 + seed % 3}')
    return Program("\n\n\n".join(text) + "\n" + FOOTER)
