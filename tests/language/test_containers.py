"""Tuples, lists, dicts, named tuples and objects as arguments, as results and inside (rules B4, C1, S8)."""

from __future__ import annotations

import collections
import dataclasses
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.arrays import floats, line
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.testing.ladder import climb


class State(NamedTuple):
    x: np.ndarray
    v: np.ndarray
    t: float = 0.0

    def energy(self) -> Any:
        return 0.5 * (self.v**2).sum()

    @property
    def size(self) -> int:
        return len(self.x)


@dataclasses.dataclass
class Body:
    x: np.ndarray
    mass: float = 1.0
    tags: list[Any] = dataclasses.field(default_factory=list)
    other: Any = None


@dataclasses.dataclass(frozen=True)
class Fixed:
    x: np.ndarray
    k: int = 2


Pair = collections.namedtuple("Pair", "low high")
Count = collections.namedtuple("Count", "index count")
NAMES = {"Count": Count, "State": State, "Body": Body, "Fixed": Fixed, "Pair": Pair, "dataclasses": dataclasses}


def cases(text: str) -> dict[str, tuple[str, str]]:
    """Programs by name: `# name`, the arguments (if they are not those of the test), the body indented."""
    found = {}
    for part in text.strip().removeprefix("# ").split("\n# "):
        name, *lines = part.split("\n")
        body = [x for x in lines if x.startswith("    ")]
        found[name] = "\n".join(x for x in lines if x not in body), "\n".join(body)
    return found


ARGUMENTS = cases("""
# a tuple of arrays
((line(), line()),)
    a, b = p
    a[0] = 9
    return a + b, p
# the same array twice
((x := line(), x),)
    p[0][1:] = 0
    return p[1] + 1, p[0] is p[1]
# overlapping arrays
(((x := line(5))[1:], x[:-1]),)
    p[0][:] = p[1] * 2
    return p
# a list
([line(), 2.0, line()],)
    return p[0] + p[-1], len(p), [x * 2 for x in p], p
# a list of numbers beside an array
([1.0, 2, 3, 4], line())
    return q * p, p * q, q + p, q @ p, q == p, q[:2] - p[:2]
# a dict
({"a": line(), "b": 2},)
    return {k: v * 2 for k, v in p.items()}, p['a'][0], 'z' in p, p.get('z', 3)
# other keys
({0: line(), True: 1.5, (1, "x"): 2},)
    return p[0] + p[True], p[1, 'x']
# nested
({"l": [{"w": line()}, 3.0]},)
    return p['l'][0]['w'] + p['l'][1], p['l']
# one list in two places
((x := [line()], x),)
    p[0].append(1.0)
    return p[1], p[0] is p[1]
# a named tuple
(State(line(), line(), 0.5),)
    return p.x * p.t, p.energy(), p.size, p[1], p
# replace
(State(line(), line(), 0.5),)
    return p._replace(t=p.t + 1), p._asdict()
# a dataclass
(Body(line(), 2.0),)
    return p.x * p.mass, p
# objects in a list
([Body(line()), Body(line(), 3.0)],)
    s = 0.0
    for b in p: s = s + b.x * b.mass
    return s, p[0]
# an object in an object
(Body(line(), other=Body(line())),)
    p.other.x[0] = 5
    return p.other.x + p.x, p.other
# None and strings
({"w": line(), "mode": "on", "none": None},)
    return (p['w'] if p['mode'] == 'on' else 0), p['none'] is None
# functions
({"f": np.sqrt, "x": line()},)
    return p['f'](p['x'])
# read-only
((np.broadcast_to(1.0, (3,)),),)
    return p[0] + 1
# store to read-only
((np.broadcast_to(1.0, (3,)),),)
    p[0][0] = 1
# 0 and 1 elements
([np.ones(0), np.ones(1), np.ones((0, 3))],)
    return [x.sum() for x in p]
# unpacked into a call
({"a": line(), "b": 2.0},)
    return (lambda a, b: a - b)(**p), (lambda a, b: a - b)(b=1, **{'a': p['a']})
# a key that is not there
({"a": line()},)
    return p['z']
# numbers in tuples
((0.5, (1, 2.5)), line())
    return q * p[0] + p[1][1]
# shapes stay static
((2, 2), line())
    return q.reshape(p)
# empty containers
([], {})
    return p, len(p), [*q], not p
""")


@pytest.mark.parametrize("name", one_in(8, ARGUMENTS))
def test_c1_containers_as_arguments(name: str) -> None:
    twice(*ARGUMENTS[name])


