"""One call's arguments: the key of its specialisation, containers taken apart, arrays captured from outside.

`arguments` makes the parts of the key (`signature` is its quick form; `Call.group` of interpreter/trace puts them
together) and the traced arguments; `flatten` takes containers apart; `captures` fetches what the function sees outside
of its arguments, anew at each call; `static` and `donations` are the options of those names. It runs at every call, so
it is plain and quick.
May import: source, record. Knows nothing of tracing functions or statements.
"""
