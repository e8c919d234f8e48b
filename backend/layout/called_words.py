"""The words by which native code calls a function of Python's on arrays: see `hosted` of backend/llvm."""

from __future__ import annotations


class Called:
    """The words of a call. The operands are slots from the address that a kernel gives."""

    FUNCTION = 0
    NAMES = 1
    """The names of the last arguments, a tuple, or 0."""
    POSITIONAL = 2
    ARRAYS, ARRAY = 3, 4
    """How many of the operands are arrays; for each `ARRAY_WORDS`: the array (0: none), its first slot, its rank, log2
    of the item size, to which `GIVEN` is added where the function gives the memory (there is no array then)."""
    ARGUMENTS, ARGUMENT = 5, 6
    """How many; for each three: `Passing`; number of an array or of the call's value, object or first slot; dtype."""
    RESULTS, RESULT = 7, 8
    """How many; for each `RESULT_WORDS`: its place in a tuple, the number of its out among the arrays, its dtype, the
    class of its numbers, the item size, the number of the array that gets how many there are along the first axis, of
    which there may be fewer than the out has room for (-1: there are as many)."""
    KIND = 9
    """The class of the tuple of results, 0 for one result."""
    OWNER = 10
    """The object of Python's that goes first to the next two."""
    STORE = 11
    """A function of the result, the operands' address, the context: stores what cannot be stored here."""
    FAIL = 12
    """A function of an exception, the operands' address, the context: raises it."""
    SIZE = 13


ARRAY_WORDS, RESULT_WORDS, GIVEN = 4, 6, 64


class Passing:
    """What an argument is."""

    ARRAY, OBJECT, INT, FLOAT, NUMPY, VALUE = EACH = range(6)