def twice(make: str, body: str) -> None:
    """The program agrees with eager when it is compiled, and when it was."""
    count = len(eval(make, globals()))
    g = bufferize(verify=True)(program(f"def f({'p, q'[: 3 * count - 2]}):\n{body}", **NAMES))
    for _ in range(2):
        agree(g, *eval(make, globals()))


CHANGES = cases("""
# the caller's dict replaced in no iteration
({"a": line()}, 0)
    for i in range(q): p = {"a": p["a"] + 1}
    return p
# the caller's dict replaced in a loop on data
({"a": line()}, 0.0)
    while p["a"][0] < q: p = {"a": p["a"] + 1}
    return p
# the caller's dict replaced in a loop on data, some times
({"a": line()}, 3.0)
    while p["a"][0] < q: p = {"a": p["a"] + 1}
    return p
# what a list was before a loop that does not run
(line(), 0)
    x = [p]
    z = x
    for i in range(q): z = [z[0] + 1]
    x[0] = p * 3
    return z[0]
# a list that a function of NumPy makes
(line(), 2)
    l = np.split(p, q)
    l.append(q)
    return l
# a key
({"a": line(), "b": 1},)
    p['a'] = p['a'] + 1
# a new key
({"a": line(), "b": 1},)
    p['c'] = p['a'] * 2
    return p['c']
# keys swapped
({"a": line(), "b": line() * 2},)
    p['a'], p['b'] = p['b'], p['a']
# del and order
({"a": line(), "b": 1, "c": 2},)
    x = p.pop('a')
    del p['b']
    p['b'] = x
    return p
# update
({"a": line(), "b": 1},)
    p.update({'b': p['a'].sum()}, z=3)
    p.setdefault('y', 1)
    return p
# clear
({"a": line()},)
    p.clear()
    return len(p)
# dict |=
({"a": line()},)
    p |= {'b': 2}
# a list's item
([line(), 1.5],)
    p[0] = p[0] * 2
    p[-1] += 1
# append
([line()],)
    p.append(p[0] + 1)
    p.insert(0, None)
    return p.pop(), p
# list +=
([line()],)
    p += [p[0], 1]
    p *= 2
    return p
# extend
([line()], (line(), 1.0))
    p.extend(x * 2 for x in q)
    del p[0]
    p.reverse()
# an attribute
(Body(line()), line())
    p.x = p.x * 2
    p.mass += 1
    p.other = q
    return p.x
# an attribute's array
(Body(line()),)
    p.x += 1
    p.x[0] = 0
    return p.mass
# a list of an object
(Body(line()),)
    p.tags.append(p.x)
    return p.tags
# an object of an object
(Body(line(), other=Body(line())),)
    p.other.mass = 3.0
    p.other = Body(p.x)
# in a branch
({"a": line(), "b": 1}, line())
    if q.sum() > 0: p['a'] = q * 2
    else: p['b'] += 1
    return p['a']
# in a branch of an object
(Body(line()), line())
    if q.sum() > 0:
      p.x = q * 2
      p.mass = 3.0
    return p.mass, p.x
# in a loop
({"a": line(), "n": 1}, line())
    for i in range(len(q)):
      p['n'] += 1
      p['a'] = p['a'] * 0.5 + q
    return p
# in a loop of an object
(Body(line()), line())
    for i in range(len(q)):
      p.mass *= 0.5
      p.x = p.x + p.mass
    return p.x
# swapped in a loop
({"a": line(), "b": line() * 2}, line(3))
    for i in range(len(q)):
      p['a'], p['b'] = p['b'], p['a']
      p['a'] += 1
    return p['a']
# in a while loop
({"n": 0}, line())
    while p['n'] < 10:
      p['n'] += 3
      if p['n'] > q[0] * 8: break
    return p['n']
# in a loop in a loop
({"s": 0.5, "k": 0}, line())
    for i in range(3):
      for j in range(len(q)):
        p['s'] += q[j]
        if q[j] > 2: p['k'] += 1
    return p
# a list in a loop
(line(), line())
    l = [p, 0.0]
    for i in range(len(q)):
      l[0] = l[0] + q[i]
      l[1] += q[i]
    return l
# a new dict in each iteration
(line(), line())
    d = {'a': p, 'b': 2.0}
    for i in range(len(q)):
      d = {k: v * 0.5 for k, v in d.items()}
      d['a'] += 1
    return d
# the caller's dict replaced
({"a": line(), "b": 2.0}, line())
    for i in range(len(q)):
      p = {k: v * 0.5 for k, v in p.items()}
    return p
# the caller's dict replaced, maybe
({"a": line()}, line())
    if q[0] > 0: p = {'a': q}
    return p
# the caller's dict replaced, not
({"a": line()}, line())
    if q[0] < 0: p = {'a': q}
    return p
# a named tuple in a loop
(line(), line())
    s = State(p, q)
    for i in range(3):
      s = s._replace(x=s.x + s.v, t=s.t + 0.5)
    return s
# an object in each iteration
(line(), line())
    s = Fixed(p, 1)
    for i in range(3):
      s = Fixed(s.x + q, s.k + 1)
    return s.x, s.k, s
# an object changed in a loop
(line(), line())
    s = Body(p)
    for i in range(len(q)):
      s.x = s.x + q
      s.mass += 1
    return s
# a view of a dict's array
({"a": line()},)
    v = p['a'][1:]
    v[0] = 7
    p['a'] = v
    return p
# what is kept
({"a": line()},)
    old = p['a']
    p['a'] = old * 2
    p['old'] = old
    return old
# a result in it
({}, line())
    y = q * 2
    p['y'] = y
    return y
# a raise before
({}, -line())
    p['a'] = 1
    if q[0] > 0: raise ValueError('no')
# a list in a dict
({"l": [1.0]}, line())
    p['l'].append(q)
    p['l'][0] = q * 2
    return p['l']
# a list in a dict in a loop
({"l": [1.0], "n": 2}, line())
    for i in range(len(q)): p['l'][0] += q[i]
    return p
# dict and list in a loop
({"l": [1.0], "n": 2}, line())
    for i in range(len(q)):
      p['l'][0] += q[i]
      p['n'] += 1
    return p
# in a function
({"n": 2}, line())
    def g(d, x):
      d['n'] += 1
      return x * d['n']
    for i in range(len(q)): q[i] = g(p, q[i])
    return q
# a frozen object
(Fixed(line()),)
    p.k = 3
# a named tuple's field
(State(line(), line()),)
    p.x = 3
""")


