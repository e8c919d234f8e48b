"""One call as data: the key of its specialisation, containers taken apart, arrays captured from outside, its results.

`arguments` makes the parts of the key (`signature` is its quick form; `Call.group` of `call` puts them together);
`flatten` takes containers apart; `captures` fetches what the function sees outside of its arguments, anew at each call;
`conditions` are what a program assumes besides; `outputs` is `out=`, `results` makes what is returned; `static` and
`donations` are the options of those names; `provenance` says what tracing looked at, as data, which `encoding` writes;
`host_call` is the function of that name, and what runs where compiled code makes the call.
It runs at every call, so it is plain and quick, and it is loaded with `import tracebuf`; nothing of the tracer is.
May import: source.
"""
