"""Lays an object image into memory, without LLVM: ELF for x86-64, as LLVM writes it for JITs.

Code that LLVM makes for a JIT takes any symbol to be anywhere in memory (its large code model): each is an absolute
address of 64 bits in the code, so that there is one kind of relocation, and no table of addresses is needed. Sections
with code are executable, the others read-only or writable. Tables for unwinding (`.eh_frame`) are left out: our code
throws nothing, calls nothing that throws, and has none where its functions are `nounwind`, as all of a program's are.

All else is refused: another format or machine, other relocations, sections, symbols (weak, thread-local, common,
indirect), symbols that are not found. LLVM's linker may know them. An image that is damaged is refused, or gives wrong
code; every number in it is compared with what it counts, so that nothing outside of the image and its own pages is
read or written.

Source: the ELF-64 Object File Format; System V ABI, AMD64 Architecture Processor Supplement. Counterpart: LLVM's
JITLink.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from tracebuf.backend.objects import mapped
from tracebuf.backend.objects.image import Placed

__all__ = ["place"]

MOST = 2**28
"""Bytes of an image in memory."""
_HEADER, _SECTION = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")
_SYMBOL, _RELOCATION, _ADDRESS = struct.Struct("<IBBHQQ"), struct.Struct("<QQq"), struct.Struct("<Q")
_IDENT = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian, version 1
_RELOCATABLE, _X86_64 = 1, 62
_NULL, _BITS, _SYMBOLS, _STRINGS, _RELOCATIONS, _ZEROS, _UNWIND = 0, 1, 2, 3, 4, 8, 0x70000001  # of sections
_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
_KNOWN_FLAGS = _WRITE | _ALLOC | _EXECUTE | 0x10 | 0x20 | 0x10000000  # mergeable, of strings, large
_KINDS = ("text", "rodata", "data", "bss", "ltext", "lrodata", "ldata", "lbss")  # of `.ldata.rel.ro`, `ldata`
_UNDEFINED = 0  # the section of symbols that are elsewhere
_LOCAL, _GLOBAL = 0, 1
_NO_TYPE, _OBJECT, _FUNCTION, _OF_SECTION, _FILE = range(5)
_R_64 = 1
_PROTECTIONS = (mapped.READ | mapped.EXECUTE, mapped.READ, mapped.READ | mapped.WRITE)

_Section = tuple[int, int, int, int, int, int, int, int, int, int]
"""Name, type, flags, address, offset, size, link, info, alignment, size of an entry."""


class _Refused(Exception):
    pass


def place(image: bytes, symbols: Sequence[str], imports: Mapping[str, int]) -> Placed | None:
    """The image in memory of its own, `symbols` being those asked for; None where it is refused.

    `imports`: addresses of external symbols; others are looked up in the process.
    """
    if not mapped.here():
        return None
    try:
        return _Image(image).placed(symbols, imports)
    except (_Refused, OSError):
        return None


class _Image:
    """The sections of an image: where each would lie from the beginning of the memory, and its bytes."""

    def __init__(self, image: bytes) -> None:
        self._image = image
        self._sections = self._read_sections()
        self._offsets: dict[int, int] = {}
        """Of each section that is laid into memory, by number."""
        self._ends: list[int] = []
        """Of the pages with code, of those to read, of those to write."""
        self._contents: dict[int, bytearray] = {}
        self._lay_out()

    def placed(self, symbols: Sequence[str], imports: Mapping[str, int]) -> Placed:
        base, life = mapped.reserve(max(self._ends[-1], mapped.PAGE))
        values, known = self._values(base, imports)
        addresses = {symbol: known[symbol] for symbol in symbols if symbol in known}
        if len(addresses) < len(symbols):
            raise _Refused
        self._relocate(values)
        for k, content in self._contents.items():
            mapped.write(base + self._offsets[k], bytes(content))
        begin = 0
        for end, may in zip(self._ends, _PROTECTIONS):
            if end > begin:
                mapped.protect(base + begin, end - begin, may)
            begin = end
        return Placed(addresses, life)

    def _read_sections(self) -> list[_Section]:
        image = self._image
        if len(image) < _HEADER.size:
            raise _Refused
        ident, kind, machine, _, _, _, at, _, _, _, _, entry, number, names = _HEADER.unpack_from(image)
        right = ident.startswith(_IDENT) and (kind, machine, entry) == (_RELOCATABLE, _X86_64, _SECTION.size)
        if not right or at + number * entry > len(image):
            raise _Refused
        sections = list(_SECTION.iter_unpack(image[at : at + number * entry]))
        if names >= number:
            raise _Refused
        self._names = image[sections[names][4] : sections[names][4] + sections[names][5]]
        return sections

    def _lay_out(self) -> None:
        groups: tuple[list[int], list[int], list[int]] = ([], [], [])
        for k, (name, kind, flags, _, offset, size, _, _, _, _) in enumerate(self._sections):
            if kind not in (_NULL, _BITS, _SYMBOLS, _STRINGS, _RELOCATIONS, _ZEROS, _UNWIND):
                raise _Refused
            if kind not in (_NULL, _ZEROS) and offset + size > len(self._image):
                raise _Refused
            if flags & _ALLOC and kind != _UNWIND:
                if kind not in (_BITS, _ZEROS) or flags & ~_KNOWN_FLAGS or flags & _WRITE and flags & _EXECUTE:
                    raise _Refused
                if _name(self._names, name).strip(".").partition(".")[0] not in _KINDS:
                    raise _Refused
                groups[0 if flags & _EXECUTE else 2 if flags & _WRITE else 1].append(k)
        end = 0
        for group in groups:
            for k in group:
                size, alignment = self._sections[k][5], max(self._sections[k][8], 1)
                if alignment & (alignment - 1) or alignment > mapped.PAGE:
                    raise _Refused
                self._offsets[k] = _up(end, alignment)
                end = self._offsets[k] + size
            end = _up(end, mapped.PAGE)
            self._ends.append(end)
        if end > MOST:
            raise _Refused
        for k in self._offsets:
            _, kind, _, _, offset, size, _, _, _, _ = self._sections[k]
            if kind == _BITS:
                self._contents[k] = bytearray(self._image[offset : offset + size])

    def _values(self, base: int, imports: Mapping[str, int]) -> tuple[list[int | None], dict[str, int]]:
        """The address of each symbol (None: it has none), and by name of those that are defined for others."""
        values: list[int | None] = []
        known: dict[str, int] = {}
        table, strings = self._tables()
        for at, info, _, section, value, _ in _SYMBOL.iter_unpack(table):
            binding, kind = info >> 4, info & 15
            if binding not in (_LOCAL, _GLOBAL) or kind not in (_NO_TYPE, _OBJECT, _FUNCTION, _OF_SECTION, _FILE):
                raise _Refused
            if kind == _FILE or not values:  # the first of all means none
                values.append(None)
            elif section in self._offsets:
                if value > self._sections[section][5]:
                    raise _Refused
                values.append(base + self._offsets[section] + value)
                if binding == _GLOBAL:
                    known[_name(strings, at)] = base + self._offsets[section] + value
            elif section == _UNDEFINED and binding == _GLOBAL:
                name = _name(strings, at)
                values.append(imports[name] if name in imports else mapped.address_of_symbol(name))
                if values[-1] is None:
                    raise _Refused
            elif section < len(self._sections) and kind == _OF_SECTION:  # of one that is left out
                values.append(None)
            else:
                raise _Refused
        return values, known

    def _tables(self) -> tuple[bytes, bytes]:
        """The bytes of the table of symbols, and of their names."""
        found = [section for section in self._sections if section[1] == _SYMBOLS]
        if len(found) != 1:
            raise _Refused
        _, _, _, _, offset, size, link, _, _, entry = found[0]
        if entry != _SYMBOL.size or size % entry or link >= len(self._sections):
            raise _Refused
        _, kind, _, _, names, length, _, _, _, _ = self._sections[link]
        if kind != _STRINGS:
            raise _Refused
        return self._image[offset : offset + size], self._image[names : names + length]

    def _relocate(self, values: list[int | None]) -> None:
        for _, kind, _, _, offset, size, link, target, _, entry in self._sections:
            if kind != _RELOCATIONS or target not in self._offsets:
                continue
            content = self._contents.get(target)
            if content is None or entry != _RELOCATION.size or size % entry or self._kind(link) != _SYMBOLS:
                raise _Refused
            last = len(content) - _ADDRESS.size
            for at, info, addend in _RELOCATION.iter_unpack(self._image[offset : offset + size]):
                symbol = info >> 32
                if info & 0xFFFFFFFF != _R_64 or at > last or symbol >= len(values):
                    raise _Refused
                value = values[symbol]
                if value is None:
                    raise _Refused
                _ADDRESS.pack_into(content, at, value + addend & 2**64 - 1)

    def _kind(self, section: int) -> int:
        return self._sections[section][1] if section < len(self._sections) else _NULL


def _up(n: int, alignment: int) -> int:
    return n + alignment - 1 & -alignment


def _name(strings: bytes, at: int) -> str:
    end = strings.find(0, at)
    if end < 0:
        raise _Refused
    return strings[at:end].decode(errors="replace")
