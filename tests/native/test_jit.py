"""The JIT: text in, callable code out; imports; refusals; life time."""

from __future__ import annotations

import ctypes
import gc
import itertools

import numpy as np
import pytest

from tests.support.growth import kept, kept_by_malloc
from tests.support.params import slow_but
from tests.support.threads import at_once
from tracebuf.backend.llvm import compiler, jit
from tracebuf.backend.objects.locked import lock
from tracebuf.backend.runtime import kernel

SQUARE = """
define void @square(ptr noalias %a, ptr noalias %b, i64 %n) nounwind {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %exit
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr double, ptr %a, i64 %i
  %q = getelementptr double, ptr %b, i64 %i
  %v = load double, ptr %p
  %w = fmul double %v, %v
  store double %w, ptr %q
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
"""
CALLER = """
declare double @given(double)
@count = global i64 7
define internal double @hidden(double %x) noinline { ret double %x }
define double @call(double %x) {
  %h = call double @hidden(double %x)
  %y = call double @given(double %h)
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  ret double %y
}
"""
UNARY = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)


def double_it(x: float) -> float:
    return 2 * x


@pytest.mark.parametrize("speed_level", [0, 2, 3])
def test_a_loop_computes(speed_level: jit.SpeedLevel) -> None:
    library = jit.compile_module(SQUARE, "square", speed_level=speed_level)
    square = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(library.address("square"))
    a = np.arange(1003.0)
    b = np.zeros_like(a)
    square(a.ctypes.data, b.ctypes.data, 1003)
    np.testing.assert_array_equal(b, a * a)
    assert library.cpu_seconds > 0


def test_the_loop_is_vectorized() -> None:
    library = jit.compile_module(SQUARE, "square", {})
    assert "x double>" in library.optimized_ir()
    assert "square" in library.assembly()


def test_imports_bind_symbols_and_globals_are_reachable() -> None:
    given = UNARY(double_it)
    address = ctypes.cast(given, ctypes.c_void_p).value
    assert address is not None
    libraries = [jit.compile_module(CALLER, "caller", {"given": address}) for _ in range(3)]
    for library in libraries:
        assert UNARY(library.address("call"))(21.0) == 42.0
        assert ctypes.c_int64.from_address(library.address("count")).value == 8
    with pytest.raises(KeyError, match="hidden"):
        libraries[0].address("hidden")


def test_symbols_of_the_process_are_found() -> None:
    library = jit.compile_module(
        "declare i64 @strlen(ptr)\ndefine i64 @f(ptr %s) { %n = call i64 @strlen(ptr %s)\n ret i64 %n }", "libc", {}
    )
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)(library.address("f"))(b"seven..") == 7


def test_an_image_can_be_linked_again_with_other_addresses() -> None:
    compiled = jit.compile_object(CALLER, "caller")
    assert set(compiled.symbols) == {"call", "count"}
    assert compiled.needs == ("given",)
    for factor in (2.0, 3.0):
        given = UNARY(lambda x, factor=factor: factor * x)
        address = ctypes.cast(given, ctypes.c_void_p).value
        assert address is not None
        library = jit.link_object(compiled, CALLER, "caller", {"given": address})
        assert UNARY(library.address("call"))(1.0) == factor


REFUSED = [
    "define i32 @f() {",
    "define i32 @f() { ret i64 0 }",
    "define i32 @f() { ret i32 %x }",
    "define i64 @f(i1 %c) {\n br i1 %c, label %a, label %b\na:\n %x = add i64 1, 2\n br label %b\nb:\n ret i64 %x\n}",
]


@pytest.mark.parametrize("text", REFUSED)
def test_bad_text_is_refused_with_its_name(text: str) -> None:
    with pytest.raises(RuntimeError, match="bad text"):
        jit.compile_module(text, "bad text", {})


def test_a_missing_symbol_is_named() -> None:
    with pytest.raises(RuntimeError, match="given"):
        jit.compile_module(CALLER, "caller", {})


