"""The C library's pow(x, 2.0) in LLVM's words, with its bits and in a fraction of its time.

glibc's pow errs by 0.511 units in the last place and 4.2e-5 more for each unit of |log(x * x)| (the comment at the top
of its e_pow.c; before 2.28 it rounded correctly): by less than 0.514 where x * x is within 2**-64 .. 2**64. So where
x * x lies within 0.48 units of its rounded value, which a fused operation tells exactly, every other number is more
than 0.52 units away, and pow gives that value. In one case of 25, and for what is outside of these bounds or a power
of two, below which numbers lie closer, pow is called.
"""

from __future__ import annotations

import os
import struct
from functools import cache

NAME = "square_as_pow"
FIRST = 0x3FF - 64
"""The exponent field of the least square that is taken; that of the largest is as far from 1's."""
MOST = f"0x{struct.unpack('<Q', struct.pack('<d', 0.48 * 2.0**-52))[0]:016X}"
TEXT = f"""define internal double @{NAME}(double %x) alwaysinline nounwind {{
%square = fmul double %x, %x
%minus = fneg double %square
%rest = call double @llvm.fma.f64(double %x, double %x, double %minus)
%bits = bitcast double %square to i64
%exponent = and i64 %bits, 9218868437227405312
%digits = and i64 %bits, 4503599627370495
%from = sub i64 %exponent, {FIRST << 52}
%usual = icmp ult i64 %from, {2 * (0x3FF - FIRST) << 52}
%between = icmp ne i64 %digits, 0
%power = bitcast i64 %exponent to double
%most = fmul double %power, {MOST}
%size = call double @llvm.fabs.f64(double %rest)
%near = fcmp olt double %size, %most
%two = and i1 %usual, %between
%sure = and i1 %two, %near
br i1 %sure, label %one, label %other
one:
ret double %square
other:
%found = call double @pow(double %x, double 2.0) nobuiltin nounwind willreturn memory(none)
ret double %found
}}"""
NEEDED = {
    "llvm.fma.f64": "double @(double, double, double)", "llvm.fabs.f64": "double @(double)",
    "pow": "double @(double, double)",
}  # fmt: skip
"""What it calls, by name, as `Code.declare` takes it."""
TWO = "0x4000000000000000"


@cache
def known() -> bool:
    """Whether the C library is one of which the bound is known."""
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (AttributeError, OSError, ValueError):
        return False