@pytest.mark.parametrize("name", one_in(10, CHANGES))
def test_c1_changes_of_containers_are_the_callers(name: str) -> None:
    twice(*CHANGES[name])


INSIDE = cases("""
# the greatest by a key
    d = {'x': a[0], 'y': a[1]}
    return max([a, a * 2, a - 1], key=lambda v: v[0]), min(d.values(), key=lambda v: -v), max(d, key=len)
# the greatest dict
    c = max({'x': a}, {'x': a * 2}, key=lambda p: p['x'][0])
    return c['x'], c
# the greatest by a key, of nothing, of NaN
    return max([], key=abs, default=3), max(a[0], np.nan * a[1], key=lambda v: v * 1.0), min('bb', 'c', key=len)
# named arguments
    def g(x, **options):
      scale = options.pop('scale', 1.0)
      options['more'] = 2
      return x * scale + options.get('shift', 0) + options['more']
    return g(a), g(a, scale=2.0), g(a, **{'shift': 3})
# slices of a list
    l = [a[i] for i in range(4)]
    l[1:3] = [1.0]
    del l[len(a) - 3:]
    l[:0] = (a, a)
    return l
# sorted by a key
    d = {'b': a, 'a': a * 2}
    return [k for k in sorted(d)], sorted(d.items(), key=lambda p: p[0], reverse=True)
# None in a dict, until
    d = {'best': None}
    for i in range(len(a)):
      if d['best'] is None or a[i] > d['best']:
        d['best'] = a[i]
    return d
# a field called as a method
    p = Count(a, 1)
    return p.count + 1, p.index is a, p._replace(count=2)
# literals
    d = {'a': a, **{'b': 1}, 'c': [a, a]}
    return d, list(d), [*d.values()], sorted(d), len(d), 'a' in d.keys()
# dict()
    return dict(a=a, b=2), dict([('x', a), ('y', 1)]), dict(zip('xy', (a, 1))), dict({'z': a})
# comprehensions
    return {k: a * k for k in range(3)}, {str(k): v for k, v in enumerate((a, 1)) if k}
# get and in
    d = {'a': a}
    return d.get('b'), d.get('a') is a, 'b' not in d, d.pop('a') is a, d
# identity
    d = {'x': a}
    l = [d, d]
    return d['x'], d, l, l[0] is l[1], d is d, (d, l)
# copies
    d = {'x': a}
    e = d.copy()
    e['x'] = 1
    l = [a]
    m = l[:]
    m.append(2)
    return d, e, l, m, l is m, l.copy()
# lists
    l = [a, 1, 2]
    l += [3]
    l.extend((4, 5))
    l.insert(0, 9)
    del l[1]
    return l, l.pop(), l * 2, [0] + l, l[::2]
# an int of an array
    l = [0] * len(a)
    return l, (1, 2) * len(a)
# an object
    b = Body(a, tags=[1])
    b.tags.append(a)
    b.mass += 1
    return b, b.tags, Body(a).tags is Body(a).tags
# frozen
    f = Fixed(a)
    return f, dataclasses.replace(f, k=5), isinstance(f, Fixed), type(f) is Fixed, f.k
# named tuples
    p = Pair(a, high=2)
    low, high = p
    return p, p.low is low, Pair(*p), p._replace(low=1), p.high, isinstance(p, tuple), p[0] is a
# named tuples by path
    p = Pair(a, 1)
    if a[0] > 0: p = Pair(a * 2, 2)
    return p
# dicts by path
    d = {'x': a, 'n': 0}
    if a[0] > 0: d = {'x': a * 2, 'n': 1}
    return d, d['x'] + d['n']
# one value or another
    d = {'x': None}
    if a[0] > 0: d['x'] = a
    return d
# getattr
    b = Body(a)
    setattr(b, 'mass', 3)
    return getattr(b, 'mass'), getattr(b, 'none', 4), hasattr(b, 'none')
# sums
    d = {'x': a, 'y': a * 2}
    return sum(d.values()), max(d), any(d), np.stack(list(d.values()))
# loops
    d = {'x': a, 'y': a * 2}
    s = 0.0
    for i, (k, v) in enumerate(d.items()):
      s = s + v * i
      d[k] = v + 1
    return s, d
# a list for a sequence
    return a + [1.0, 2.0, 3.0, 4.0], [1, 2, 3, 4] * a, a[0] + [1.0, 2.0], a > [1, 2, 3, 4], -a + (1, 1, 1, 1)
# a missing key
    return {'a': a}['b']
# a missing attribute
    return Body(a).nothing
""")


