"""The words that native calls run on: see `entries` of backend/llvm."""

from __future__ import annotations

MISS = 1
"""What `attempt` gives, which is no object, where the entry does not take the call."""
MAX_SIZE = 2**40
"""No array in memory is longer along an axis, or has more elements: only repeated and empty ones."""
SMALL_INT = 2**31
"""Python ints of a smaller magnitude are arguments; larger ones are part of a program's key."""


class Table:
    """The words of a function's table. `ENTRIES` is the first of `COUNT`."""

    COUNT = 0
    PYTHON = 1
    """`__call__`, a function of Python."""
    FUNCTION = 2
    """The original function, which has the defaults."""
    PARAMETERS = 3
    POSITIONAL = 4
    """How many parameters take positional arguments."""
    UNNAMED = 5
    """How many of them take nothing else."""
    NAMES = 6
    """Where the parameters' names are, and then the hash of each."""
    STAR, STARS = 7, 8
    """Whether it has `*args` and `**kwargs`."""
    OUT = 9
    """The name `out`, 0 where that is no name of a buffer."""
    FORWARDED = 10
    """Where it is counted how often `forward` has called the original function."""
    ENTRIES = 11


class Form:
    """The words of the form of a call that has more than its parameters' values; no such words where it has not."""

    NAMED = 0
    """How many arguments `**kwargs` takes."""
    OUT = 1
    """Whether there is a buffer."""
    NAMES = 2
    """The first of the names in `**kwargs`."""


MAX_BOUND = 64
"""The most values of a call with keywords, defaults, `*args`, `**kwargs` or `out`."""


class Entry:
    """The words of a program's entry."""

    BUSY = 0
    """Not 0 while a call uses the context."""
    CALLS = 1
    ARGUMENTS = 2
    DESCRIPTORS = 3
    ARRAYS = 4
    """How many of the arguments are arrays."""
    RANGES = 5
    """Room for each: the first and the last byte, the object, its descriptor."""
    GUARDS = 6
    NAMES = 7
    """The values from outside: how many, how many of them come first and are in dicts with versions, where these dicts
    are (a count, then a dict and the version that was seen of each), then `Source`, where, name, value of each."""
    FRAME = 8
    CONTEXT = 9
    LONG = 10
    """Of how many elements a call does not keep the GIL."""
    RESULT = 11
    STACK = 12
    """Room for the parts of the result."""
    FRESH, FRESH_COUNT, FRESH_ROOM = 13, 14, 15
    """The arrays that the call has made, two words each: the array, and which result it is (-1: none yet)."""
    DTYPES = 16
    """The dtypes by element code, then their sizes."""
    FINISH = 17
    """A Python function of the kernel's status and the arguments, which makes the results that nothing here can make,
    and raises errors."""
    END = 18
    """A Python function, called after a call that has used memory of Python's context."""
    GIVEN = 19
    """How many values a call gives: arguments, before containers are taken apart and values from outside come."""
    WALK = 20
    """The steps from these to the arguments, 0 for none."""
    NODES = 21
    """How many objects the walk meets."""
    LEAVES = 22
    """Which of them are the arguments, and then the containers."""
    CONTAINERS = 23
    MADE, MADE_COUNT = 24, 25
    """The parts of the result that may occur again, as far as they are made: each is noted at a place of its own."""
    FORM = 26
    VALUES = 27
    """During a call, where the arguments are, and then the containers."""
    ORIGINAL = 28
    """0, or where a function of Python's is that is called instead, how many arguments it takes by position, the names
    of the others, and for each argument what it must be (`Given`)."""
    FAILURES = 29
    """0, or for each check where the steps are that raise its exception (0: none, Python raises it)."""
    RAISED = 30
    """Of calls that run the original function: how many of them, up to the last one, have raised."""
    PATIENCE = 31
    """After so many the next is expected to raise, and nothing is checked: the original function may make any call. One
    that does not raise makes it twice as many."""
    SIZE = 32


class Walk:
    """The steps that take containers apart, `WALK_WORDS` words each: the step, the number of the object that it is
    about, its class. Objects are numbered as they are met: first the values of the call, then the items."""

    TUPLE = 0
    """and length."""
    LIST = 1
    """and length."""
    DICT = 2
    """and length, where the keys are, in this order."""
    OBJECT = 3
    ATTRIBUTE = 4
    """of the object itself; its name in place of the class, what stands for none."""
    OUTSIDE = 5
    """`Source`, where, name."""
    GET = 6
    """An attribute as Python finds it; its name in place of the class, what stands for none (null: nothing does)."""
    SAME = 7
    """It is another object met before; its number in place of a length."""
    ITEM = 8
    """As Python finds it; its key in place of the class."""
    CONSTANT = 9
    """An object, in place of the class."""
    IS = 10
    """It is this object, in place of the class."""
    EQUAL = 11
    """It is this object, in place of the class, or one of Python's that equals it."""
    OF_PARTS = (ATTRIBUTE, GET, SAME, ITEM, CONSTANT, IS, EQUAL)
    """What asks for no class."""


