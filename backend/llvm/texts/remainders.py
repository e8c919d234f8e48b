"""np.fmod in LLVM's words: with the bits of NumPy's loop, which asks the C library for one remainder after the other,
and in a tenth of its time.

A quotient of less than 2**p, where p is the precision, is cut off to the whole number that it should be, or, where it
was rounded up to it, to the next one. In either case what is left of x has no more digits than x and y, so that one
fused operation gives it exactly. Larger quotients are taken in steps, by multiples of y that are powers of two. What
is not finite, or divided by zero, is the C library's.
"""

from __future__ import annotations

from collections.abc import Sequence

CHUNK = 128
"""Elements that are computed side by side, before one looks whether a quotient was too large."""
TYPES = {"dd->d": "double", "ff->f": "float"}
"""By the types of NumPy's loop: LLVM's."""
_BITS = {"double": ("f64", "8", "0x4340000000000000"), "float": ("f32", "4", "0x4170000000000000")}
"""By type: its name in intrinsics, its bytes, 2**p."""

_REST = """%a = call TYPE @llvm.fabs.S(TYPE %x)
%b = call TYPE @llvm.fabs.S(TYPE %y)
%q = fdiv TYPE %a, %b
%small = fcmp olt TYPE %q, LIMIT
%finite = fcmp olt TYPE %b, 0x7FF0000000000000
%short = and i1 %small, %finite"""
_FOUND = """%n = call TYPE @llvm.trunc.S(TYPE %q)
%m = fneg TYPE %n
%r = call TYPE @llvm.fma.S(TYPE %m, TYPE %b, TYPE %a)
%over = fcmp olt TYPE %r, 0.0
%up = fadd TYPE %r, %b
%rest = select i1 %over, TYPE %up, TYPE %r
%found = call TYPE @llvm.copysign.S(TYPE %rest, TYPE %x)"""
_ONE = f"""define internal TYPE @fmod_one_S(TYPE %x, TYPE %y) alwaysinline nounwind {{
{_REST}
br i1 %short, label %one, label %many
one:
{_FOUND}
ret TYPE %found
many:
%far = call TYPE @fmod_far_S(TYPE %x, TYPE %y) cold
ret TYPE %far
}}"""
_FAR_SINGLE = """define internal float @fmod_far_f32(float %x, float %y) noinline nounwind cold {
%u = fpext float %x to double
%v = fpext float %y to double
%r = call double @fmod_one_f64(double %u, double %v)
%found = fptrunc double %r to float
ret float %found
}"""
_FAR = """define internal double @fmod_far_f64(double %x, double %y) noinline nounwind cold {
%a = call double @llvm.fabs.f64(double %x)
%b = call double @llvm.fabs.f64(double %y)
%finite = fcmp olt double %a, 0x7FF0000000000000
%divides = fcmp ogt double %b, 0.0
%bounded = fcmp olt double %b, 0x7FF0000000000000
%two = and i1 %finite, %divides
%usual = and i1 %two, %bounded
br i1 %usual, label %up, label %odd
odd:
%c = call double @fmod(double %x, double %y) nobuiltin
ret double %c
up:
%s = phi double [ %b, %0 ], [ %larger, %raise ]
%far = fdiv double %a, %s
%is_far = fcmp oge double %far, 0x4340000000000000
br i1 %is_far, label %raise, label %down
raise:
%larger = fmul double %s, 0x4330000000000000
br label %up
down:
%left = phi double [ %a, %up ], [ %rest, %lower ]
%by = phi double [ %s, %up ], [ %smaller, %lower ]
%q = fdiv double %left, %by
%n = call double @llvm.trunc.f64(double %q)
%m = fneg double %n
%r = call double @llvm.fma.f64(double %m, double %by, double %left)
%over = fcmp olt double %r, 0.0
%again = fadd double %r, %by
%rest = select i1 %over, double %again, double %r
%more = fcmp ogt double %by, %b
br i1 %more, label %lower, label %end
lower:
%smaller = fmul double %by, 0x3CB0000000000000
br label %down
end:
%found = call double @llvm.copysign.f64(double %rest, double %x)
ret double %found
}"""
_LOOP = f"""define internal void @NAME(ptr %p, ptr %q0, ptr %out, i64 %count) noinline nounwind {{
%found0 = alloca [{CHUNK} x TYPE], align 64
br label %chunks
chunks:
%start = phi i64 [ 0, %0 ], [ %next, %done ]
%left = sub i64 %count, %start
%is_some = icmp sgt i64 %left, 0
br i1 %is_some, label %begin, label %end
begin:
%n0 = call i64 @llvm.smin.i64(i64 %left, i64 {CHUNK})
br label %each
each:
%i = phi i64 [ 0, %begin ], [ %i1, %each ]
%bad = phi i1 [ false, %begin ], [ %worse, %each ]
%at = add nsw i64 %start, %i
%xa = getelementptr inbounds TYPE, ptr %p, i64 XAT
%ya = getelementptr inbounds TYPE, ptr %q0, i64 YAT
%x = load TYPE, ptr %xa
%y = load TYPE, ptr %ya
{_REST}
%long = xor i1 %short, true
%worse = or i1 %bad, %long
{_FOUND}
%fa = getelementptr inbounds TYPE, ptr %found0, i64 %i
store TYPE %found, ptr %fa
%i1 = add nuw nsw i64 %i, 1
%on = icmp slt i64 %i1, %n0
br i1 %on, label %each, label %look
look:
%oa = getelementptr inbounds TYPE, ptr %out, i64 %start
br i1 %worse, label %singly, label %copy
copy:
%bytes = mul i64 %n0, BYTES
call void @llvm.memcpy.p0.p0.i64(ptr %oa, ptr %found0, i64 %bytes, i1 false)
br label %done
singly:
%j = phi i64 [ 0, %look ], [ %j1, %singly ]
%jt = add nsw i64 %start, %j
%xb = getelementptr inbounds TYPE, ptr %p, i64 XJT
%yb = getelementptr inbounds TYPE, ptr %q0, i64 YJT
%xj = load TYPE, ptr %xb
%yj = load TYPE, ptr %yb
%fj = call TYPE @fmod_one_S(TYPE %xj, TYPE %yj)
%oj = getelementptr inbounds TYPE, ptr %oa, i64 %j
store TYPE %fj, ptr %oj
%j1 = add nuw nsw i64 %j, 1
%go = icmp slt i64 %j1, %n0
br i1 %go, label %singly, label %done
done:
%next = add i64 %start, {CHUNK}
br label %chunks
end:
ret void
}}"""
_STRIDED = """define internal void @NAME(ptr %p, i64 %ps, ptr %q0, i64 %qs, ptr %out, i64 %os, i64 %count) noinline {
br label %head
head:
%i = phi i64 [ 0, %0 ], [ %i1, %each ]
%on = icmp slt i64 %i, %count
br i1 %on, label %each, label %end
each:
%xo = mul i64 %i, %ps
%yo = mul i64 %i, %qs
%oo = mul i64 %i, %os
%xa = getelementptr i8, ptr %p, i64 %xo
%ya = getelementptr i8, ptr %q0, i64 %yo
%oa = getelementptr i8, ptr %out, i64 %oo
%x = load TYPE, ptr %xa
%y = load TYPE, ptr %ya
%found = call TYPE @fmod_one_S(TYPE %x, TYPE %y)
store TYPE %found, ptr %oa
%i1 = add nsw i64 %i, 1
br label %head
end:
ret void
}"""
_NEEDS = {
    "fmod": "double @(double, double)", "llvm.smin.i64": "i64 @(i64, i64)",
    "llvm.memcpy.p0.p0.i64": "void @(ptr, ptr, i64, i1)",
}  # fmt: skip