@pytest.mark.parametrize("name", one_in(8, INSIDE))
def test_c1_containers_inside(name: str) -> None:
    agree(program(f"def f(a):\n{INSIDE[name][1]}", **NAMES), line())


def test_structure_and_kinds_are_the_key_and_values_are_not() -> None:
    g = bufferize(program("def f(p): return p['x'] * p['k']"))
    for p in ({"x": line(), "k": 2}, {"x": line(7), "k": 3}, {"x": line(), "k": 2.5}, {"k": 2, "x": line()}):
        agree(g, p)
    assert len(g.specializations()) == 3
    assert "p['x']: float64[n], p['k']: int" in str(g.specializations())


def test_b4_overlap_is_seen_through_containers() -> None:
    g = bufferize(program("def f(p, q):\n    p['x'][:] = q[0] * 2\n    return q[0]"))
    x = line(5)
    agree(g, {"x": x[1:]}, [x[:-1]])
    assert "`p['x']` and `q[0]` overlap" in str(g.specializations())
    agree(g, {"x": x}, [x])


def test_b2_writability_is_seen_through_containers() -> None:
    x = line()
    x.flags.writeable = False
    g = bufferize(program("def f(p):\n    p[0][0] = 1"))
    agree(g, [line()])
    assert isinstance(agree(g, [x]), ValueError)


def test_donate_names_the_arrays_of_a_container() -> None:
    @bufferize(donate="p")
    def f(p, a):
        return {"x": (p["x"] + a) * p["k"]}

    p = {"x": line(), "k": 2.0}
    assert "no allocations" in str(f.explain(p, line()))
    assert (f(p, line())["x"] == (line() + line()) * 2).all()


def test_an_exception_leaves_containers_alone() -> None:
    """One of compiled code; what tracing finds to raise is the original function's."""
    g = bufferize(program("def f(d, a, i):\n    d['n'] += 1\n    return a[i[0]]"))
    d = {"n": 1}
    for k, n in ((1, 2), (50, 2), (2, 3), (60, 3)):
        with nullcontext() if k < 9 else pytest.raises(IndexError):
            g(d, line(), np.array([k]))
        assert d == {"n": n}
    d = {"n": 1}
    with pytest.raises(IndexError):
        bufferize(program("def f(d, a):\n    d['n'] += 1\n    return a[5]"))(d, line())
    assert d == {"n": 2}


def test_the_quick_path_serves_containers() -> None:
    g = bufferize(program("def f(p): return p['x'] + p['k']"))
    for k in range(4):
        assert (g({"x": line(), "k": float(k)}) == line() + k).all()
    assert len(g._recent) == 1 and g.specializations()[0].calls == 4  # type: ignore[union-attr]


def test_containers_from_outside_are_fetched_at_each_call() -> None:
    table = {"w": line(), "k": 2.0, "l": [1.0]}
    g = bufferize(program("def f(a):\n    T['n'] = T['k'] + 1\n    return a * T['w'] * T['k'] + T['l'][0]", T=table))
    for k in (2.0, 3.0):
        table["k"] = k
        assert (g(line()) == line() * line() * k + 1).all() and table["n"] == k + 1
    assert len(g.specializations()) == 2  # a key is new at the second call


