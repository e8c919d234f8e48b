"""Where paths meet: what names and containers hold after an `if`, what a loop carries, what a call gives back.

`joins` pairs the two arms of an `if`, `loops` discovers what a loop carries by tracing its body, `identity` knows which
objects are one, `results` plans how results leave the program.
May import: source, record, call, numbers, arrays. A stranger to `functions`, and functions to it.
"""
