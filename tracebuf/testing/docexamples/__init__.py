"""The examples of other libraries' docstrings, traced: `python -m tracebuf.testing.docexamples MODULE ...`.

`examples` runs those of one function, and judges its calls; `__main__` is the command. May import: everything. Needs
the libraries whose modules are named.
"""
