"""Functions in LLVM's words, whole, which programs have beside their own: `remainders` has np.fmod.

May import: nothing of tracebuf.
"""