@pytest.mark.parametrize("text", slow_but(REFUSED[3:], [*REFUSED, CALLER]))
def test_what_a_kept_refusal_holds_is_collected_without_a_crash(text: str) -> None:
    """The collector disposed of a refused module's context first, then of the module: a segmentation fault."""

    def attempt() -> None:
        try:
            jit.compile_module(text, "refused")
        except RuntimeError as error:
            kept = error  # noqa: F841 (frame -> exception -> traceback -> frame)

    for _ in range(3):
        attempt()
        gc.collect()


def test_some_compilations_keep_no_memory() -> None:
    """A pass manager that stays is 70 KiB and more."""
    numbers = itertools.count()

    def attempt() -> None:
        with lock:
            compiler.compile_image(f"{SQUARE}\n; {next(numbers)}", "again", 2)

    assert kept(attempt, 8, warm=4) < 32 * 1024


@pytest.mark.slow
@pytest.mark.parametrize("linker", ["", "llvm"])
@pytest.mark.parametrize("text", [SQUARE, REFUSED[3], CALLER])
def test_compiling_keeps_no_memory(text: str, linker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM's pass managers (70 KiB and more), its engines (9 KiB a library) and what was refused are given back."""
    monkeypatch.setenv("TRACEBUF_LINKER", linker)

    numbers = itertools.count()

    def attempt() -> None:
        try:
            jit.compile_module(f"{text}\n; {next(numbers)}", "again", speed_level=2)
        except RuntimeError:
            pass

    assert kept(attempt, 100) < 8 * 1024


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="of glibc")
@pytest.mark.slow
def test_a_compilation_keeps_no_byte_of_llvms() -> None:
    """A pass builder made for each module left 1.5 KiB, which llvmlite frees with nothing."""

    def attempt() -> None:
        with lock:
            compiler.compile_image(SQUARE, "again", 2)

    assert kept_by_malloc(attempt, 40, warm=10) < 400


def test_equal_texts_are_compiled_once() -> None:
    """The last images are kept, until all memory is given back."""
    first = jit.compile_object(SQUARE, "square")
    assert jit.compile_object(SQUARE, "square") is first
    assert jit.compile_object(SQUARE, "square", speed_level=1) is not first
    kernel.release()
    assert jit.compile_object(SQUARE, "square") is not first


@pytest.mark.slow
def test_engines_go_with_their_last_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine is replaced after some libraries, and disposed of when the last of them is unloaded, in any order."""
    monkeypatch.setenv("TRACEBUF_LINKER", "llvm")
    compiled = jit.compile_object(SQUARE, "square")
    libraries = [jit.link_object(compiled, SQUARE, "square") for _ in range(3 * compiler.LINKS)]
    del libraries[: 2 * compiler.LINKS], libraries[1::2]
    gc.collect()
    libraries += [jit.link_object(compiled, SQUARE, "square") for _ in range(compiler.LINKS)]
    for library in libraries:
        square = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(library.address("square"))
        a, b = np.arange(5.0), np.zeros(5)
        square(a.ctypes.data, b.ctypes.data, 5)
        np.testing.assert_array_equal(b, a * a)


@pytest.mark.slow
@pytest.mark.parametrize("linker", ["", "llvm"])
def test_unloading_leaves_others_whole_and_threads_may_compile(linker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEBUF_LINKER", linker)
    kept: list[jit.Library] = []

    def work(k: int) -> None:
        for _ in range(3):
            jit.compile_module(SQUARE, "square", {}, speed_level=2)
        kept.append(jit.compile_module(SQUARE, "square", {}, speed_level=2).pin())

    at_once(work, 3)
    gc.collect()
    a, b = np.arange(5.0), np.zeros(5)
    for library in kept:
        square = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(library.address("square"))
        square(a.ctypes.data, b.ctypes.data, 5)
        np.testing.assert_array_equal(b, a * a)
