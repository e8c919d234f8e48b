"""What machine an object image is good for, asked of the processor itself, as LLVM would ask it.

LLVM finds the processor's name and features by the instructions CPUID and XGETBV. Here the same questions are asked, by
a few bytes of machine code, and the answers are the key as they are: where LLVM's features would differ, so do they.
What differs from one core to another is left out. (/proc/cpuinfo leaves out what the kernel does not know or use, and
LLVM does not.)

Source: AMD64 Architecture Programmer's Manual, volume 3; llvm/lib/TargetParser/Host.cpp (of LLVM 17 to 22; a test looks
for what llvmlite's own asks).
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache as once
from importlib.machinery import PathFinder

from tracebuf.backend.objects import mapped

__all__ = ["LEAVES", "llvm", "processor"]

_CPUID = bytes.fromhex("53 8b07 8b4f04 0fa2 8907 895f04 894f08 89570c 5b c3")
"""push rbx; eax, ecx = [rdi], [rdi + 4]; cpuid; [rdi], ... = eax, ebx, ecx, edx; pop rbx; ret"""
_XGETBV = bytes.fromhex("31c9 0f01d0 8907 895704 c3")
"""ecx = 0; xgetbv; [rdi], [rdi + 4] = eax, edx; ret"""
_AT = 32
"""Where the latter begins."""
LEAVES: dict[int, tuple[tuple[int, int, tuple[int, ...]], ...]] = {
    0: (
        (0x1, 0, (0, 2, 3)), (0x7, 0, (0, 1, 2, 3)), (0x7, 1, (0, 1, 2, 3)), (0xD, 1, (0,)), (0x14, 0, (0, 1, 2, 3)),
        (0x19, 0, (0, 1, 2, 3)), (0x1E, 1, (0, 1, 2, 3)), (0x24, 0, (0, 1, 2, 3)), (0x29, 0, (0, 1, 2, 3)),
    ),
    0x80000000: ((0x80000001, 0, (0, 1, 2, 3)), (0x80000008, 0, (1,)), (0x80000021, 0, (0,))),
}  # fmt: skip
"""By the leaf that tells the greatest: leaves, subleaves, and which of the registers eax, ebx, ecx, edx are meant."""
_OSXSAVE = 27


@once
def processor() -> str | None:
    """All that LLVM asks the processor; None where that cannot be done here."""
    if not mapped.here():
        return None
    try:
        address, life = mapped.reserve(mapped.PAGE)
        mapped.write(address, _CPUID.ljust(_AT) + _XGETBV)
        mapped.protect(address, mapped.PAGE, mapped.READ | mapped.EXECUTE)
        answers = _answers(address)
    except OSError:
        return None
    del life
    return " ".join(f"{word:x}" for word in answers)


def _answers(code: int) -> list[int]:
    function = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
    cpuid, xgetbv = function(code), function(code + _AT)
    words = (ctypes.c_uint32 * 4)()
    found = list[int]()
    for first, leaves in LEAVES.items():
        words[:2] = [first, 0]
        cpuid(ctypes.addressof(words))
        found += words
        greatest = words[0]
        for leaf, subleaf, registers in leaves:
            if leaf <= greatest:
                words[:2] = [leaf, subleaf]
                cpuid(ctypes.addressof(words))
                found += [words[k] for k in registers]
                if leaf == 1 and words[2] >> _OSXSAVE & 1:
                    xgetbv(ctypes.addressof(words))
                    found += words[:2]
    return found


@once
def llvm() -> str | None:
    """Which llvmlite is installed, without loading it: its version, and how large LLVM is. None where that is not
    known."""
    try:
        loaded = sys.modules.get("llvmlite")
        spec = PathFinder.find_spec("llvmlite") if loaded is None else loaded.__spec__
        places = spec.submodule_search_locations if spec is not None else None
        if not places:
            return None
        folder = places[0]
        with open(os.path.join(folder, "_version.py")) as file:
            version = file.read()
        with os.scandir(os.path.join(folder, "binding")) as entries:
            sizes = [f"{e.name} {e.stat().st_size}" for e in entries if e.name.startswith("libllvmlite")]
        return "\n".join((version, *sorted(sizes))) if sizes else None
    except OSError:
        return None
