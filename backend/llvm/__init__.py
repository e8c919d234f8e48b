"""LLVM, the host of the native code: `emit` writes IR as text, `jit` compiles and links it."""
