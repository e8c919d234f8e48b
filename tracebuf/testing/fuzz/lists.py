"""Random programs of lists whose length only the run time knows: what loops and branches append, take, store and read.

Drawn are two lists and a stack, from statements within one another: loops over ranges, arrays and the lists themselves,
`while` loops with a bound, branches on data, calls of a helper that changes its argument. Items are floats, mostly
NumPy's; some programs have a list of tuples too, or one of arrays, lists or dicts, or of texts with a dict by such,
or dicts of arrays and lists, arrays of any length, dicts by texts of a number, stores through `flat`, functions that
call themselves and return arrays, or such that change the lists, and give and return lists, or a list of lists that
is an argument.
Loops over a list take no more than its first items, or end where it is long, so that no list grows exponentially. Some
programs are refused, and some raise, as eager does.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from tracebuf.testing.programs import FOOTER, HEADER, Program

__all__ = ["generate"]

SMALL = 7
BEGIN = ("[]", "[]", "[]", "[v[0]]", "[0.0]", "[v[0], w[1]]", "list(v)", "v.tolist()", "[x for x in w if x > 0]",
         "[x * 2 for x in v]")  # fmt: skip
NUMBERS = ("v[k % 7]", "w[k % 7]", "x", "x * 2", "t", "len({a}) * x", "sum({b})", "float(x)", "{a}[-1]", "{b}[0]",
           "{b}[k % len({b})]", "max({a})")  # fmt: skip
SIMPLE = (
    "{a}.append({n})", "{a}.append({n})", "{a}.append({n})", "{a}.append({n})", "{a} += [{n}, {m}]",
    "{a}.extend(({n},))",
    "t = {a}.pop()", "{a}.pop(0)", "{a}[0] = {n}", "{a}[-1] = {n}", "{a}[k % len({a})] += {n}", "t = t + {n}",
    "push({a}, {n})", "{a} = {a}[1:]", "{a} = ({b} + {a})[:9]", "{a} = {b}", "{a} = list({b})",
    "{a}.clear()", "{a}.sort()",
    "{a} = sorted({b}, reverse=True)", "{a} += {b}[:3]", "{a} = [y * 0.5 for y in {b} if y > {n}]", "{a}.extend(w)",
    "v[k % 7] = {n}", "s.append(k)", "k = s.pop()", "s.append(len({a}))",
    "{a}.reverse()", "{a} = {a}[::-1]", "{a} = {a}[:3] * 2", "t = t + min({a}, default=0.5)", "k = s.index(1)",
)  # fmt: skip
TUPLES = (
    "p.append((k, {n}))", "p.append((len({a}), {n}))", "k, t = p.pop()", "k, t = p[-1]", "p.sort()", "p.reverse()",
    "p = sorted(p, key=lambda q: q[1])", "t = t + p[0][1]", "p[-1] = (k, {n})", "p = p[1:]", "del p[0]",
    "p.insert(0, (k, {n}))", "{a} = [q[1] for q in p if q[0] > k]", "k, t = max(p)", "p += [(k, t), (0, {n})]",
)  # fmt: skip
"""Statements of the list of tuples."""
ARRAYS = (
    "h.append(v.copy())", "h.append(w * {n})", "h.append(z)", "z = z + {n}", "z = w * t", "z[k % 7] = {n}", "h.pop()",
    "t = t + h[-1][k % 7]", "z = z + h[0]", "h = h[1:]", "h[-1] = w + {n}", "h.append(h[-1] * 0.5)", "z = sum(h, z)",
    "z, u = u, z", "z, u = u, z", "u[1:-1] = z[:-2] * 0.5 + {n}", "h.append(z.copy())", "h.append(u.copy())",
)  # fmt: skip
"""Statements of the list of arrays."""
TABLES = (
    "g[k % len(g)][k % 2] = {n}", "g[k % 3][0] += {n}", "g[0], g[k % 3] = g[k % 3], g[0]", "g[k % 3] = g[0]",
    "row = g[k % 3]", "row[0] = {n}", "row = row[:1] + g[k % 3][1:]", "g[k % 3] = row", "g.append([{n}, {m}])",
    "g[k % 3] = [y * 0.5 for y in g[0]]", "g[k % 3].append({n})", "g.append(g[k % 3])", "t = t + sum(g[k % 3])",
    "q, t = g[k % 3][:2]", "g[-1].pop()", "a = list(g[k % 3])", "g = g[:4]", "g.append(list({a}))", "g.reverse()",
    "{a}.append(g[k % 3][-1])", "g[k % 3][1:] = [{n}]", "g[k % 3].insert(0, {n})", "g.append({a}[:2])", "g.pop()",
    "del g[k % 3][0]", "g[k % 3] += {a}[:1]", "g[k % 3].sort()", "row = [{n}, t]", "g[1].append(len(g))",
)  # fmt: skip
"""Statements of the list of lists."""
GIVEN = (
    "t = t + g[k % len(g)][k % 2]", "t = g[k % 3][-1]", "g[k % len(g)][0] = float({n})", "g[k % 3][1] += 0.5",
    "row = g[k % 3]", "row[0] = float({n})", "t = t + sum(g[k % 3])", "row = g[0]", "{a}.append(g[k % 3][k % 2])",
    "t = g[k % 3][len(s) % 2] * t", "k = len(g[k % 3])", "t = t + max(g[k % 3])", "{a}.append(g[0][1])",
    "t = row[k % 2]", "{a} = [q[0] for q in g]", "t = t + g[k % 3][k % 2]", "t = sum(g[q][k % 2] for q in range(3))",
    "s.append(k % 3)",
    "t = t + g[s[-1]][0]", "{a} = list(g[k % 3])",
)  # fmt: skip
"""Statements of a list of lists that is an argument."""
GIVEN_SELDOM = (
    "g[0], g[1] = g[1], g[0]", "g.append([float({n}), 1.5])", "g[k % 3].append(0.5)", "g[-1].pop()", "g.reverse()",
    "g[k % 3].sort()", "g[0] = g[k % 3]", "row = list(row)", "t = t + np.array(g).sum()", "g[1] = [t, t]",
)  # fmt: skip
RECORDS = (
    "d.append(dict(k=k, x={n}))", "d.append(dict(k=k, x={n}))", "d.append(dict(k=k, x={n}))", "d[-1]['x'] = {n}",
    "d[k % len(d)]['k'] += 1", "r = d[k % len(d)]", "r['x'] = {n}", "t = t + r['x']", "d.append(r)", "d = d[1:]",
    "d.sort(key=lambda q: q['x'])", "k = d[-1]['k']", "{a}.append(d[0]['x'])", "r.update(k=k)", "r = d.pop()",
    "d.reverse()", "d = [q for q in d if q['x'] > {n}]", "r = max(d, key=lambda q: q['x'])", "r = dict(k=k, x={n})",
    "t = t + sum([q['x'] for q in d])", "d[k % len(d)] = r", "d.append(dict(r))", "d.append(dict(d[0], k=k))",
)  # fmt: skip
"""Statements of the list of dicts."""
TEXTS = (
    "u = 'lo' if {n} > 0 else 'hi'", "u = 'mid' if x > t else u", "c[u] = c.get(u, 0.5) + {n}", "c[u] = {n}",
    "c[u] = {n}", "e.append(u)", "e.append('mid')", "u = e[k % len(e)]", "c['mid'] = {n}", "t = t + c[u]",
    "k = e.count('lo') + len(c)", "e.sort()", "t = c.pop(u, t)", "e = sorted(c)", "c[e[-1]] = t", "e.reverse()",
    "k = k + ('hi' in e)", "u = max(c, key=c.get)", "u = e.pop()", "del c[u]",
)  # fmt: skip
"""Statements of the list of texts, and the dict by such."""
MAPS = (
    "m[k % 3] = w * {n}", "m[k % 3] = v + t", "m[len({a}) % 4] = z * 2", "m[k % 3] = m.get(k % 3, w) + {n}",
    "z = m.get(k % 4, w) * 2", "z = m.pop(k % 3, w) + t", "t = t + m[0][k % 7]", "k = len(m)", "z = z + {n}",
    "q.setdefault(k % 3, []).append({n})", "q.setdefault(k % 3, []).append({n})", "t = t + sum(q.get(k % 3, [0.5]))",
    "z[k % 7] = {n}", "bisect.insort(o, {n})", "k = bisect.bisect(o, {n})", "k = bisect.bisect_left(o, t, 0)",
    "{a} = [p[0] for p in m.values()]", "t = t + once(k % 5)", "t = once(k % 2) - t", "m.update([(k % 3, v * t)])",
)  # fmt: skip
"""Statements of a dict of arrays, a dict of lists, a list in order, and a function with a cache."""
RAGGED = (
    "h.append(v[v > {n}])", "h.append(w[: k % 7])", "h.append(z[z < t] * 2)", "h.append(v[k % 5 :])",
    "h.append(h[0] + {n})", "h[-1] = v[v > x]",
    "t = t + h[-1].sum()", "k = len(h[-1])", "z = np.concatenate(h)", "h = h[1:]", "h.pop()",
    "h = [y * 2 for y in h if len(y) > 1]", "h.sort(key=len)", "z = max(h, key=len)", "h[0] = h[0][1:]", "z = z[z > t]",
    "h.append(z)", "h[k % len(h)] = w[w > {n}]", "h.reverse()", "h.append(np.sort(h[-1]))", "z = h[k % len(h)]",
    "k = sum(len(y) for y in h)", "h.append(np.array({a}))", "h += np.split(v, [2, 2 + k % 3])", "{a}.extend(h[-1])",
)  # fmt: skip
"""Statements of the list of arrays of any length."""
KEYED = (
    "c[KEY] = {n}", "c[KEY] = c.get(KEY, 0.5) + {n}", "t = c.pop(KEY, t)",
    "t = t + c[KEY]", "c['s1'] = {n}", "k = len(c)", "e = sorted(c)", "u = KEY", "c[u] = {n}",
    "u = max(c, key=c.get)", "c[u] += t", "del c[KEY]", "c.setdefault(KEY, {n})", "u = 's0'",
    "{a}.extend(c.values())", "c.update([(KEY, x)])", "e = [u for u in c if c[u] > t]", "e.append(KEY)",
)  # fmt: skip
"""Statements of a dict by texts of a number."""
KEYS = ("f's{k}'", "f's{k % 3}'", "f's{k % 3}'", "f'{k % 4}'", "'s%d' % k", "'s' + str(k % 4)", "f's{len(c)}'")
FLAT = (
    "z.flat[k] = {n}", "z.flat[::8] = {n}", "z.flat[::8] += {n}", "z.flat[k : k + 3] = {n}", "z.flat = {n}",
    "t = t + z.flat[k]", "z.flat[-k] = t", "u = z.T", "u = z[::2]", "u.flat[3] = {n}", "u.flat[k::5] = t",
    "z.flat[1:4] = z.flat[:3]", "u.flat = v", "z = z * 0.5", "z.flat[k % 49] += x", "{a}.append(z.flat[k % 49])",
    "z.flat[k : k + 21 : 7] = w[:3]", "u.flat[: len({a})] = {n}", "{a}.extend(u.flat[:3])",
)  # fmt: skip
"""Statements of stores through `flat`."""
CALLED = ("z = halves(v, 0)", "z = halves(z, k % 3)", "t = t + halves(w, 1).sum()", "{a}.extend(halves(v[:3], 0))",
          "z = halves(w[::-1], 0)", "z[k % len(z)] = {n}", "v[:] = halves(v, 1)[:7]", "k = len(z)", "t = z[0] + {n}",
          "{a} = list(halves(np.array({b}), 0))", "z = z + halves(z, 2)", "z = z[z > t]")  # fmt: skip
"""Statements that call a function which calls itself."""
PARTS = (("y[::2]", "y[1::2]"), ("y[: len(y) // 2]", "y[len(y) // 2 :]"), ("y[y < y[0]]", "y[1:][y[1:] >= y[0]]"),
         ("y[1:] * 0.5", "y[:-2]"), ("y[1:]", "y[:0]"), ("y[: len(y) // 2] + d", "y[: len(y) // 2]"))  # fmt: skip
LEAVES = ("y.copy()", "y * 2", "y", "y + d", "np.sort(y)", "y[:1]", "np.zeros(1)", "y[::-1]", "np.empty(0)")
JOINED = ("np.concatenate([a, b])", "np.concatenate([b, y[:1], a])", "np.concatenate((a, b * 2))", "a", "b + 1",
          "np.concatenate([a, b])[::-1]", "a[:1] + b[:1]", "a if len(a) > len(b) else b",
          "np.append(a, b.sum())")  # fmt: skip
LONG = "if len(a) + len(b) > 30:\n    break"
PROGRESS = {"while len(a)": ["a.append(t)"], "while len(b)": ["b.append(t)"], "while s:": ["x = v[s.pop() % 7]"],
            "while a and ": ["b.append(a.pop())"], "while b and ": ["a.append(b.pop())"],
            "while p and ": ["k, t = p.pop()"], "for t in a:": [LONG], "for t in b:": [LONG], "for j, x in ": [LONG],
            "for t, x in ": [LONG], "for j, t in ": ["if len(p) > 12:\n    break"]}  # fmt: skip
"""By the beginning of a loop: what makes it end."""
BLOCKS = ("for k in range(n):", "for x in w:", "for k, x in enumerate(v):", "if x > 0:", "if len({a}) > k:",
          "if not {a}:",
          "while len({a}) < 12:", "while {a} and len({b}) < 20:", "for x in list({b}[:9]):",
          "for x in reversed({a}[:9]):", "for x, t in zip({b}[:5], {b}[1:]):",
          "for x, t in zip({a}[:4], {b}):",
          "for t in {a}:", "for j, x in enumerate({b}):", "for t, x in zip({a}, {b}):",
          "with noted({a}, {n}):", "with noted({b}, k) as s:",
          "while s:", "for k in range(n):", "for x in v:", "if x > t:", "if x > 0 and len({a}) < 9:")  # fmt: skip
TUPLE_BLOCKS = ("for k, t in p[:9]:", "for j, t in p:", "if p and p[-1][0] > k:", "while p and len({b}) < 20:",
                "if (k, 1) in [(1, 1)]:",
                "for j, (k, t) in enumerate(p[:5]):")  # fmt: skip
ARRAY_BLOCKS = ("for y in h[:5]:", "if h and h[0][1] > t:", "for y, x in zip(h[:4], {a}):")
TABLE_BEGIN = ("[[0.5, 1.0], [2.0, 3.0], [4.0, 5.0]]", "[[v[0], w[0]], [v[1], v[2]], [w[3], x]]",
               "[[x, t] for x, t in zip(v[:4], w)]", "[[0.0] * 3 for _ in range(4)]")  # fmt: skip
TABLE_BLOCKS = ("for row in g[:4]:", "for y in list(g[k % 3])[:4]:", "if g[k % 3][0] > t:", "for y in g[k % 3][:6]:",
                "if len(g[0]) < 5:", "for k, row in enumerate(g[:3]):")  # fmt: skip
GIVEN_BLOCKS = ("for row in g[:4]:", "for y in g[k % 3][:6]:", "if g[k % 3][0] > t:", "for k in range(len(g)):",
                "for k, row in enumerate(g[:3]):", "for t in g[k % 3]:")  # fmt: skip
RECORD_BLOCKS = ("for r in d[:5]:", "if d and d[-1]['x'] > t:", "if r is d[0]:", "for k, q in enumerate(d[:4]):",
                 "if r['x'] > 0:")  # fmt: skip
MAP_BLOCKS = ("for k, p in m.items():", "if k % 3 in m:", "for k, e in sorted(q.items()):", "for k in sorted(m):",
              "if len(o) < 9:", "for k in y:", "if m.get(k % 4) is None:")  # fmt: skip
TEXT_BLOCKS = ("if u == 'lo':", "for u in e[:4]:", "if u in c:", "for u, t in sorted(c.items()):", "if 'mid' in c:")
RAGGED_BLOCKS = ("for y in h[:5]:", "if h and len(h[0]) > k:", "for y, x in zip(h[:4], {a}):", "if len(z) > 2:",
                 "for k, y in enumerate(h[:4]):", "if any(len(y) > 3 for y in h):")  # fmt: skip
KEYED_BLOCKS = ("if KEY in c:", "for u, t in c.items():", "for u in sorted(c):", "if u in c:", "if len(c) < 3:")
FLAT_BLOCKS = ("if z.flat[k] > t:", "for x in z.flat[:5]:", "if t > 0:")
CALLED_BLOCKS = ("if len(z) > 3:", "for x in halves(v, 1)[:5]:", "if z.sum() > t:")
RESULTS = ("a", "a, b, s", "np.array(a), b", "np.array(b).sum(), len(a)", "np.sum(a) + t, s", "a[1:], b[-1], v",
           "a, a, b",
           "np.concatenate([a, b]), len(s)", "{{'a': a, 'b': b}}")  # fmt: skip
TUPLE_RESULTS = ("p", "np.array(p), b", "p, {a}", "len(p), max(p, key=lambda q: q[1])", "[q[0] for q in p], {b}[-1]")
ARRAY_RESULTS = ("np.array(h)", "h", "h, {a}", "h[-1]", "np.stack(h), z", "sum(h, z)", "z, len(h)", "np.array(h), w")
TABLE_RESULTS = ("g", "g, row", "g, {a}", "len(g), g[0]", "np.array(g[k % 3]), g", "[len(r) for r in g], row")
RECORD_RESULTS = ("d", "d, r", "d, {a}", "len(d), d[0]", "[q['k'] for q in d], r", "d, d[-1], r['x']")
TEXT_RESULTS = ("c, e", "sorted(c), e", "c, u, {a}", "e, e.index('mid')", "list(c), len(c), c.get(u)")
MAP_RESULTS = ("m", "m, {a}", "q, o", "sorted(q.items()), len(m)", "z, t, k", "o, sorted(m)", "sum(m.values(), z)")
RAGGED_RESULTS = ("h", "np.concatenate(h)", "[len(y) for y in h]", "max(h, key=len)", "h, {a}", "z, len(h)",
                  "h[-1], h[0]")  # fmt: skip
KEYED_RESULTS = ("c", "sorted(c), e", "c, u, {a}", "len(c), list(c)", "c.get(u), c", "e, list(c.values())")
FLAT_RESULTS = ("z", "z, t", "u", "z, u", "z.sum(), {a}")
WITHIN = ("go({n}, 0)", "go({n}, 1)", "t = t + go({n}, 0)", "a = sorted_by(a)", "b = sorted_by(b[:6])")
WITHIN_BLOCKS = ("if go({n}, 1) > t:", "for x in sorted_by({a}[:5]):")
WITHIN_RESULTS = ("{a}, t", "a, b, s", "{a}, go({n}, 0), k", "sorted_by({a}), {b}", "np.array({a}).sum(), k, t")
CALLED_RESULTS = ("z", "z, t", "halves(v, 0)", "halves(z, 1), {a}", "z, halves(w, 0).sum()")
KINDS = {
    "tuples": (TUPLES, TUPLE_BLOCKS, TUPLE_RESULTS), "arrays": (ARRAYS, ARRAY_BLOCKS, ARRAY_RESULTS),
    "tables": (TABLES, TABLE_BLOCKS, TABLE_RESULTS), "records": (RECORDS, RECORD_BLOCKS, RECORD_RESULTS),
    "texts": (TEXTS, TEXT_BLOCKS, TEXT_RESULTS), "maps": (MAPS, MAP_BLOCKS, MAP_RESULTS),
    "ragged": (RAGGED, RAGGED_BLOCKS, RAGGED_RESULTS), "keyed": (KEYED, KEYED_BLOCKS, KEYED_RESULTS),
    "flat": (FLAT, FLAT_BLOCKS, FLAT_RESULTS), "called": (CALLED, CALLED_BLOCKS, CALLED_RESULTS),
    "within": (WITHIN, WITHIN_BLOCKS, WITHIN_RESULTS), "given": (GIVEN, GIVEN_BLOCKS, TABLE_RESULTS),
}  # fmt: skip
"""By kind of program: more statements, blocks and results."""
OFTEN = {"numbers": 2, "tuples": 3, "arrays": 2, "tables": 3, "records": 3, "texts": 2, "maps": 3, "ragged": 3,
         "keyed": 2, "flat": 2, "called": 3, "within": 4, "given": 3}  # fmt: skip
"""How often each kind is drawn, of 35."""
SORTED = """def sorted_by(y):
    if len(y) <= 1:
        return y
    m = y[len(y) // 2]
    return sorted_by([q for q in y if q < m]) + [q for q in y if q == m] + sorted_by([q for q in y if q > m])"""
HELPER = "def push(items, x):\n    if x > 0:\n        items.append(x)\n    else:\n        items.append(-x)"
CONTEXT = """@contextlib.contextmanager
def noted(items, x):
    items.append(x)
    try:
        yield [len(items)]
    finally:
        items.append(-x)"""


def halves(draw: random.Random) -> str:
    """A function of an array that calls itself with parts of it."""
    first, second = draw.choice(PARTS)
    lines = [f"if len(y) <= {draw.randint(1, 2)} or d > {draw.randint(2, 4)}:", f"    return {draw.choice(LEAVES)}"]
    leaf = ["if y[0] > y[-1]:", f"    return {draw.choice(LEAVES)}"]
    lines += draw.choice(([], [], leaf, ["y = y * 1.5"], ["y[0] += d"]))
    lines += [f"a, b = halves({first}, d + 1), halves({second}, d + 1)", f"return {draw.choice(JOINED)}"]
    return "def halves(y, d):\n    " + "\n    ".join(lines)


def search(draw: random.Random, filled: Callable[[str], str]) -> list[str]:
    """A function inside that calls itself, and changes the lists a, b and s and the names t and k."""
    own = [text for text in SIMPLE if not text.startswith("{a} = ")]

    def lines(most: int) -> list[str]:
        return [filled(draw.choice(own)) for _ in range(draw.randint(0, most))]

    again = [f"go({draw.choice(('x * 0.5', 'x - t', 'w[d]', 't', 'x + d'))}, d + 1)" for _ in range(2)]
    test = draw.choice(("x > t", "k % 2", "len(a) > d", "w[d] > x"))
    body = ["nonlocal t, k", f"if d > {draw.randint(1, 3)} or x < -2 or len(a) + len(b) > 25:", "    return x"]
    body = [*body[:1], *lines(1), *body[1:], *lines(2), draw.choice(("", "x = ", "t = t + ", "t += ")) + again[0]]
    body += draw.choice(([], [f"if {test}:", f"    {again[1]}"], [f"if {test}:", f"    return {again[1]}"]))
    return ["def go(x, d):", *("    " + line for line in [*body, *lines(1), "return t"])]


def generate(draw: random.Random) -> Program:
    """A program of the lists a and b, the stack s, and p or h, over the arrays v and w, and its arguments."""
    kind = draw.choice([name for name, often in OFTEN.items() for _ in range(often)])
    more, more_blocks, results = KINDS.get(kind, ((), (), ()))
    if kind == "given":
        more = (*GIVEN, *(GIVEN_SELDOM if draw.random() < 0.5 else ()))
    simple, blocks = (*SIMPLE, *more, *more), (*BLOCKS, *more_blocks)
    key = draw.choice(KEYS)

    def filled(text: str) -> str:
        names = draw.sample(["a", "b"], 2) if draw.random() < 0.8 else ["a", "a"]
        found = text.format(a=names[0], b=names[1], n="{n}", m="{m}").format(
            n=draw.choice(NUMBERS).format(a=names[0], b=names[1]), m=draw.choice(NUMBERS).format(a=names[1], b=names[0])
        )
        return found.replace("KEY", key if draw.random() < 0.8 else draw.choice(KEYS))

    def block(depth: int) -> list[str]:
        lines = []
        for _ in range(draw.randint(1, 3)):
            if depth < 3 and draw.random() < (0.8 if depth == 0 else 0.35):
                head = filled(draw.choice(blocks))
                while head.startswith(("while a and len(a)", "while b and len(b)")):  # which may have no end
                    head = filled(draw.choice(blocks))
                inner = [filled(draw.choice(SIMPLE[:6]))] if head.startswith("while") else block(depth + 1)
                ends = [line for text in PROGRESS.get(head[:12], []) for line in text.split("\n")]
                lines += [head, *("    " + line for line in [*inner, *ends])]
            else:
                lines.append(filled(draw.choice(simple)))
        return lines

    begin = [f"a, b, s = {draw.choice(BEGIN)}, [], []" if draw.random() < 0.3 else f"a = {draw.choice(BEGIN)}"]
    if not begin[0].startswith("a, b"):
        begin += [f"b = {draw.choice(BEGIN)}", f"s = {draw.choice(('[]', '[1]', '[k]'))}"]
    if kind == "tuples":
        begin.append(f"p = {draw.choice(('[]', '[]', '[(1, v[0])]'))}")
    if kind == "arrays":
        begin.append(f"z, u = v * 2, {draw.choice(('w * 1', 'w', 'v - 1'))}")
        begin += [f"h = {draw.choice(('[]', '[]', '[w.copy()]', '[z]', '[v]'))}"]
    if kind == "tables":
        begin += ["row = [v[0], w[1]]", f"g = {draw.choice(TABLE_BEGIN)}"]
    if kind == "records":
        begin += ["r = dict(k=2, x=w[1])", f"d = {draw.choice(('[]', '[dict(k=0, x=v[0])]', '[dict(k=1, x=0.5)]'))}"]
    if kind == "texts":
        begin += ["u = 'lo'", f"c, e = {draw.choice(('{}', 'dict(lo=0.5)'))}, {draw.choice(('[]', '[u]'))}"]
    if kind == "maps":
        begin += ["z, q, o = v * 2, {}, []", f"m = {draw.choice(('{}', '{0: w * 2}', '{k: v + 1}'))}",
                  "y = np.argsort(v)[:4]", "@functools.cache", "def once(j):", "    return j * 0.5 + w[j % 7]"]
    if kind == "ragged":
        begin += ["z = v * 2", f"h = {draw.choice(('[]', '[w[1:3]]', '[v[v > 0]]', '[v, w[:2]]', '[np.zeros(0)]'))}"]
    if kind == "keyed":
        begin += ["u, e = 's1', []", f"c = {draw.choice(('{}', 'dict(s1=0.5)', '{u: w[0]}'))}"]
    if kind == "flat":
        begin += ["z = np.outer(v, w)", "u = z[1:]"]
    if kind == "called":
        begin.append("z = w * 2")
    if kind == "given":
        begin.append("row = [0.5, x]")
    if kind == "within":
        begin += search(draw, filled)
    result = filled(draw.choice(results)) if results and draw.random() < 0.7 else draw.choice(RESULTS).format()
    lines = ["x, t, k = v[0], w[0], 1", *begin, *block(0), f"return {result}"]
    head = "import bisect\nimport contextlib\nimport functools\n" + HEADER
    table = ", g" if kind == "given" else ""
    program = f"def program(v, w, n{table}):\n    " + "\n    ".join(lines)
    own = [halves(draw)] if kind == "called" else [SORTED] if kind == "within" else []
    text = [head, "TOLERANCE = 1e-09", "DONATED = ()", HELPER, CONTEXT, *own, program]
    for name, seed in (("arguments", 0), ("arguments_again", 5)):
        made = ", ".join(f'array("float64", ({SMALL},), {seed + k}, "C")' for k in range(2))
        rows = f', array("float64", (4, 3), {seed + 7}, "C").tolist()' if table else ""
        text.append(f"def {name}():\n    return {made}, {4 + seed}{rows}")
    return Program("\n\n\n".join(text) + "\n" + FOOTER)
