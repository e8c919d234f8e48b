"""Random programs up the ladder for a given time: `python -m tracebuf.testing.fuzz --seconds 600 --seed 1`.

Kinds of programs, and what is compared:

- `arrays`: statements over arrays, views and numbers (`programs`); eager NumPy and every rung of the ladder
- `objects`: objects, lists, dicts, dataclasses, named tuples, functions inside (`fuzz/objects.py`); the same, and
  what the containers among the arguments hold
- `calls`: many calls of one function, arguments of all kinds in turn, captured values changed meanwhile
  (`fuzz/calls.py`); results, errors, arguments, captured values, and which are one object
- `talk`: calls that print, warn and make texts of numbers, with texts and slices as arguments (`fuzz/talk.py`); the
  same, and what is said
- `lists`: lists whose length only the run time knows (`fuzz/lists.py`); the ladder
- `generators`: generator functions, loops over them within one another (`fuzz/generators.py`); the ladder
- `labels`: arrays of text beside vectors (`fuzz/labels.py`); the ladder
- `libraries`: SciPy's functions between NumPy's (`fuzz/libraries.py`); the ladder
- `untyped`: any function of any expression, whatever dtypes and shapes meet there (`fuzz/untyped.py`); the ladder
- `threads`: calls from threads, captured values rebound meanwhile (`fuzz/threads.py`); each answer is one that eager
  gives for some of the values
- `exits`: a script that ends while threads call or compile (`fuzz/exits.py`); return code, stdout, stderr
- `peaks`: loops that replace and shrink arrays (`fuzz/peaks.py`); beside the ladder, the most memory alive at once

`--weights objects=4,threads=1` says which kinds are drawn and how often, `--weights objects` draws one kind alone.
`--guard` lays the arguments of native calls at guard pages and sets TRACEBUF_GUARD=1, by which the runtime does so with
results and the arena: a read or store one element too far is a crash.

Each program is drawn from a seed of its own (`fuzz/kinds.py`) and runs in a worker process, so that a crash or a
hang is a failure like another, with its program. Programs that fail are made smaller (crashes too, each try in a
process of its own) and written to a directory, as files that run on their own, headed by what differs and the command
that draws the program again. Prints counts; the exit code is 1 if anything failed.

Keeps no corpus; equal seeds and weights draw equal programs. Threads and exits need not fail again.

May import: everything.
"""

from tracebuf.testing.fuzz.command import main
from tracebuf.testing.fuzz.driver import Report, attempt

__all__ = ["Report", "attempt", "main"]
