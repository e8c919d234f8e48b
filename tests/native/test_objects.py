"""Object images without LLVM: laid into memory, bound, protected, unloaded, refused; and which machine they are for."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import re
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
import pytest

import tracebuf
from tests.support.corpus import PROGRAMS
from tests.support.growth import kept
from tests.support.params import slow_but
from tests.support.threads import at_once
from tracebuf.backend.llvm import compiler, jit
from tracebuf.backend.objects import elf, mapped
from tracebuf.backend.objects import processor as machine
from tracebuf.backend.objects.image import CompiledObject

pytestmark = pytest.mark.skipif(not mapped.here(), reason="LLVM links all images here")
WHOLE = """
@hello = constant [6 x i8] c"hello\\00"
@count = global i64 7
@zeros = internal global [3 x i64] zeroinitializer
@where = global ptr getelementptr (i8, ptr @hello, i64 1)
declare double @given(double)
declare double @cos(double)
define internal double @hidden(double %x) noinline nounwind {
  %y = fmul double %x, 1.75
  ret double %y
}
define double @call(double %x) {
  %h = call double @hidden(double %x)
  %c = call double @cos(double %h)
  %y = call double @given(double %c)
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  store i64 %new, ptr getelementptr ([3 x i64], ptr @zeros, i64 0, i64 2)
  ret double %y
}
define i64 @last() nounwind {
  %z = load i64, ptr getelementptr ([3 x i64], ptr @zeros, i64 0, i64 2)
  ret i64 %z
}
define i64 @chosen(i64 %k) nounwind {
  switch i64 %k, label %else [
    i64 0, label %a
    i64 1, label %b
    i64 2, label %c
    i64 3, label %d
    i64 4, label %e
  ]
a:
  store i64 1, ptr @count
  ret i64 17
b:
  store i64 22, ptr @count
  ret i64 24
c:
  store i64 5, ptr @count
  ret i64 3
d:
  store i64 6, ptr @count
  ret i64 99
e:
  store i64 7, ptr @count
  ret i64 1
else:
  ret i64 -1
}
"""
UNARY = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
double = UNARY(lambda x: 2 * x)
GIVEN = {"given": ctypes.cast(double, ctypes.c_void_p).value or 0}


@pytest.fixture
def whole() -> CompiledObject:
    return jit.compile_object(WHOLE, "whole")


def test_code_constants_and_variables_are_where_they_belong(whole: CompiledObject) -> None:
    placed = elf.place(whole.image, whole.symbols, GIVEN)
    assert placed is not None
    at = placed.addresses
    call = UNARY(at["call"])
    for k in range(3):
        assert call(float(k)) == 2 * np.cos(1.75 * k)
    last = ctypes.CFUNCTYPE(ctypes.c_int64)(at["last"])
    assert ctypes.c_int64.from_address(at["count"]).value == last() == 10
    assert ctypes.c_size_t.from_address(at["where"]).value == at["hello"] + 1
    assert ctypes.string_at(at["hello"]) == b"hello"
    chosen = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(at["chosen"])
    assert [chosen(k) for k in range(6)] == [17, 24, 3, 99, 1, -1]


def pages_of(address: int) -> str:
    """What may be done with the page at an address."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(part, 16) for part in line.split()[0].split("-"))
        if begin <= address < end:
            return line.split()[1]
    return "none"


def test_pages_are_never_writable_and_executable(whole: CompiledObject) -> None:
    placed = elf.place(whole.image, whole.symbols, GIVEN)
    assert placed is not None
    found = {symbol: pages_of(address) for symbol, address in placed.addresses.items()}
    code, constant, variable = "r-xp", "r--p", "rw-p"
    assert found == {
        "call": code, "last": code, "chosen": code, "hello": constant, "count": variable, "where": variable
    }  # fmt: skip
    at = placed.addresses["call"]
    del placed
    assert pages_of(at) == "none"


NAMES = (
    "memset", "memcpy", "memmove", "strlen", "clock_gettime", "exp", "pow", "sin", "cos", "hypot", "fmod", "atan2",
    "PyErr_Occurred", "PyLong_FromLongLong", "PyEval_SaveThread", "_PyType_Lookup", "_Py_NoneStruct", "PyTuple_Type",
)  # fmt: skip


