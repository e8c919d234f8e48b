"""Random programs of SciPy's functions, as host calls and as ufuncs, between statements of NumPy's: linear algebra,
transforms, filters and special functions of vectors of one size and a square matrix, in loops and branches too.

Eager NumPy and every rung of the ladder; compared within a tolerance, for blocks of the libraries' own sum in orders
that depend on where memory begins. Nothing is decided by a computed number that rounding could turn over.
"""

from __future__ import annotations

import random

from tracebuf.testing.programs import FOOTER, HEADER, Program

__all__ = ["generate"]

SIZES = 7, 9
VECTORS = (
    "{a} = special.expit({b})", "{a} = special.gammaln(abs({b}) + 1) - {a}", "{a} = special.erf({b}) * {a}",
    "{a} = special.xlogy(abs({a}), abs({b}) + 1)", "{a} = special.log_softmax({b})", "{a} = special.jv(1, {b})",
    "special.expit({b}, out={a})", "{a}[1:] = special.ndtr({b}[:-1])",
    "{a} = signal.lfilter([0.5, 0.25], [1.0, -0.25], {b})", "{a} = signal.medfilt({b}, 3)",
    "{a} = signal.fftconvolve({b}, {a}[:3], mode='same')", "{a} = signal.convolve({b}, {a}[:2], 'same')",
    "{a} = signal.savgol_filter({b}, 5, 2)", "{a} = signal.hilbert({b}).imag", "{a} = signal.sosfilt(SOS, {b})",
    "{a} = signal.windows.hann(len({b})) * {b}", "{a} = signal.detrend({b})",
    "{a} = ndimage.gaussian_filter1d({b}, 1.0)", "{a} = ndimage.uniform_filter({b}, 3)",
    "{a} = ndimage.median_filter({b}, size=3, mode='nearest')", "{a} = ndimage.shift({b}, 1.0)",
    "{a} = ndimage.maximum_filter1d({b}[::-1], 3)", "ndimage.correlate1d({b}, [1.0, 2, 1], output={a})",
    "{a} = fft.irfft(fft.rfft({b}), len({b}))", "{a} = fft.dct({b}, norm='ortho')",
    "{a} = fft.ifft({b} + 1j * {a}).real",
    "{a} = linalg.solve(m, {b})", "{a} = linalg.lu_solve(linalg.lu_factor(m), {b})",
    "{a} = linalg.cho_solve(linalg.cho_factor(m @ m.T + np.eye(len(v))), {b})", "{a} = linalg.svdvals(m)",
    "{a} = np.sort(np.linalg.eigvals(m).real)", "{a} = linalg.eigh(m + m.T)[0]", "{a} = m @ {b} * 0.125",
    "{a} = {a} * 0.5 + {b}", "{a}[{k}:] = {b}[:-{k}]", "{a} += x", "{a} = {b}[::-1]", "{a} = np.clip({b}, -9, 9)",
    "{a} = S({b}, ({k}, len({b})), (0, {b}.strides[0])).sum(axis=0)",
)  # fmt: skip
MATRICES = (
    "m = linalg.inv(m)", "m = linalg.expm(m * 0.01) + m", "m = ndimage.gaussian_filter(m, 0.7)", "m = m.T",
    "m = ndimage.convolve(m, m[:3, :3]) * 0.01 + m", "q, t = linalg.qr(m)\nm = q + m", "m[0] = {a}", "m[:, 1] += {a}",
    "m = fft.dctn(m, norm='ortho') + m", "m = linalg.toeplitz({a}) * 0.125 + m", "m = spatial.cdist(m, m) * 0.125 + m",
)  # fmt: skip
NUMBERS = (
    "x = linalg.norm({a})", "x = special.logsumexp({a})", "x = linalg.det(m) * 1e-3", "x = stats.skew({a})",
    "x = np.abs(np.linalg.eigvals(m)).max()", "x = special.erf(x) + {k}", "x = float({a}[0])", "x = x * 0.5",
)  # fmt: skip
HEADS = "for i in range(n):", "for i in range(2):", "if n > 2:", "if flag[0]:", "if flag[n]:"
RESULTS = ("v, w, m, x", "v + w", "m, x", "w, x", "v[::2], m[1:]", "(v * w).sum()", "v, v, x")
HEAD = """from numpy.lib.stride_tricks import as_strided as S
from scipy import fft, linalg, ndimage, signal, special, stats
from scipy.spatial import distance as spatial

SOS = signal.butter(2, 0.3, output="sos")"""


def generate(draw: random.Random) -> Program:
    """A program over the vectors v and w and the matrix m, and its arguments."""

    def statement() -> str:
        a, b = draw.sample(["v", "w"], 2)
        kind = draw.choices((VECTORS, MATRICES, NUMBERS), (6, 2, 1))[0]
        return draw.choice(kind).format(a=a, b=b, k=draw.randint(1, 3))

    def block(depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(draw.randint(1, 4 - depth)):
            if depth < 2 and draw.random() < 0.3:
                head = draw.choice(HEADS)
                lines += [head, *("    " + line for line in block(depth + 1))]
            else:
                lines += statement().split("\n")
        return lines

    lines = ["m = m + 8 * np.eye(len(v))", "x = 1.0", *block(0), *block(0), f"return {draw.choice(RESULTS)}"]
    text = [HEADER, HEAD, "TOLERANCE = 1e-06", "DONATED = ()"]
    text.append("def program(v, w, m, flag, n):\n    " + "\n    ".join(lines))
    layout = draw.choice(("C", "C", "F", "reversed", "stepped"))
    for name, size, seed in (("arguments", SIZES[0], 0), ("arguments_again", SIZES[1], 5)):
        made = [f'array("float64", ({size},), {seed + k}, "{layout if layout != "F" else "C"}")' for k in range(2)]
        made += [f'array("float64", ({size}, {size}), {seed}, "{layout}")', f'array("bool", (5,), {seed}, "C")']
        text.append(f"def {name}():\n    return {', '.join(made)}, {2 + seed % 3}")
    return Program("\n\n\n".join(text) + "\n" + FOOTER)
