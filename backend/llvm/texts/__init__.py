"""Functions in LLVM's words, whole, which programs have beside their own: `remainders` has np.fmod,
`squares` the C library's pow(x, 2.0).

May import: nothing of tracebuf.
"""
