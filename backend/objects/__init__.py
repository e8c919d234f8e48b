"""Object images: what LLVM made, as plain bytes, laid into memory and run without LLVM.

`elf` lays an image into pages of `mapped` and binds its symbols, `processor` says which machine an image is good for,
`locked` keeps forks and LLVM apart.
May import: frozen and below.
"""