WALK_WORDS = 5


class Kind:
    """What an argument is."""

    ARRAY, FLOAT, COMPLEX, BOOL, INT, NUMPY, IS, SAME, TWIN, CLASS = EACH = range(10)


class Descriptor:
    """The words of an argument's descriptor."""

    KIND = 0
    EXPECTED = 1
    """The class of a number, the dtype of an array, the object or one that equals it (IS), the number of the argument
    (SAME, TWIN: another array object that is the same view)."""
    AT = 2
    """The first slot in the frame, -1 for none."""
    ITEMSIZE = 3
    """In bytes. Of a BOOL: True."""
    RANK = 4
    FLAGS, WANTED = 5, 6
    """Which flags count, and what they must be."""
    LAYOUT = 7
    AXES = 8
    """Where the class (0, 1, 2: more, `REPEATED`) of each axis is, then the axes from the outermost to the innermost.
    Of a TWIN: how many arguments it is not, and which."""
    SHIFT = 9
    """log2 of the item size."""
    LOOSE = 10
    """Whether the array is only read: then it may share memory with others that are."""
    SIZE = 11


class Given:
    """The words that say which call runs the original function."""

    KIND = 0
    """ARRAY, INT, NUMPY (an object of the class) or IS."""
    EXPECTED = 1
    """The dtype of an array, the class of a number, the object or one that equals it."""
    AT = 2
    """Where the array is, in bytes from the first one; `ANYWHERE` where that does not count."""
    RANK, FLAGS = 3, 4
    SIZES = 5
    """Where the sizes are, and then the strides in bytes; 0 where only dtype and rank count."""
    SIZE = 6


ANYWHERE = -(2**63)
REPEATED = 3
"""The class of an axis longer than 1 of stride 0."""


class Guarded:
    """What guards say of a polynomial; and the parts that they are made of, of two polynomials each."""

    NONNEG, ZERO, NONZERO, MIN, MAX, FLOORDIV = range(6)


GUARD_ROOM = 64
"""The most guards and parts of a program that has parts."""


class Layout:
    """Dense as the flags say; else whether the innermost axis has stride 1."""

    DENSE, UNIT, STRIDED = range(3)


class Result:
    """The steps that put a result together, `WORDS` words each, on a stack; and those that change containers."""

    END, OBJECT, ARGUMENT, ARRAY, FLOAT, INT, BOOL, COMPLEX, NUMPY, TUPLE, LIST, PYTHON = range(12)
    DICT, NAMED_TUPLE, RECORD = range(12, 15)
    IF, JUMP, KNOWN = range(15, 18)
    WRITE_LIST, WRITE_DICT, WRITE_OBJECT = range(18, 21)
    CALL, TEXT, RAISE = range(21, 24)
    EACH = range(24)


WORDS = 9
"""A step, and up to eight numbers. OBJECT: object. ARGUMENT: index, containers after arguments. ARRAY: first slot,
rank, where it is noted (-1: nowhere), dtype, item size, the argument whose memory it is (-1: asked at run time),
whether it is read-only (2: and the only array of the result). FLOAT and so on: slot. NUMPY: slot, dtype. TUPLE, LIST:
length, where it is noted; then DICT: where the keys are; NAMED_TUPLE: class, `tuple.__new__`; RECORD: class (or null),
what makes the object, where the names are. IF: slot of a bool, step where it is False. JUMP: step. KNOWN: where it is
noted, step where it is.
WRITE_LIST: length, index of the container, where on the stack its items are; WRITE_DICT and WRITE_OBJECT: then keys;
WRITE_DICT: then whether it is cleared before.
CALL: length; what is called is below the items. TEXT: length, of one at least. RAISE: `__notes__`, a note (or null)."""
FAILURE_ROOM = 40
"""The most parts of an exception on the stack."""


class Source:
    """Where a value from outside is looked up, four words each: SOURCE, where, name, value."""

    DICT, DICTS, CELL, CLASS = EACH = range(4)


# Fields in words from an object's start: class; of a dict its version, which any change of it changes; of
# PyArrayObject data, rank (int), sizes, strides, base, dtype, flags.
CLASS, VALUE = 1, 2
VERSION = 3
DATA, RANK, SIZES, STRIDES, BASE, DTYPE, FLAGS = range(2, 9)
WRITEABLE = 0x400
"""A flag of arrays."""
OWNS, OWN_DATA = 0x4, 0x504
"""The flag of an array that owns its data; with those of one that is aligned and writeable."""
MAX_RANK = 64
"""NumPy's limit."""
OWN = 3
"""Where a `NativeCallable` has the word that is its table."""
