"""Formulas of Python's `random`: the functions of its module, on the module's own generator, and generators that the
function makes, `random.Random(seed)` (Lib/random.py, and Modules/_randommodule.c for the Mersenne twister itself).

`g` stands for a generator. Its state is an array: the module's is on the memory of the `random.Random` object, which is
stored to in place as any array from outside: afterwards the generator is in the state that eager leaves it in, and
draws cost no call. The module's `gauss` and `seed` are calls of Python's, for they change an attribute too. Where an
object of this Python's is laid out otherwise there are no formulas.
"""

from __future__ import annotations

import ctypes
import math
import operator
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.host.calls import pass_on, record
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import Partial
from tracebuf.frontends.numpy.record.heap import RandomMade, RandomOfModule, Record
from tracebuf.frontends.numpy.record.raises import Raises
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import primitive
from tracebuf.frontends.numpy.record.values import ArrayRef, PyFloat
from tracebuf.ir.core import Value
from tracebuf.ir.types import F64
from tracebuf.running.host import Direct, HostFunction, Passed, Put, put_nothing

WORDS = 624
GENERATOR: Any = getattr(random, "_inst", None)


def state_of(generator: random.Random) -> np.ndarray[Any, Any] | None:
    """The place and the words of a generator's state, on its own memory; None where they are not where CPython has
    them, behind the head of the object."""
    head = object.__basicsize__
    if type(generator) is not random.Random or random.Random.__basicsize__ < head + 4 * (WORDS + 1):
        return None
    memory: Any = (ctypes.c_uint32 * (WORDS + 1)).from_address(id(generator) + head)
    memory.owner = generator  # which lives as long
    state: np.ndarray[Any, Any] = np.frombuffer(memory, np.uint32)
    version, words, _ = generator.getstate()
    return state if version == 3 and words == (*state[1:].tolist(), int(state[0])) else None


STATE: Any = state_of(GENERATOR)


def state_fetched(fetch: Callable[..., Any], how: str, *given: Any) -> Any:
    """A function that fetches the state of a generator that `fetch` gives, on its own memory."""
    return state_of(fetch(*given))


def on_state(name: str, state: np.ndarray[Any, Any], *args: Any) -> Any:
    """A call of a function of `random`, while the program has the generator's state, or a copy of it."""
    elsewhere = not np.may_share_memory(state, STATE)
    if elsewhere:
        STATE[:] = state
    result = getattr(random, name)(*args)
    if elsewhere:
        state[:] = STATE
    return result


@primitive
def number_by_python(r: Recorder, name: str, state: ArrayRef, *args: Any) -> Any:
    """A float that a function of `random` gives, called."""
    ins: list[Value] = []
    given = [pass_on(r, x, ins) for x in args]
    put = Put(name, (0,), (None,), float)
    call = Direct(on_state, (name, Passed(len(ins) + 1), *given), (), None, (0,), (None,), put)
    (made,) = record(r, HostFunction(f"random.{name}", call), ins, [(F64, (), ())], [state])
    return PyFloat(r.load(made, ()))


@primitive
def seed_by_python(r: Recorder, state: ArrayRef, a: Any) -> None:
    """random.seed, called."""
    ins: list[Value] = []
    given = pass_on(r, a, ins)
    call = Direct(on_state, ("seed", Passed(len(ins)), given), (), None, (), (), put_nothing)
    record(r, HostFunction("random.seed", call), ins, [], [state])


def seeded(state: np.ndarray[Any, Any], *x: Any) -> None:
    """Gives the words and the place the values that random.Random(x) has."""
    words = random.Random(*x).getstate()[1]
    state[0], state[1:] = words[-1], words[:-1]


@primitive
def state_by_python(r: Recorder, state: ArrayRef, a: Any) -> None:
    """The state of random.Random(a), by a call."""
    ins: list[Value] = []
    given = pass_on(r, a, ins)
    call = Direct(seeded, (Passed(len(ins)), given), (), None, (), (), put_nothing)
    record(r, HostFunction("random.Random", call), ins, [], [state])


@primitive
def draws_natively(r: Recorder) -> None:
    """Notes that the program has the generator's state, which a function of the user's may change too."""
    if r.calls_users:
        raise r.refuse("Python's random beside a host_call of a function of the user's", "draw in one of the two alone")
    r.makes_generators = True


def next_word(g: Any) -> Any:
    """genrand_uint32."""
    draws_natively()
    state = g.state
    place = int(state[0])
    if place >= 624:
        for k in range(624):
            both = (state[k + 1] & np.uint32(0x80000000)) | (state[(k + 1) % 624 + 1] & np.uint32(0x7FFFFFFF))
            odd = (both & np.uint32(1)) * np.uint32(0x9908B0DF)
            state[k + 1] = state[(k + 397) % 624 + 1] ^ (both >> np.uint32(1)) ^ odd
        place = 0
    word = state[place + 1]
    state[0] = place + 1
    word = word ^ (word >> np.uint32(11))
    word = word ^ ((word << np.uint32(7)) & np.uint32(0x9D2C5680))
    word = word ^ ((word << np.uint32(15)) & np.uint32(0xEFC60000))
    return word ^ (word >> np.uint32(18))


