"""The machine code by which calls reach programs without Python: `dispatch`, one function for all programs.

It runs on data: `checks` are those of the arguments, `results` what becomes of a program's results, `c_entries` what C
calls. The layout of that data is `entry_words`, beside this room; backend/runtime/entries.py fills it.
May import: the files of backend/llvm, texts, and what they may; not runtime.
"""
