"""`python -m tracebuf suggest`: where to begin. A program runs as it is, under a profiler; its hot functions are then
tried decorated, on arguments of that run.

`owned` says whose a file is, `records` copies arguments, `profiler` watches the run, `program` runs it, `trials` tries
a function beside eager NumPy, `report` ranks and tells, `decorators` writes; `command` is the command. May import:
every room.
"""
