"""One call: its arguments flattened, the key of its specialisation, arrays captured from outside.

`signature` makes the key, `flatten` takes containers apart, `captures` fetches what the function sees outside of its
arguments, anew at each call. Runs at every call, so it is plain and quick.
May import: source, record. Knows nothing of tracing functions or statements.
"""
