"""Code that talks: what a function prints, warns of, logs and asserts is eager's, in order, with the values of then."""

from __future__ import annotations

import io
import logging
import math
import sys
import time
import warnings
from collections import namedtuple
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import program, refused
from tests.support.params import one_in
from tracebuf import TracebufError, bufferize
from tracebuf.frontends.numpy.call import progress
from tracebuf.testing.ladder import climb

Named = namedtuple("Named", "one two")


class Solver:
    def __init__(self) -> None:
        self.logger, self.verbose, self.n = LOGGER, True, 3


LOGGER = logging.getLogger("tests.talk")
MODULES = {"warnings": warnings, "logging": logging, "sys": sys, "time": time}
NAMES = {**MODULES, "Named": Named, "log": LOGGER, "math": math, "s": Solver()}


class Listener(logging.Handler):
    """Keeps what is logged, as text."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []

    def emit(self, record: logging.LogRecord) -> None:
        place = record.filename, record.lineno, record.funcName
        self.heard.append((record.name, record.levelname, record.getMessage(), *place))


def heard(f: Callable[..., Any], *args: Any) -> list[Any]:
    """What a call says, and how it ends."""
    out, listener, ended = io.StringIO(), Listener(), ""
    LOGGER.addHandler(listener)
    args, before = tuple(x.copy() if isinstance(x, np.ndarray) else x for x in args), np.geterr()
    try:
        with redirect_stdout(out), redirect_stderr(out), warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            try:
                ended = repr(f(*args))
            except TracebufError:
                raise
            except Exception as error:
                ended = f"{type(error).__name__} {error.args}"
    finally:
        LOGGER.removeHandler(listener)
        settings = np.seterr(**before)
    warned = [(str(w.message), w.category, w.filename, w.lineno) for w in found]
    return [out.getvalue(), warned, listener.heard, ended, args, settings]


def same_talk(body: str, *args: Any, parameters: str = "a, n", **names: Any) -> None:
    """Holds what a function says against what eager says, in the first call and in a later one."""
    text = f"def f({parameters}):\n" + "\n".join("    " + line for line in body.split("\n"))
    f = program(text, **NAMES, **names)
    want = repr(heard(f, *args))
    g = bufferize(f)
    for _ in range(2):
        assert repr(heard(g, *args)) == want


SHOWN = {
    "numbers and arrays": "print('sum', a.sum(), a, n, a[0], n > 2, 1j * a[0], sep=' | ')",
    "formats": "print(f'{a[0]:8.3f}|{n:>4}|{a.mean()!r}|{a}|{a!r}|{n=}')\n"
    "print('%5.2f %s %r' % (a[1], a, n), '{:e}'.format(a[1]))",
    "containers": "print([a[0], n], (a,), {'k': a[1], 'n': n}, Named(n, a[0]), a.shape, a.dtype)",
    "other dtypes": "b = a.astype(np.float32)\nprint(b, b[1] / 3, [b[1] / 3], a > 1, a.astype(np.int8)[1:], a * 1j)",
    "views and numbers of rank 0": "b = np.array(a[0])\nprint(a[::-1], a[:, None], b, f'{b:.2f}')",
    "text as it was": "s = f'{a} {a[0]}'\na *= 2\na[0] = 7\nprint(s, a, end='!')\nreturn a",
    "text of text": "s = f'{n}'\nprint(f'{s:>6}|', '%6s|' % s, [s], s + '!', str(s))",
    "loops": "for k in range(n):\n    a[k] += k\n    if a[k] > 2:\n        print('at', k, f'{a[k]:.1f}', a)\nreturn a",
    "a while": "k = 0\nwhile a.sum() > 1:\n    a /= 2\n    k += 1\n    print(k, a)\nreturn k",
    "text by path": "s = 'none'\nif a[0] > 0:\n    s = f'big {a[0]}'\nelif a[1] > 0:\n    s = f'next {a}'\n"
    "a += 1\nprint(s, s if a[2] > 0 else a)\nreturn a",
    "text of what differs by path": "print(f'{a if a[1] > 0 else None} {n if a[0] > 0 else a[0]}')\n"
    "print('%s %s' % (n, [a[0] if a[1] > 0 else 'x']))",
    "None by path": "x = None\nif a[1] > 0:\n    x = a + 1\nprint(x)",
    "in functions": "def g(x):\n    print('in', x)\n    return x + 1\nprint(g(a), [g(k) for k in (n, n + 1)])",
    "streams": "sys.stdout.write(f'{a.sum()}\\n')\nprint('e', a, file=sys.stderr, flush=True)\nsys.stdout.flush()",
    "log": "log.warning('x %s %d %.2f', a, n, a[1])\nlog.error(f'{a}')\na += 1\nlog.critical('c')\nreturn a",
    "levels": "log.debug('no %s', a)\nlogging.getLogger('tests.talk').log(40, 'y')\n"
    "if log.isEnabledFor(30):\n    print('enabled')\nif log.isEnabledFor(logging.DEBUG):\n    print('debug')",
    "warn": "warnings.warn('w')\nwarnings.warn(f'{a}', RuntimeWarning)\n"
    "for k in range(n):\n    warnings.warn(f'k {k}')",
    "levels of warn": "def g(x):\n    warnings.warn(f'{x}', stacklevel=2)\n    warnings.warn('above', stacklevel=3)\n"
    "g(n)\nwarnings.warn('caller', DeprecationWarning, stacklevel=2)",
    "assertions": "np.testing.assert_allclose(a, a + 1e-9, atol=1e-6)\nnp.testing.assert_equal(a.shape, (n,))\n"
    "print('ok')\n"
    "np.testing.assert_array_equal(a, a[::-1], err_msg=f'{n}')",
    "clocks": "t, s = time.perf_counter(), time.time_ns()\ntime.sleep(0.002)\n"
    "print(time.perf_counter() - t > 0.001, time.time_ns() - s > 10**6, type(time.time()) is float)",
    "joined": "print(', '.join(f'{v:.2f}' for v in a[:2]), ' '.join(map(str, (n, a[0]))))\nrows = []\n"
    "for k in range(2):\n    rows.append(f'{k} {a[k]}')\nprint('\\n'.join(rows), '-' * n, '=' * 5)",
    "methods of text": "print(f'{n}'.ljust(5) + '|', str(n).rjust(4), f' {n} '.strip())\n"
    "print(f'x{n}'.upper(), f'{n}'.zfill(3), f'{a}'.replace(' ', '_'))",
    "options": "s = f'{a / 3}'\nwith np.printoptions(precision=2):\n    t = f'{a / 3}'\n    print(a / 3, [a / 3], s)\n"
    "print(s, t, np.array2string(a / 3, precision=4), np.array_repr(a), np.array_str(a))",
    "an object": "if s.verbose:\n    print('step', s.n, a.sum())\ns.logger.warning('w %s', a)\nreturn a * s.n",
    "a message": "if a[1] > 0:\n    raise ValueError('bad ' + str(a) + ', '.join([str(n)]))\nreturn a",
    "then an error": "print('before')\nif a[1] > 0:\n    raise ValueError(f'bad {a}', a, n)\nprint('after')",
    "then an index error": "print('before', a)\nprint(a[n + 5])",
    "an assertion": "print(1)\nassert a[0] > 100, f'{a} is small'",
    "warnings that are made": "warnings.warn(UserWarning(f'big {a[0]}'))\ne = RuntimeWarning(f'{n}', a[1])\n"
    "warnings.warn(e, UserWarning)\nfor x in [UserWarning(f'{x:.1f}') for x in a]:\n    warnings.warn(x)",
    "an exception that is made": "e = ValueError(f'v {a[0]}', a[1])\nprint(e, repr(e), e.args[1])\n"
    "print(isinstance(e, OSError), type(e) is ValueError)\nif a[0] > 2:\n    raise e",
    "a text of a library's": "from scipy.optimize import minimize\nr = minimize(lambda x: (x[0] - 9) ** 2, a[:1])\n"
    "warnings.warn(r.message)\nlog.error(r.message)\nsys.stdout.write(r.message)",
    "a bad category": "warnings.warn('x', int)",
    "a bad format": "print(f'{a[0]:zz}')",
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(8, SHOWN))
def test_what_is_said(name: str) -> None:
    for start in (0.0, 3.0):
        same_talk(SHOWN[name], np.arange(3.0) + start, 3)


UNLIKE = ("clocks", "a bad category", "an object")
"""What each rung does at another time, or not at all."""


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(8, (name for name in SHOWN if name not in UNLIKE)))
def test_each_rung_says_the_same(name: str) -> None:
    body = SHOWN[name] + ("" if "return" in SHOWN[name] else "\nreturn a + 1")
    f = program("def f(a, n):\n" + "\n".join("    " + line for line in body.split("\n")), **NAMES)
    text = heard(f, np.arange(3.0), 3)[0]
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        climb(f, (np.arange(3.0), 3))
    said = out.getvalue()
    assert said == text * (len(said) // max(len(text), 1))


def test_a_warning_obeys_filters_when_the_program_runs() -> None:
    f = program("def f(a, n):\n    for k in range(n):\n        warnings.warn('w')\n    return a + 1", **NAMES)
    g = bufferize(f)
    for action, count in (("ignore", 0), ("once", 1), ("default", 1), ("always", 3), ("error", None)):
        for h in (f, g, g):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter(action)  # type: ignore[arg-type]
                if count is None:
                    with pytest.raises(UserWarning, match="w"):
                        h(np.arange(3.0), 3)
                    continue
                h(np.arange(3.0), 3)
            assert len(found) == count


def test_what_is_shown_is_not_copied_and_stops_no_fusion() -> None:
    body = "b = a * 2 + 1\n    print('x', a[0])\n    c = np.sin(b) + b\n    print(c)\n    c += 1\n    return c"
    f = program("def f(a):\n    " + body)
    explained = str(bufferize(f).explain(np.arange(3.0)))
    assert "1 allocation, no copies, 2 host calls" in explained


def test_what_is_refused() -> None:
    for body in ("return {f'{a}': 1}", "return f'{a[0]}'.split('.')", "log.error('x', exc_info=True)",
                 "print({a[0], a[1]})"):  # fmt: skip
        refused(bufferize(program(f"def f(a):\n    {body}", **NAMES)), np.arange(3.0))


FILTERS = {
    "ignored": "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    warnings.warn('no')\n"
    "    a += 1\nwarnings.warn('yes')\nreturn a",
    "by category": "with warnings.catch_warnings():\n    warnings.simplefilter('ignore', DeprecationWarning)\n"
    "    for k in range(n):\n        warnings.warn('no', DeprecationWarning)\n        warnings.warn('yes')",
    "by text": "with warnings.catch_warnings():\n    warnings.filterwarnings('ignore', message='n')\n"
    "    warnings.warn('no')\n    warnings.warn('yes')",
    "nested": "with warnings.catch_warnings(action='ignore'):\n    with warnings.catch_warnings():\n"
    "        warnings.simplefilter('always', UserWarning)\n        warnings.warn('yes')\n    warnings.warn('no')",
    "an error": "with warnings.catch_warnings():\n    warnings.simplefilter('error', UserWarning)\n"
    "    print('before')\n    if a[1] > 0:\n        warnings.warn('raised')\nreturn a",
    "of a function": "def g(x):\n    warnings.simplefilter('ignore')\n    warnings.warn('no')\n    return x\n"
    "with warnings.catch_warnings():\n    g(a)\nwarnings.warn('yes')",
    "for good": "warnings.simplefilter('ignore')\nwarnings.warn('no')",
    "of NumPy's function": "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n"
    "    b = np.median(a[:0])\nreturn b",
    "seterr": "old = np.seterr(all='ignore', over='warn')\n"
    "b = a / a\nprint(np.float64(1) / 2)\nnp.seterr(**old)\nreturn b",
    "geterr": "old = np.geterr()\nnp.seterr(all='ignore')\nb = a / a\nnp.seterr(**old)\nreturn b, math.fsum(b[1:])",
    "fsum": "print(math.fsum(a), math.fsum([a[0], 1e100, n, -1e100]), math.fsum(a[::2] + n))\nreturn math.fsum(a[1:])",
    "seterr for good": "np.seterr(divide='ignore')\nreturn a",
    "errstate": "with np.errstate(all='ignore'):\n    b = a / a\n    print(b)\nreturn b",
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(4, FILTERS))
def test_filters_of_warnings(name: str) -> None:
    same_talk(FILTERS[name], np.arange(3.0), 3)


def test_filters_that_are_refused() -> None:
    text = "def f(a):\n    with warnings.catch_warnings(record=True):\n        return a + 1"
    refused(bufferize(program(text, **NAMES)), np.ones(3))
    for body in ("warnings.simplefilter('error')", "warnings.simplefilter('once')",
                 "if a[0] > 0:\n            warnings.simplefilter('ignore')"):  # fmt: skip
        text = f"def f(a):\n    with warnings.catch_warnings():\n        {body}\n        return 1 / a"
        refused(bufferize(program(text, **NAMES)), np.ones(3))


BARS = {
    "a range": "for k in tqdm(range(n), desc='go', file=sys.stdout):\n    a[k] += k\n    print(k)\nreturn a",
    "with break and else": "for k in tqdm(range(n), file=sys.stdout):\n    if a[k] > {0}:\n        break\n"
    "else:\n    print('all')\nprint(k)\nreturn a",
    "with return": "for k in tqdm(range(n), file=sys.stdout):\n    if a[k] > {0}:\n        return k\n"
    "    a[k] = 7\nreturn a",
    "an array": "for x in tqdm(a, leave=False, file=sys.stdout):\n    a += x\nreturn a",
    "a tuple": "for x in tqdm((a, a + 1), file=sys.stdout):\n    print(x)",
    "nothing": "for x in tqdm(a[:0], file=sys.stdout):\n    a += x\nreturn a",
    "told": "bar = tqdm(range(n), file=sys.stdout)\nfor k in bar:\n    bar.set_postfix(x=a[k], k=k)\n"
    "    bar.set_description(f'at {a[k]:.2f}')\nreturn a",
    "enumerated": "for k, x in enumerate(tqdm(a, file=sys.stdout)):\n    a[k] = x * k\n    print(k)\nreturn a",
    "around enumerate": "for k, x in tqdm(enumerate(a), file=sys.stdout):\n    a[k] = x * k\nreturn a",
    "around zip": "for x, y in tqdm(zip(a, a[::-1]), file=sys.stdout):\n    print(x * y)",
    "a comprehension": "return [x * 2 for x in tqdm(a, file=sys.stdout)], list(tqdm(range(n), file=sys.stdout))",
    "with a total": "with tqdm(total=len(a), file=sys.stdout) as bar:\n    for x in a:\n        bar.update(1)\n"
    "        bar.set_postfix(x=x)\nprint('after')\nreturn a",
    "with an error": "with tqdm(total=3, file=sys.stdout) as bar:\n    bar.update(2)\n    return a[int(a[0]) + 9]",
    "with an error that is caught": "try:\n    with tqdm(total=3, file=sys.stdout) as bar:\n        bar.update(2)\n"
    "        x = a[int(a[0]) + 9]\nexcept IndexError:\n    print('caught')\nreturn a",
    "with return out of it": "with tqdm(total=n, file=sys.stdout) as bar:\n    for x in a:\n        bar.update()\n"
    "        if x > {0}:\n            return x\nreturn a",
    "with a loop over it": "with tqdm(a, file=sys.stdout) as bar:\n    for x in bar:\n"
    "        bar.set_description(f'{x}')",
    "by hand": "bar = tqdm(total=2 * n, desc='by hand', file=sys.stdout)\nwhile a[0] < 3:\n    a += 1\n"
    "    bar.update(2)\nbar.close()\nprint('closed')\nreturn a",
    "nested": "for j in tqdm(range(2), file=sys.stdout):\n    for k in tqdm(range(n), leave=False, file=sys.stdout):\n"
    "        a[k] += j\nreturn a",
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(4, BARS))
def test_progress_bars(name: str) -> None:
    tqdm = pytest.importorskip("tqdm")

    class Bar(tqdm.tqdm):
        """One that shows each item, and no time."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, mininterval=0, miniters=1, bar_format="{desc}|{n}/{total}{postfix}", **kwargs)

    for least in ("0.5", "99"):
        body = BARS[name].replace("{0}", least)
        same_talk(body, np.arange(3.0), 3, tqdm=Bar)
    same_talk("for k in tqdm.trange(n, disable=True):\n    a += k\nreturn a", np.arange(3.0), 3, tqdm=tqdm)
    assert not progress._bars


def test_progress_bars_are_closed_where_the_loop_raises() -> None:
    """They stayed open, and in memory."""
    tqdm = pytest.importorskip("tqdm")
    closed: list[int] = []

    class Bar(tqdm.tqdm):
        def __init__(self, over: Any) -> None:
            super().__init__(over, file=io.StringIO())

        def close(self) -> None:
            closed.append(self.n)
            super().close()

    f = bufferize(program("""
        def f(a, least):
            total = 0.0
            for j in Bar(range(2)):
                for k in Bar(range(len(a))):
                    if a[k] > least:
                        raise ValueError("too large")
                    total += a[k]
            return total
    """, Bar=Bar))
    for n in range(400):
        with pytest.raises(ValueError):
            f(np.arange(5.0), 2.5)
        assert not progress._bars and not progress._begun.numbers and len(closed) >= 2 * (n + 1)
    assert f(np.arange(5.0), 9.0) == 20 and not progress._bars
