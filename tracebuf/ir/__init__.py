"""The IR: values, ops, types, symbolic sizes, locations, the printer and the verifier. MLIR's names and meaning."""
