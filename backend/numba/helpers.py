"""Functions that an emitted module may need beside NumPy's, as text: those it uses are written at its beginning.

Each says what an op means where Python's operators or NumPy's functions on scalars, or Numba's, say something else.
"""

from __future__ import annotations

import re
import textwrap

NAME = re.compile(r"def (\w+)")
HELPERS: dict[str, str] = {}
"""By name: the text of each, in the order in which they may use one another."""


def _helper(text: str) -> None:
    text = textwrap.dedent(text).strip()
    found = NAME.match(text)
    assert found is not None
    HELPERS[found[1]] = text


EXTREMES = ("maximum", "minimum", "fmax", "fmin")
OF_HALVES = "_of_halves"
NOT_COMPILED = frozenset({"part", "windows", "diagonal", "recast", *(name + OF_HALVES for name in EXTREMES)})
"""Those that Numba does not compile; it has no float16."""

_helper('''
    def maximum(a, b):
        """np.maximum: of equal numbers the second."""
        return a if a > b or np.isnan(a) else b
''')
_helper('''
    def minimum(a, b):
        """np.minimum: of equal numbers the second."""
        return a if a < b or np.isnan(a) else b
''')
_helper('''
    def fmax(a, b):
        return a if a >= b or np.isnan(b) else b
''')
_helper('''
    def fmin(a, b):
        return a if a <= b or np.isnan(b) else b
''')
for _name, _old, _new in zip(EXTREMES, ("> b", "< b", "", ""), (">= b", "<= b", "", "")):  # of equal halves the first
    _helper(HELPERS[_name].replace(_name, _name + OF_HALVES, 1).replace(_old, _new).replace("second", "first"))
_helper('''
    def as_int64(x):
        """A float as an integer; what does not fit becomes the least one."""
        return np.int64(x) if x >= -(2.0**63) and x < 2.0**63 else np.int64(-(2**63))
''')
_helper('''
    def as_int32(x):
        """A float as an integer; what does not fit becomes the least one."""
        return np.int32(x) if x >= -(2.0**31) and x < 2.0**31 else np.int32(-(2**31))
''')
_helper('''
    def unsigned(n):
        """The bits of an integer as unsigned."""
        high = np.uint64((n >> 32) & 0xFFFFFFFF)
        return np.uint64(n & 0xFFFFFFFF) | (high << np.uint64(32))
''')
_helper('''
    def as_uint64(x):
        """A float as an unsigned integer, as C on x86 has it."""
        if x >= 2.0**63:
            return unsigned(as_int64(x - 2.0**63)) ^ np.uint64(2**63)
        return unsigned(as_int64(x))
''')
_helper('''
    def floor_divide(a, b):
        """a // b; by zero 0."""
        if b == 0:
            return a * 0
        return -a if b == -1 else a // b
''')
_helper('''
    def divide(a, b):
        """The quotient towards zero; by zero 0."""
        if b == 0 or b == -1:
            return -a * (b != 0)
        q = a // b
        return q + 1 if q * b != a and (a < 0) != (b < 0) else q
''')
_helper('''
    def remainder(a, b):
        """The remainder with the sign of `a`; by zero 0."""
        if b == 0 or b == -1:
            return a * 0
        r = a % b
        return r - b if r != 0 and (r < 0) != (a < 0) else r
''')
_helper('''
    def sum_overflows(a, b):
        """Whether a + b does not fit 64 bits."""
        return a > 2**63 - 1 - b if b > 0 else a < -(2**63) - b
''')
_helper('''
    def difference_overflows(a, b):
        """Whether a - b does not fit 64 bits."""
        return a < -(2**63) + b if b > 0 else a > 2**63 - 1 + b
''')
_helper('''
    def product_overflows(a, b):
        """Whether a * b does not fit 64 bits."""
        if a == 0 or b == 0:
            return False
        if a > 0 and b > 0:
            return b > (2**63 - 1) // a
        if a > 0:
            return b < (-(2**63) + (a - 1)) // a
        if b > 0:
            return a < (-(2**63) + (b - 1)) // b
        return b < -(2**63 - 1) or a < -((2**63 - 1) // -b)
''')
_helper('''
    def bit_length(n):
        """n.bit_length()"""
        if n < -(2**63 - 1):
            return 64
        n = abs(n)
        count = 0
        while n > 0:
            n >>= 1
            count += 1
        return count
''')
_helper('''
    def checked(index, size, axis):
        """An index that may be negative, within an axis."""
        at = index + size if index < 0 else index
        if at < 0 or at >= size:
            raise IndexError(f"an index is out of bounds for axis {axis} with size {size}")
        return at
''')
_helper('''
    def item(x):
        """The only element of x as an array without axes."""
        return np.lib.stride_tricks.as_strided(x, (), ())
''')
_helper('''
    def part(x, offsets, sizes, strides, dims):
        """A view of x: its axis k steps along axis dims[k] of x (None: a new one)."""
        start = x[tuple([slice(max(o, 0), None) for o in offsets])]
        shape = [1 if d is None else sizes[d] for d in dims]
        steps = [0 if d is None else x.strides[d] * strides[d] for d in dims]
        return np.lib.stride_tricks.as_strided(start, shape, steps)
''')
_helper('''
    def windows(x, size, axis):
        """All runs of so many neighbours along an axis, as a new last axis."""
        shape = list(x.shape)
        shape[axis] += 1 - size
        steps = (*x.strides, x.strides[axis])
        return np.lib.stride_tricks.as_strided(x, (*shape, size), steps)
''')
_helper('''
    def diagonal(x, a, b):
        """The diagonal of two axes, as the last axis."""
        rest = [d for d in range(x.ndim) if d != a and d != b]
        shape = [*(x.shape[d] for d in rest), x.shape[a]]
        steps = [*(x.strides[d] for d in rest), x.strides[a] + x.strides[b]]
        return np.lib.stride_tricks.as_strided(x, shape, steps)
''')
_helper('''
    def recast(x, dtype):
        """The memory of x as another type: complex numbers are pairs of floats."""
        dtype = np.dtype(dtype)
        if dtype.itemsize < x.itemsize:
            return x[..., None].view(dtype)
        return x.view(dtype)[..., 0] if dtype.itemsize > x.itemsize else x.view(dtype)
''')


def texts(names: set[str]) -> list[str]:
    """The texts of the helpers of these names, and of those that they use."""
    found = set(names)
    for name in reversed(HELPERS):
        if name in found:
            found |= {other for other in HELPERS if other != name and re.search(rf"\b{other}\(", HELPERS[name])}
    return [text for name, text in HELPERS.items() if name in found]