REFUSALS = {
    "set": lambda: ({1, 2},), "a set in a list": lambda: ([{1}],), "ordered": lambda: (collections.OrderedDict(),),
    "a subclass of list": lambda: (type("L", (list,), {})(),), "a key of a class": lambda: ({frozenset([1]): 1},),
    "too long": lambda: ([0.5] * 5000,), "dates in a list": lambda: ([None, np.zeros(3, "M8[s]")],),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_cannot_be_an_argument_is_refused(name: str) -> None:
    error = refused(program("def f(p): return 1"), *REFUSALS[name]())
    assert error.instead


def test_marks_are_items_of_a_list() -> None:
    mark = object()
    f = bufferize(program("def f(p, mark): return p[1] is mark, p[0] is None"))
    assert f([None, mark], mark) == (True, True) and f([None, object()], mark) == (False, True)


def test_a_list_that_contains_itself_is_refused() -> None:
    x: list[Any] = [line()]
    x.append(x)
    assert "contains itself" in refused(program("def f(p): return 1"), x).reason


MERGED = cases("""
# a list that another may be
    x, y = [a], [a * 2]
    z = x if a[0] > 0 else y
    x[0] = a * 3
    return z[0]
# a list of a branch, in two places
    d = {'k': [0.0]}
    if a[0] > 0:
      l = [1.0]
      d['k'] = l
    else: l = [2.0]
    l[0] = 5.0
    return d
# a list of a branch, or one in a dict
    d = {'k': [0.0]}
    if a[0] > 0:
      l = [1.0]
      d['k'] = l
    else: l = d['k']
    l[0] = 5.0
    return d
# a list of a branch, where branches of it met
    l = m = [0.0]
    if a[0] > 0:
      l = [1.0]
      m = l if a[1] > 0 else [2.0]
    m[0] = 5.0
    return l
# a list that a loop gave a name which held another
    l, t = [a], [a * 2]
    for _ in range(len(a)): t = l
    l.append(1)
    return t
""")


@pytest.mark.parametrize("name", MERGED)
def test_s8_a_container_that_may_be_another_is_not_changed(name: str) -> None:
    error = refused(program(f"def f(a):\n{MERGED[name][1]}"), line())
    assert "one or another" in error.reason and error.instead


def test_the_least_of_numbers_of_three_types() -> None:
    for a in (3, -1, 0):
        agree(program("def f(a): return min(a, 0.1, 2)"), np.array(a))


def test_measure_clones_containers_and_objects() -> None:
    @bufferize
    def f(b, d):
        b.x += 1
        d["x"] = d["x"] * 2
        return d["x"] + b.x

    body, d = Body(line()), {"x": line()}
    found = tracebuf.measure(f, body, d)
    assert (body.x == line()).all() and (d["x"] == line()).all()
    assert found.native.allocations <= found.eager.allocations


def test_a_tuple_cut_by_an_int_argument() -> None:
    """The slice held a traced int, which Python cannot use (found by fuzzing)."""

    def program(a, n):
        return a.sum(axis=(0, 1)[:n]), (a, 1)[-n:]

    climb(program, (floats(2, 3), 1), again=[(floats(2, 3), 2)])


def c1_shapes_compared(a, b):
    assert a.shape[:1] == b.shape[:1], "as many rows"
    if a.shape != b.shape[::-1] and a.shape == b.shape:
        a = a + b
    same = a.shape == b.shape, list(a.shape) == list(b.shape), a.shape == list(b.shape), (a.shape, 1) == (b.shape, True)
    return a, same, a.shape == (3, 4), a.shape in ((4, 5), b.shape), (3, 4) not in [a.shape], a.shape == None  # noqa: E711


@pytest.mark.slow
def test_shapes_are_compared_item_by_item() -> None:
    """Rule C1: == and `in` of tuples with sizes among their items were decided by which objects these are."""
    f = bufferize(verify=True)(c1_shapes_compared)
    for m, n, k in ((3, 4, 4), (4, 5, 5), (4, 4, 4), (3, 5, 6), (3, 1, 7), (0, 3, 3)):
        agree(f, np.ones((m, n)), np.ones((m, k)))
    agree(f, np.ones((3, 4)), np.ones((4, 4)))


def f1_tuples_of_what_a_loop_computes(a, x):
    hits = 0
    for i in range(len(a)):
        if (i, len(a) - 1 - i) == (1, x):
            hits += 1
        if (i, x) != (x, i):
            hits += 10
    return hits, (a[0] > 1, x) == (True, 2), (a[0], 1) == (1.0, 1)


@pytest.mark.slow
def test_tuples_of_computed_numbers_are_compared() -> None:
    """Rules C1, F1: at run time where only that knows; a NaN could be an item of both, which is refused."""
    for x in (1, 2):
        agree(f1_tuples_of_what_a_loop_computes, np.arange(4.0), x)
    refused(lambda a: (a[0],) == (a[1],), np.ones(3))
    for shape in ((3, 4), (4, 4), (4, 6), (4, 7), (5, 1)):
        agree(program("def f(a): return a.shape < (4, 6), a.shape >= (4, 6)"), np.ones(shape))


def f2_a_shape_as_a_list(a):
    wider = list(a.shape)
    wider[1] += 2
    wider.append(3)
    order = sorted([3, 1, 2])
    order.reverse()
    out = np.zeros(wider)
    out[:, 1:-1, order[0] - 3] = a
    return out


def test_a_list_made_by_a_call_may_be_changed() -> None:
    """Rule F2: list(x) and sorted(x) make lists, as [*x] does (found by fuzzing)."""
    f = bufferize(verify=True)(f2_a_shape_as_a_list)
    agree(f, np.ones((4, 5)))
    agree(f, np.ones((3, 7)))


def test_ranges_and_slices_are_refused_and_tuples_ordered() -> None:
    """Rule C1: equal by their bounds in Python; tracers do not know (found by fuzzing)."""
    refused(lambda a: range(len(a)) == range(3), np.ones(3))
    refused(lambda a: slice(len(a)) == slice(3), np.ones(3))
    agree(lambda a: min(a.shape, (2, 2)), np.ones((3, 2)))


def test_a_list_that_a_loop_fills_after_its_first_iteration() -> None:
    """Rule S8: the list became another one where the first iteration is traced by itself, and so was refused."""

    def program(y, t):
        found = same = [y]
        for _ in range(3):
            y = y + t
            t += 0.5
            found.append(y)
        return np.array(found), len(same), t

    f = bufferize(program)
    for got, wanted in zip(f(floats(3), 0.0), program(floats(3), 0.0), strict=True):
        assert type(got) is type(wanted) and np.array_equal(got, wanted)


CHOSEN = {
    "lists of the caller": "x = p.items\nif a[0] > 3:\n    p.parts = x\nelse:\n    x[-1] = a\nreturn p.parts is x",
    "lists made here": "x, y = [a], []\nif a[0] > 3:\n    r = x\nelse:\n    x[0], r = a + 1, y\nreturn r, x, y",
    "empty lists of the caller": "x = p.parts if a[0] > 3 else p.more\nreturn x is p.parts, x is p.more, x",
}  # fmt: skip


@pytest.mark.parametrize("name", CHOSEN)
def test_one_list_or_another_of_another_length(name: str) -> None:
    """A list that one branch changed counted as empty where the branches meet, and two empty lists as one."""
    body = CHOSEN[name].replace("\n", "\n    ")
    f = program(f"def f(p, a):\n    {body}")
    for value in (1.0, 5.0):
        agree(f, SimpleNamespace(parts=[], more=[], items=[np.zeros(2)]), np.full(2, value))


def test_an_object_stored_and_returned_on_one_path_is_one() -> None:
    """The object in the caller's container and the one returned were two."""
    f = program("def f(p, a):\n    p['x'] = [a]\n    if a[0] > 3:\n        return 1\n    return p['x']")
    for value in (1.0, 5.0):
        agree(f, {"x": 1}, np.full(2, value))


def test_a_loop_over_a_list_of_arrays() -> None:
    """Each iteration is traced by itself: items may be of any dtype and shape, and are stored through."""

    def totals(a: Any, b: Any, c: Any) -> Any:
        s = 0
        for x in [a, b[1:], c]:
            x += 1
            s = s + x[0]
        return s, x

    agree(totals, line(), np.arange(5), floats(2, 3))


def test_a_loop_over_a_list_may_be_long() -> None:
    """The limit on unrolled iterations is that of ranges alone."""

    def total(items: Any) -> Any:
        s = 0
        for x in items:
            s += x[0]
        return s

    agree(total, [line(n + 2) for n in range(33)])


@pytest.mark.slow
def test_a_loop_over_a_long_list_by_its_counter() -> None:
    """Whether such a loop is unrolled depends on what it records, and a refusal names the limits."""

    def program_(items: Any, a: Any) -> Any:
        for i in range(len(items)):
            a = a + items[i]
        return a

    agree(program_, [line() + i for i in range(40)], line())
    error = refused(program_, [line()] * 700, line())
    assert "limits: 32 iterations, or 1000 operations" in error.reason
    assert "699 iterations" in error.reason  # the first is peeled


def held_by_itself(a, p):
    while a.any():
        p.parts = p
        a -= 1


def held_by_its_tuple(a, p):
    for x in a:
        if x > 0:
            p.parts = (p, a)


def held_by_each_other(a, p):
    q = [p, 0]
    while a.any():
        p.parts = q
        q[1] = p
        a -= 1


def held_on_one_path(a, p):
    p.parts = p
    if a.any():
        return 1
    else:
        p.count -= 1


def held_where_a_return_passes(a, p):
    try:
        if a.any():
            return 1
    finally:
        p.parts = p
    return a


def list_in_itself(a, p):
    t = []
    if a[0] > 0:
        t.append(t)
    return len(t)


def lists_in_each_other(a, p):
    t, u = [], []
    for x in a:
        if x > 0:
            t.append(u)
            u.append(t)
    return len(t)


def list_in_a_list_in_itself(a, p):
    t = []
    if a[0] > 0:
        t.append([t])
    return len(t)


@pytest.mark.parametrize("f", [list_in_itself, lists_in_each_other, list_in_a_list_in_itself])
@pytest.mark.parametrize("a", [[1.0, 2.0], [-1.0, 2.0]])
def test_lists_of_run_time_length_in_themselves(f, a):
    """The form of their items has no end: it was a RecursionError."""
    with pytest.raises(tracebuf.UnsupportedError):
        tracebuf.bufferize(f).call_counted(np.array(a), None)


@pytest.mark.parametrize(
    "f", [held_by_itself, held_by_its_tuple, held_by_each_other, held_on_one_path, held_where_a_return_passes]
)
def test_put_into_itself_in_a_loop_or_branch(f):
    """It was a RecursionError inside: what held itself was restored before that was looked for."""
    with pytest.raises(tracebuf.UnsupportedError, match="put into itself"):
        tracebuf.bufferize(f)(np.ones(3), SimpleNamespace(parts=0, count=2.0))


def grown_within_itself(c, p):
    for _ in range(3):
        p.parts[1] = p.parts
        p.parts[:1] = c


def test_a_list_within_itself_that_grows():
    """It was a RecursionError inside: what items are was asked of the list in the list, and so on."""
    refused(grown_within_itself, np.ones(5), SimpleNamespace(parts=[1.0, 2.0]))


def one_of_two_lists(a):
    p, q = [a], [a]
    r = p if a[0] > 3 else q
    return r is p, r is q, r, p


def one_of_two_empty_lists(a):
    p, q = [], []
    r = p if a[0] > 3 else q
    return r is p, r is q


def one_of_two_dicts_twice(a):
    p, q = {"x": a}, {"x": a * 2}
    r = p if a[0] > 3 else q
    s = r if a[1] > 3 else p
    return s is p, s is r, s is q, s, p


def one_of_the_callers_lists(a, p, q):
    r = p if a[0] > 3 else q
    return r is p, r is q, r


@pytest.mark.parametrize("a", [[1.0, 5.0], [5.0, 5.0]])
@pytest.mark.slow
def test_c1_which_container_it_is_where_paths_met(a):
    """`r is p` was False for one of two lists of one shape that were joined item by item."""
    a = np.array(a)
    for f in (one_of_two_lists, one_of_two_empty_lists, one_of_two_dicts_twice):
        agree(f, a)
    agree(one_of_the_callers_lists, a, [a * 1], [a * 2])


def two_names_on_one_path(a):
    if a[0] > 3:
        q = [a + 1, 1]
        r = q
    else:
        q, r = [a, 2], [a, 2]
    return q, r, q is r


def one_of_two_bound_anew(a):
    q = r = [a, 1]
    if a[0] > 3:
        q = [a, a]
    return q, r


def in_a_dict_on_one_path(a):
    r = None
    if a[0] > 3:
        q = {"x": [a[0], a]}
        r = q["x"]
    else:
        q = {"x": [2.0, a]}
    return q, r


def on_two_paths_of_one(a):
    r = None
    if a[0] > 3:
        q = [a, 1]
        r = q if a[1] > 3 else [a, q]
    else:
        q = [a, a]
    return {"q": q, "r": r}


@pytest.mark.parametrize(
    "f", [two_names_on_one_path, one_of_two_bound_anew, in_a_dict_on_one_path, on_two_paths_of_one]
)
def test_c1_a_list_made_on_one_path_that_two_results_hold(f):
    """Two lists were returned where eager returns one: known was only that of a list made outside of the branches."""
    g = bufferize(f)
    for first in ([1.0, 1.0], [5.0, 1.0], [5.0, 5.0]):
        agree(g, np.array(first))


def first_bound_in_a_loop_that_changes_it(a, n):
    q, k = [a, a], 0
    while k < n:
        q[0] = q[0] + 1
        t = (q, k)
        k += 1
    return t[0][0], t[0] is q, t


def bound_by_the_path_in_a_loop_that_changes_it(a, n):
    q = [a, a]
    for k in range(n):
        q[0] = q[0] + 1
        if a[k] > 1:
            t = q
        if a[k] > 2:
            break
    return t[0], t is q, q


@pytest.mark.parametrize("f", [first_bound_in_a_loop_that_changes_it, bound_by_the_path_in_a_loop_that_changes_it])
@pytest.mark.slow
def test_a_container_that_a_loop_changes_and_binds(f):
    """After the loop the tracer's own stand-in for the container was what the name held."""
    g = bufferize(f)
    for n in (2, 0, 3):
        agree(g, line(), n)


def changed_through_its_own_name(a, n):
    q, t = [a, a], (1, 2)
    for _ in range(n):
        t = q
    q.append(1)
    return t


def changed_through_the_name_that_a_loop_bound(a, n):
    d = {"q": [a, a]}
    for _ in range(n):
        for _ in range(2):
            t = d["q"]
        u = (t, d)
    if n > 0:
        u[1]["q"][0] = 5
        t.append(1)
    return d


def changed_after_a_loop_that_binds_it_again(a, n):
    q = [a, a]
    t = q
    for _ in range(n):
        t = q
    t[0] = 5
    q.append(1)
    return q, t


@pytest.mark.slow
@pytest.mark.parametrize(
    "f",
    [
        changed_through_its_own_name,
        changed_through_the_name_that_a_loop_bound,
        changed_after_a_loop_that_binds_it_again,
    ],
)
def test_a_container_of_before_a_loop_that_binds_it_is_that_container(f):
    """After the loop the name held a list of the same items, which later changes did not reach."""
    for n in (1, 3, 0):
        climb(f, (line(), n))


def held_by_a_list_that_becomes_a_number(a, p, n):
    t = [1, p]
    for _ in range(1):
        t = t[1][0]
        p[0] = a
    return t


def held_by_a_dict_that_becomes_a_number(a, p, n):
    t = {"k": p}
    for _ in range(1):
        t = t["k"][0]
        p[0] = a
    return t


def held_by_a_new_list(a, p, n):
    t = [p]
    for i in range(n):
        a = a + t[0][0]
        t = [p]
        p[0] = 3.0 + i
    return a, t, t[0] is p


def held_by_a_new_object(a, p, n):
    t = Body(a, 2.0, p)
    for i in range(n):
        a = a + t.tags[0]
        t = Body(a, t.mass * i, p)
        p[0] = 3.0 + i
    return t.x, t.mass, t.tags is p


def held_two_deep(a, p, n):
    t = [[p], 0.0]
    for i in range(n):
        t = [[t[0][0]], i]
        t[0][0][0] += 1.0
    return t, t[0][0] is p


def held_by_another_list_on_some_paths(a, p, n):
    t = [2.0, p]
    for i in range(n):
        if i % 2:
            t = [3.0 * i, p]
        p[0] = t[0] + 1
    return t, p, t[1] is p


def held_with_an_array(a, p, n):
    t = [p, a]
    for i in range(n):
        p[0] = p[0] + i
        t[1] += 1
        t = [p, t[1]]
    return t, t[1] is a


@pytest.mark.slow
@pytest.mark.parametrize(
    "f",
    [
        held_by_a_list_that_becomes_a_number,
        held_by_a_dict_that_becomes_a_number,
        held_by_a_new_list,
        held_by_a_new_object,
        held_two_deep,
        held_by_another_list_on_some_paths,
        held_with_an_array,
    ],
)
def test_a_list_that_a_loop_changes_within_a_container_that_it_binds_again(f):
    """The container came to the loop without the list's items: IndexError. (Found by fuzzing.)"""
    for n in (1, 3, 0):
        climb(f, (line(), [1.0], n))


def test_a_key_that_is_deleted_and_set_again_in_a_loop_over_its_dict() -> None:
    """RuntimeError in Python where its turn is over; where it is not, it comes again."""

    def over(v: Any) -> Any:
        m = {1: v}
        for k in m:
            m.pop(k)
            m[k] = v
        return m

    def not_yet(v: Any) -> Any:
        m, met = {1: v, 2: v + 1}, []
        for k in m:
            met.append(k)
            if k == 1:
                m.pop(2)
                m[2] = v
        return m, met

    assert "change in a loop over it" in str(refused(over, np.ones(3)))
    agree(not_yet, np.ones(3))