def drawn(g: Any) -> Any:
    """random.random()."""
    before, last = np.uint32(0), np.uint32(0)
    for _ in range(2):
        before, last = last, next_word(g)
    return (int(before >> np.uint32(5)) * 67108864.0 + int(last >> np.uint32(6))) * (1.0 / 9007199254740992.0)


def bits(g: Any, k: Any) -> Any:
    """random.getrandbits(k) of 1 to 63 bits."""
    low, high = np.uint32(0), np.uint32(0)
    for _ in range((k + 31) // 32):
        low, high = high, next_word(g)
    if k > 32:
        return (int(high >> np.uint32(64 - k)) << 32) | int(low)
    return int(high >> np.uint32(32 - k))


def getrandbits(g: Any, k: Any) -> Any:
    k = operator.index(k)
    if k < 0:
        raise ValueError("number of bits must be non-negative")
    if k > 63:
        raise OverflowError("Python integers are limited to 64 bits in compiled code")
    return bits(g, k) if k > 0 else 0


def below(g: Any, n: Any) -> Any:
    """Random._randbelow, of a positive int."""
    k = n.bit_length()
    found = bits(g, k)
    while found >= n:
        found = bits(g, k)
    return found


def randrange(g: Any, start: Any, stop: Any = None, step: Any = 1) -> Any:
    start = operator.index(start)
    if stop is None:
        if start > 0:
            return below(g, start)
        raise ValueError("empty range for randrange()")
    stop, step = operator.index(stop), operator.index(step)
    if step == 0:
        raise ValueError("zero step for randrange()")
    n = (stop - start + step - (1 if step > 0 else -1)) // step
    if n <= 0:
        raise ValueError("empty range for randrange()")
    return start + step * below(g, n)


def choice(g: Any, seq: Any) -> Any:
    if not len(seq):
        raise IndexError("Cannot choose from an empty sequence")
    return item_at(seq, below(g, len(seq)))


def item_at(seq: Any, k: Any) -> Any:
    """seq[k]."""
    return chr(np.array([ord(c) for c in seq])[k]) if isinstance(seq, str) else seq[k]


def sample(g: Any, population: Any, k: Any) -> Any:
    if not isinstance(population, Sequence):
        raise TypeError("Population must be a sequence.  For dicts or sets, use sorted(d).")
    n, k = len(population), operator.index(k)
    if k < 0 or k > n:
        raise ValueError("Sample larger than population or is negative")
    places = places_of_few(g, n, k) if n > 21 and n > room_for(k) else places_of_many(g, n, k)
    if k < FEW:
        return [item_at(population, int(places[i])) for i in range(k)]
    made = []
    for j in places:
        made.append(item_at(population, int(j)))
    return made


def room_for(k: Any) -> Any:
    """The largest population of which `sample` makes a list for k items."""
    room = 1
    while room < 3 * k:
        room = room * 4
    return 21 + room if k > 5 else 21


def places_of_many(g: Any, n: Any, k: Any) -> Any:
    """k of n places, of which those that are left are kept."""
    left, found = np.arange(n), np.empty(k, np.int64)
    for i in range(k):
        j = below(g, n - i)
        found[i] = left[j]
        left[j] = left[n - i - 1]
    return found


def places_of_few(g: Any, n: Any, k: Any) -> Any:
    """k of n places, of which those that are taken are kept, in a table by their last bits."""
    size = 16
    while size < 4 * k:
        size = size * 2
    taken, found = np.full(size, -1), np.empty(k, np.int64)
    for i in range(k):
        done = False
        while not done:
            j = below(g, n)
            at = j % size
            while taken[at] >= 0 and taken[at] != j:
                at = (at + 1) % size
            if taken[at] < 0:
                taken[at] = j
                found[i] = j
                done = True
    return found


def choices(g: Any, population: Any, weights: Any = None, *, cum_weights: Any = None, k: Any = 1) -> Any:
    n, k = len(population), operator.index(k)
    if cum_weights is None and weights is None:
        if n == 0 and k > 0:
            raise IndexError("Cannot choose from an empty population")
        if k < FEW:
            return [item_at(population, math.floor(drawn(g) * n)) for _ in range(k)]
        made = []
        for _ in range(k):
            made.append(item_at(population, math.floor(drawn(g) * n)))
        return made
    if cum_weights is not None and weights is not None:
        raise TypeError("Cannot specify both weights and cumulative weights")
    sums = np.add.accumulate(np.asarray(weights)) if cum_weights is None else np.asarray(cum_weights)
    if len(sums) != n:
        raise ValueError("The number of weights does not match the population")
    total = float(sums[-1])
    if total <= 0.0:
        raise ValueError("Total of weights must be greater than zero")
    if not math.isfinite(total):
        raise ValueError("Total of weights must be finite")
    if k < FEW:
        return [item_at(population, place_among(sums, drawn(g) * total)) for _ in range(k)]
    made = []
    for _ in range(k):
        made.append(item_at(population, place_among(sums, drawn(g) * total)))
    return made


def place_among(sums: Any, x: Any) -> Any:
    """bisect.bisect_right(sums, x, 0, len(sums) - 1)."""
    low, high = 0, len(sums) - 1
    while low < high:
        middle = (low + high) // 2
        if x < sums[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def gauss(g: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    """Random.gauss, of a generator that is made here: of two numbers that it makes the second is kept."""
    if g.kept[1] > 0:
        z = float(g.kept[0])
        g.kept[1] = 0.0
    else:
        angle = drawn(g) * (2.0 * math.pi)
        radius = math.sqrt(-2.0 * math.log(1.0 - drawn(g)))
        z = math.cos(angle) * radius
        g.kept[0] = math.sin(angle) * radius
        g.kept[1] = 1.0
    return mu + z * sigma


def seed(g: Any, a: Any = None) -> Any:
    state_by_python(g.state, a)
    g.kept[1] = 0.0


def gauss_of_outer(g: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    """Random.gauss, of a generator from outside: what it keeps is its attribute."""
    z = g.gauss_next
    g.gauss_next = None
    if z is None:
        angle = drawn(g) * (2.0 * math.pi)
        radius = math.sqrt(-2.0 * math.log(1.0 - drawn(g)))
        z = math.cos(angle) * radius
        g.gauss_next = math.sin(angle) * radius
    return mu + z * sigma


def seed_of_outer(g: Any, a: Any = None) -> Any:
    state_by_python(g.state, a)
    g.gauss_next = None


def gauss_of_module(g: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return number_by_python("gauss", g.state, mu, sigma)


def seed_of_module(g: Any, a: Any = None) -> Any:
    seed_by_python(g.state, a)


def begin(g: Any, x: Any = None) -> Any:
    """Random(x)."""
    g.state = np.empty(WORDS + 1, np.uint32)
    g.kept = np.zeros(2)
    seed(g, x)


def begin_module(g: Any) -> Any:
    """The module's generator: its state is from outside."""
    g.state = STATE


FEW = 5
"""Results of fewer items are lists whose length is known while tracing."""


FORMULAS = (getrandbits, randrange, choice, sample, choices, gauss, seed)
TABLE = {"random": drawn, "_randbelow": below} | {formula.__name__: formula for formula in FORMULAS}
"""By method of a generator: what is traced in its place."""
OF_MODULE = TABLE | {"gauss": gauss_of_module, "seed": seed_of_module}
OF_OUTER = TABLE | {"gauss": gauss_of_outer, "seed": seed_of_outer}
BY_PYTHON = (
    "uniform", "triangular", "randint", "shuffle", "normalvariate", "expovariate", "betavariate", "gammavariate",
    "lognormvariate", "paretovariate", "vonmisesvariate", "weibullvariate", "binomialvariate",
)  # fmt: skip
"""The methods of random.Random that are traced as they are written."""


def method(r: Recorder, g: Record, name: str) -> Any:
    """`g.name`: what is traced in the method's place, with its first argument; refuses those that have none."""
    table = OF_MODULE if g.kind is RandomOfModule else OF_OUTER if g.kind is random.Random else TABLE
    found = table.get(name)
    if found is None and name in BY_PYTHON:
        found = getattr(random.Random, name, None)
    if found is None:
        if not hasattr(random.Random, name):
            raise Raises(refusals.without(random.Random, name))
        raise r.refuse(f"a call of random.{name} cannot be traced", refusals.MODULES["random"])
    return Partial(found, (g,), {})


def call(
    r: Recorder, call_function: Callable[..., Any], function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """A call of random.Random, or of a function of `random`; NotImplemented for any other."""
    if function is random.Random and STATE is not None:
        made = r.heap.own(Record(RandomMade), r)
        call_function(begin, [made, *args], kwargs)
        return made
    if getattr(function, "__self__", None) is not GENERATOR or STATE is None:
        return NotImplemented
    module = r.heap.own(Record(RandomOfModule), r)
    found = method(r, module, function.__name__)
    call_function(begin_module, [module], {})
    return call_function(found.func, [module, *args], kwargs)
