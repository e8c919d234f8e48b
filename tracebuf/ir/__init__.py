"""The IR: values, ops, types, symbolic sizes, the printer and the verifier. MLIR's names and meaning.

`core` holds values, ops, blocks, and the protocols by which an op speaks to the layers above; `func` functions and
modules; `types`, `dims`, `prover` and `facts` what is known of shapes; `printer` and `print_generic` the text.
May import: process, frozen, location, errors, running, options. Knows no op by name but for the printer's custom forms.
"""
