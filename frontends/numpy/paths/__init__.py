"""Where paths meet: what names and containers hold after an `if`, what a loop carries, what a call gives back.

`joins` pairs the two branches of an `if` (rule S8), `container_joins` the containers they change; `loops` discovers
what a loop carries by tracing its body (rules S9-S11), `iteration` what it iterates over; `leaving` is how values of a
branch or of a last iteration are known around it. `choices` holds values whose type is path-dependent, `identity`
which array objects are one; `results` plans how results leave the program, `outputs` is `f(..., out=b)`.
May import: source, record, call, numbers, arrays. A stranger to `functions`, and functions to it.
"""
