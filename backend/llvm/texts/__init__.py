"""Functions in LLVM's words, whole, which programs have beside their own: `remainders` has np.fmod, `squares` the C
library's pow(x, 2.0), `parallel` what threads share, `memory_handler` what counts the memory of NumPy's arrays.

May import: nothing of tracebuf.
"""