def test_symbols_of_the_process_are_those_that_llvm_finds() -> None:
    text = "\n".join(f"@{name} = external global i8\n@p_{name} = global ptr @{name}" for name in NAMES)
    compiled = jit.compile_object(text, "names")
    by_llvm = jit._inside_llvm(lambda _: compiler.link(compiled, "names", {}))
    placed = elf.place(compiled.image, compiled.symbols, {})
    assert placed is not None
    for symbol in compiled.symbols:
        ours, its = (ctypes.c_size_t.from_address(p.addresses[symbol]).value for p in (placed, by_llvm))
        assert ours == its != 0, symbol


def test_what_is_not_found_is_refused_and_named_by_llvm(whole: CompiledObject) -> None:
    assert elf.place(whole.image, whole.symbols, {}) is None
    assert elf.place(whole.image, ("call", "missing"), GIVEN) is None
    with pytest.raises(RuntimeError, match="given"):
        jit.link_object(whole, WHOLE, "whole", {})


REFUSED = {
    "thread-local": "@x = thread_local global i64 1\ndefine ptr @f() nounwind { ret ptr @x }",
    "weak": "define weak i64 @f() nounwind { ret i64 1 }",
    "weak, missing": "@x = extern_weak global i64\ndefine ptr @f() nounwind { ret ptr @x }",
    "common": "@x = common global i64 0\ndefine ptr @f() nounwind { ret ptr @x }",
    "one of several alike": "$f = comdat any\ndefine i64 @f() nounwind comdat { ret i64 1 }",
    "indirect": "@f = ifunc i64 (), ptr @g\ndefine ptr @g() nounwind { ret ptr null }",
    "run first": (
        "%t = type { i32, ptr, ptr }\n"
        "@llvm.global_ctors = appending global [1 x %t] [%t { i32 1, ptr @f, ptr null }]\n"
        "define void @f() nounwind { ret void }"
    ),
    "aligned beyond pages": "@x = global i64 1, align 65536\ndefine ptr @f() nounwind { ret ptr @x }",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_is_not_known_is_refused(text: str) -> None:
    compiled = jit.compile_object(text, "refused", speed_level=0)
    assert elf.place(compiled.image, (), {}) is None


def test_what_is_refused_is_linked_by_llvm() -> None:
    library = jit.compile_module(REFUSED["aligned beyond pages"], "aligned")
    assert ctypes.CFUNCTYPE(ctypes.c_size_t)(library.address("f"))() % 65536 == 0


class Fenced:
    """In place of `mapped`: memory between two fences, of which every byte beside the image must stay."""

    FENCE = 4096

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lives: list[tuple[np.ndarray, int]] = []
        monkeypatch.setattr(mapped, "reserve", self.reserve)
        monkeypatch.setattr(mapped, "protect", self.protect)

    def reserve(self, size: int) -> tuple[int, np.ndarray]:
        if size > 2**20:
            raise OSError
        memory = np.full(size + 2 * self.FENCE, 0xAA, np.uint8)
        memory[self.FENCE : -self.FENCE] = 0
        self.lives = [(memory, size)]
        return memory.ctypes.data + self.FENCE, memory

    def protect(self, address: int, size: int, may: int) -> None:
        memory, whole = self.lives[0]
        begin = address - memory.ctypes.data - self.FENCE
        assert 0 <= begin < begin + size <= whole
        assert begin % mapped.PAGE == size % mapped.PAGE == 0
        assert may in (1, 3, 5)

    def check(self) -> None:
        for memory, _ in self.lives:
            assert (memory[: self.FENCE] == 0xAA).all()
            assert (memory[-self.FENCE :] == 0xAA).all()


def damaged(image: bytes, fast: bool) -> Iterator[bytes]:
    """With other bytes, cut short, and with other numbers in every table."""
    r = random.Random(3)
    places = r.sample(range(len(image)), 80) if fast else range(len(image))
    for k in places:
        for bits in (1 << r.randrange(8), 0x80, 0xFF):
            yield image[:k] + bytes([image[k] ^ bits]) + image[k + 1 :]
    for n in r.sample(range(len(image)), 50 if fast else 500):
        yield image[:n]
    words = range(0, len(image) - 8, 4)
    for k in r.sample(words, 80) if fast else words:
        for word in (2**64 - 1, 2**63, 2**32 - 1, len(image), 2**20):
            yield image[:k] + struct.pack("<Q", word) + image[k + 8 :]


@pytest.mark.parametrize("fast", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_damaged_image_is_refused_or_stays_in_its_memory(
    whole: CompiledObject, monkeypatch: pytest.MonkeyPatch, fast: bool
) -> None:
    fenced = Fenced(monkeypatch)
    results = set()
    for image in damaged(whole.image, fast):
        results.add(elf.place(image, whole.symbols, GIVEN) is None)
        fenced.check()
    assert results == {True, False}
    for image in (b"", b"\x7fELF", bytes(64), bytes(5000)):
        assert elf.place(image, (), {}) is None


def test_where_pages_cannot_be_protected_llvm_links(whole: CompiledObject, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(address: int, size: int, may: int) -> None:
        raise OSError

    monkeypatch.setattr(mapped, "protect", refuse)
    assert elf.place(whole.image, whole.symbols, GIVEN) is None
    assert UNARY(jit.link_object(whole, WHOLE, "whole", GIVEN).address("call"))(0.0) == 2.0


def test_elsewhere_llvm_says_what_the_processor_is_and_links(
    whole: CompiledObject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped, "here", lambda: False)
    monkeypatch.setattr(jit, "processor", machine.processor.__wrapped__)
    host = compiler.host()
    assert jit.machine.__wrapped__()[0] == repr(host)
    assert all(str(part) in repr(host) for part in (host.features, host.cpu, host.llvm_version, host.llvmlite_version))
    assert UNARY(jit.link_object(whole, WHOLE, "whole", GIVEN).address("call"))(0.0) == 2.0


def test_the_code_lives_as_long_as_its_library(whole: CompiledObject) -> None:
    library = jit.link_object(whole, WHOLE, "whole", GIVEN)
    life, at = weakref.ref(library.life), library.address("call")
    held = library.life
    del library
    assert UNARY(at)(0.0) == 2.0
    del held
    assert life() is None
    assert pages_of(at) == "none"


def mappings() -> int:
    return len(Path("/proc/self/maps").read_text().splitlines())


@pytest.mark.parametrize("times", [100, pytest.param(10_000, marks=pytest.mark.slow)])
def test_loading_and_unloading_keeps_no_memory(whole: CompiledObject, times: int) -> None:
    def load() -> None:
        jit.link_object(whole, WHOLE, "whole", GIVEN)

    before = mappings()
    assert kept(load, times) < 256
    assert mappings() <= before + 8


def test_threads_load_and_unload_at_once(whole: CompiledObject) -> None:
    held: list[jit.Library] = []

    def work(k: int) -> None:
        for n in range(40):
            library = jit.link_object(whole, WHOLE, "whole", GIVEN)
            assert UNARY(library.address("call"))(0.0) == 2.0
            if n % 10 == k:
                held.append(library)

    at_once(work, 4)
    assert len({library.address("call") for library in held}) == 16
    for library in held:
        assert UNARY(library.address("call"))(0.0) == 2.0


def test_loading_does_not_give_up_the_gil(whole: CompiledObject) -> None:
    """A thread that waits for it would have it then; it gets none by the switch interval."""
    turns, stop, interval = [0], threading.Event(), sys.getswitchinterval()

    def compute() -> None:
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=compute)
    thread.start()
    gc.collect()
    gc.disable()  # what other tests have left may give it up where it goes
    try:
        sys.setswitchinterval(1000)
        enough = turns[0] + 10
        while turns[0] < enough:
            time.sleep(0.01)  # in which the thread comes to wait with the new interval
        before = turns[0]
        for _ in range(100):
            jit.link_object(whole, WHOLE, "whole", GIVEN)
            assert turns[0] == before
        known = machine.processor.__wrapped__()
        assert turns[0] == before
    finally:
        gc.enable()
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()
    assert known == machine.processor()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_runs_what_its_parent_has_loaded_and_loads_itself(whole: CompiledObject) -> None:
    library = jit.link_object(whole, WHOLE, "whole", GIVEN)
    last = ctypes.CFUNCTYPE(ctypes.c_int64)(library.address("last"))
    child = os.fork()
    if child == 0:
        own = jit.link_object(whole, WHOLE, "whole", GIVEN)
        UNARY(own.address("call"))(0.0)
        there = (last(), ctypes.CFUNCTYPE(ctypes.c_int64)(own.address("last"))())
        os._exit(0 if there == (0, 8) else 1)
    assert os.waitpid(child, 0)[1] == 0


TWICE = """
import sys
import numpy as np
from tracebuf import bufferize

@bufferize
def f(a, b):
    s = 0.0
    for k in range(3):
        b[1:] += np.exp(a[:-1]) * k
        s += (b @ a) % 7.5
    return np.sort(b[b > s]), s, (a ** 3).mean(axis=-1), np.linalg.solve(np.eye(len(a)) * 2, a).astype(np.float16)

rng = np.random.default_rng(0)
a, b = rng.random(20), rng.random(20)
for x in (*f(a, b), b):
    print(np.asarray(x).tobytes().hex())
print("llvmlite" in sys.modules, file=sys.stderr)
"""


def run(script: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TRACEBUF_CACHE_DIR": str(folder), **more}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_a_second_process_loads_no_llvm(tmp_path: Path) -> None:
    first, second, third = (run(TWICE, tmp_path, TRACEBUF_LINKER=by) for by in ("", "", "llvm"))
    assert (first.stderr, second.stderr, third.stderr) == ("True\n", "False\n", "True\n")
    assert first.stdout == second.stdout == third.stdout != ""


@pytest.mark.parametrize("name", slow_but(["tridiagonal"], PROGRAMS))
def test_programs_give_the_same_bits_by_both_linkers(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, arguments = PROGRAMS[name]

    def results(linker: str) -> Any:
        monkeypatch.setenv("TRACEBUF_LINKER", linker)
        random = np.random.default_rng(0)
        args = arguments(lambda *shape: random.random(shape), 7)
        found = tracebuf.bufferize(function)(*args)
        return [np.asarray(x).tobytes() for x in (*args, *(found if isinstance(found, tuple) else (found,)))]

    by_llvm = results("llvm")
    tracebuf.release()  # the functions that it shares with others
    monkeypatch.setattr(compiler, "link", None)
    assert results("") == by_llvm


def test_llvm_is_known_without_being_loaded() -> None:
    known = machine.llvm()
    assert known is not None
    assert f"'{compiler.host().llvmlite_version}'" in known
    assert "libllvmlite" in known


def test_the_processor_is_known_without_llvm() -> None:
    """As any core says it."""
    known, cores = machine.processor(), os.sched_getaffinity(0)
    assert known is not None
    found = set()
    try:
        for core in sorted(cores)[:4]:
            os.sched_setaffinity(0, {core})
            found.add(machine.processor.__wrapped__())
    finally:
        os.sched_setaffinity(0, cores)
    assert found == {known}


@pytest.mark.slow
def test_another_process_finds_the_same_machine() -> None:
    script = "from tracebuf.backend.objects import processor as p; print(p.processor()); print(p.llvm())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"{machine.processor()}\n{machine.llvm()}\n"


@pytest.mark.slow
def test_llvm_asks_the_processor_nothing_else() -> None:
    """Each constant that is put into eax just before a CPUID, in llvmlite's library, is a leaf of the key."""
    known = {leaf for first, leaves in machine.LEAVES.items() for leaf in (first, *(leaf for leaf, _, _ in leaves))}
    asked = set()
    (library,) = Path(llvmlite.binding.__file__).parent.glob("libllvmlite*")
    for found in re.finditer(rb"\xb8(....)(?=.{0,16}?\x0f\xa2)", library.read_bytes(), re.DOTALL):
        (leaf,) = struct.unpack("<I", found[1])
        if leaf & 0x7FFFFFFF < 0x100:
            asked.add(leaf)
    assert {1, 7, 0x14, 0x80000000, 0x80000008} <= asked <= known, sorted(map(hex, asked - known))