def needed(types: str) -> dict[str, str]:
    """What the functions call that is declared alone, by name: signatures with `@` where the name goes."""
    found = dict(_NEEDS)
    for each in _with_double(types):
        type_ = TYPES[each]
        for name, count in {"fabs": 1, "trunc": 1, "copysign": 2, "fma": 3}.items():
            found[f"llvm.{name}.{_BITS[type_][0]}"] = f"{type_} @({', '.join([type_] * count)})"
    return found


def of_one(types: str) -> dict[str, str]:
    """The definitions, by name, of the function of two numbers, which is the last one, and of what it calls."""
    found = {}
    for each in _with_double(types):
        short = _BITS[TYPES[each]][0]
        found[f"fmod_far_{short}"] = _FAR if TYPES[each] == "double" else _FAR_SINGLE
        found[f"fmod_one_{short}"] = _typed(_ONE, each)
    return found


def of_many(types: str, steps: Sequence[str]) -> tuple[str, str, bool]:
    """(name, definition, whether it takes the steps) of the function of pointers and a count, for operands (the out
    last) of these steps in bytes."""
    short, size, _ = _BITS[TYPES[types]]
    p, q, out = steps
    if out != size or not {p, q} <= {"0", size}:
        name = f"fmod_{short}_strided"
        return name, _typed(_STRIDED, types).replace("NAME", name), True
    name, text = f"fmod_{short}_{int(p == size)}{int(q == size)}", _LOOP
    for place, step in (("X", p), ("Y", q)):
        text = text.replace(f"{place}AT", "%at" if step == size else "0")
        text = text.replace(f"{place}JT", "%jt" if step == size else "0")
    return name, _typed(text, types).replace("NAME", name), False


def _with_double(types: str) -> list[str]:
    """The types whose functions those of these need, these last."""
    return ["dd->d"] if types == "dd->d" else ["dd->d", types]


def _typed(text: str, types: str) -> str:
    """A text for one type."""
    type_ = TYPES[types]
    short, size, limit = _BITS[type_]
    words = {"TYPE": type_, "LIMIT": limit, "BYTES": size, "_S(": f"_{short}(", ".S(": f".{short}("}
    for word, by in words.items():
        text = text.replace(word, by)
    return text
