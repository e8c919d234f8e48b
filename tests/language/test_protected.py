"""`try`, `with` and `match`: what tracing foresees goes on in the handler, what cannot be caught is refused, and
nothing is answered wrongly (rules F1, F3, X1). What is raised at run time: test_caught."""

from __future__ import annotations

import contextlib
import re
import textwrap
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf import bufferize

A = np.arange(6.0) + 1


def sections(text: str) -> dict[str, str]:
    """Programs by the names that stand above them."""
    parts = re.split(r"^# (.*)\n", textwrap.dedent(text).strip(), flags=re.M)[1:]
    return dict(zip(parts[::2], (body.strip() for body in parts[1::2])))


NAMES = {"contextlib": contextlib, "warnings": warnings, "NAME": "abc"}

TRIED = sections(
    """
    # nothing raised
    try:
        b = a * 2
    except ValueError:
        b = a
    return b
    # finally
    try:
        b = a * 2
    finally:
        b = a + 1
    return b
    # an import
    try:
        import math
    except ImportError:
        math = None
    return a * math.pi
    # a missing import
    try:
        from math import nothing
    except ImportError:
        nothing = 3
    return a * nothing
    # a missing module
    try:
        import no_such_module as m
    except ImportError:
        m = None
    return a if m is None else m
    # shapes
    try:
        return a + np.zeros(4)
    except ValueError as e:
        return a * 2
    # size by a guard
    try:
        x = a[n * 10]
    except IndexError:
        x = 0.0
    return x
    # one of several
    try:
        k = (1, 2)[5]
    except KeyError:
        k = 1
    except (IndexError, TypeError):
        k = 7
    return a * k
    # the inner one
    try:
        try:
            a + np.zeros(4)
        except TypeError:
            return 1
    except ValueError:
        return 2
    # none
    try:
        a + np.zeros(4)
    except TypeError:
        return 1
    # none, in a branch
    if a[0] > n:
        try:
            a + np.zeros(4)
        except TypeError:
            return 1.0
    return 2.0
    # effects stay
    try:
        a[0] = 9
        a.nothing
        a[1] = 8
    except AttributeError:
        a[2] = 7
    else:
        a[3] = 6
    finally:
        a[4] = 5
    return a
    # else
    try:
        a[0] = 9
    except AttributeError:
        a[2] = 7
    else:
        a[3] = 6
    finally:
        a[4] = 5
    return a
    # raised again
    try:
        raise ValueError('x')
    except ValueError:
        raise
    # another one
    try:
        raise ValueError('x')
    except ValueError as e:
        raise TypeError('y') from e
    # from None
    if a[0] > 0:
        raise ValueError(f'bad {n}') from None
    return a
    # by a guard
    try:
        if n > 3:
            raise ValueError('x')
        return 1
    except ValueError:
        return 2
    # a division
    try:
        x = n / 0
    except ZeroDivisionError:
        x = 0.0
    return x
    # its text
    try:
        raise ValueError('mode')
    except ValueError as e:
        return a if str(e) == 'mode' else -a
    # the name is gone
    e = 1
    try:
        raise ValueError('mode')
    except ValueError as e:
        pass
    return e
    # in a function
    def g(x):
        for k in (1, 2):
            if k == 2:
                raise KeyError('k')
    try:
        return g(a)
    except LookupError:
        return a * 2
    # in a comprehension
    try:
        b = [x.nothing for x in (a, n)]
    except AttributeError:
        b = [y * 2 for y in (a, n)]
    return b
    # finally in a loop
    s = 0.0
    for x in a:
        try:
            s += x
            if x > n:
                continue
            s *= 2
        finally:
            s += 1
    return s
    # return through finally
    for i in range(len(a)):
        try:
            if a[i] > n:
                return i
        finally:
            a[i] = 0
    return -1
    # break through finally
    while True:
        try:
            a[0] += 1
            if a[0] > 10:
                break
        finally:
            a[1] += 1
    return a
    # finally of what raises
    try:
        try:
            a + np.zeros(4)
        finally:
            a[0] = 5
    except ValueError:
        a[1] = 6
    return a
    # an exception in the place of another
    x = a[int(a[0])]
    try:
        try:
            raise KeyError('x')
        finally:
            a[0] = 5
            a + np.zeros(4)
    except ValueError:
        return a
    # one that nobody takes
    x = a[int(a[0])]
    try:
        a + np.zeros(4)
    except KeyError:
        return x
    finally:
        a.nothing
    # a handler that raises
    try:
        try:
            a + np.zeros(4)
        except ValueError:
            a[0] = 3
            raise KeyError('x')
        finally:
            a[1] = 4
    except KeyError:
        a[2] = 5
    return a
    # return out of suppress
    with contextlib.suppress(ValueError):
        if n > 3:
            return a
        a + np.zeros(4)
    return -a
    # names from before
    b = a
    try:
        b = a * 2
        b.nothing
    except AttributeError:
        pass
    return b
    # other checks
    try:
        x = a[int(a[0])]
    except KeyError:
        x = 0.0
    return x
    # suppress
    with contextlib.suppress(ValueError, TypeError):
        a[0] = 7
        a + np.zeros(4)
        a[0] = 8
    return a
    # contexts
    with contextlib.nullcontext(), warnings.catch_warnings(), contextlib.nullcontext(n) as k:
        return a + k
    # errstate
    with np.errstate(all='warn', divide='ignore'):
        return a / 0
    # global
    global NAME
    return a if NAME == 'abc' else -a
    # nonlocal
    def g(x):
        nonlocal n
        return x * n
    return g(a)
    """
)


def made(body: str) -> Callable[..., Any]:
    return program("def f(a, n):\n    " + body.replace("\n", "\n    "), **NAMES)


@pytest.mark.parametrize("name", one_in(8, TRIED))
def test_what_is_foreseen(name: str) -> None:
    f = bufferize(verify=True)(made(TRIED[name]))
    for n in (3, 0, 5):
        agree(f, A, n)


REFUSED = sections(
    """
    # a file: `with`
    with open('x') as g:
        return a
    # a lock: `with`
    with NAME:
        return a
    # errstate: floating-point
    with np.errstate(divide='raise'):
        return a / 0
    # finally: finally
    try:
        return a
    finally:
        return n
    # finally that may raise: run time
    k, m = int(a[0]), int(a[1])
    try:
        x = a[k]
    finally:
        x = a[m]
    return x
    # global: `global`
    global COUNT
    (COUNT := 1)
    return a
    # nonlocal: `nonlocal`
    def g():
        nonlocal n
        (n := 1)
    g()
    return a * n
    """
)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_foreseen_is_refused(name: str) -> None:
    assert name.partition(": ")[2] in refused(made(REFUSED[name]), A, 3).reason


MATCHED = sections(
    """
    # text
    match NAME:
        case 'abc':
            return a
        case _:
            return a + 1
    # shape
    match a.shape:
        case (k,):
            return a * k
        case (k, m):
            return a + 1
    # or
    match a.ndim:
        case 1 | 2:
            return a * 2
        case _:
            raise ValueError('no')
    # a number
    match n:
        case 3:
            return a * 2
        case -1 | 0:
            return a
    # a guard
    match n:
        case 1:
            b = a
        case k if k > 3:
            b = a * k
        case k:
            b = a - k
    return b, k
    # data
    s = 0.0
    for x in a:
        match int(x) % n:
            case 0:
                s += x
            case 1 | 2 as k:
                s += k * 10
            case _:
                continue
    return s
    # a singleton
    match a[0] > n, None:
        case (True, None):
            return 1
        case (x, None):
            return x
    # a sequence
    match (a, n, 'mode'):
        case [x, *rest, 'other']:
            return x
        case (x, y, str(m)) if m == 'mode':
            return x * y
    # no sequence
    match a:
        case [x, *_]:
            return x
        case np.ndarray(ndim=1, shape=(k,)):
            return k * a
    # the rest
    match (1, 2, 3, 4):
        case (x, *y, z):
            return a * x + sum(y) + z, y
    # builtins
    match n:
        case float(k):
            return a - k
        case int(k):
            return a + k
    # a class
    match a[0]:
        case int():
            return 1
        case np.float64():
            return 2
    # nothing
    match n:
        case 7:
            return a
    # in a match
    match n:
        case int():
            match a.ndim:
                case 1:
                    return a
        case _:
            return n
    """
)


@pytest.mark.parametrize("name", one_in(8, MATCHED))
def test_match(name: str) -> None:
    f = bufferize(verify=True)(made(MATCHED[name]))
    for n in (3, 1, 5):
        agree(f, A, n)


def test_exceptions_keep_nothing_alive() -> None:
    import gc
    import weakref

    f = bufferize(made("try:\n    return a + np.zeros(4)\nexcept ValueError:\n    return a * 2"))
    gc.disable()
    try:
        a = np.arange(6.0)
        f(a, 3)
        gone = weakref.ref(a)
        del a
        assert gone() is None
    finally:
        gc.enable()


def test_f3_a_context_that_cannot_be_made_raises() -> None:
    for call in ("np.errstate(foo=1)", "np.errstate(divide='sometimes')", "np.printoptions(places=2)"):
        f = program(f"def f(a):\n    with {call}:\n        return a")
        assert isinstance(agree(f, np.ones(3)), (TypeError, ValueError))


def stored_at_the_end(a, b, i):
    try:
        found = a[i] * 2
    finally:
        b[:] = a + 1
    return found


def bound_at_the_end(a, p, i):
    try:
        found = a[i] * 2
    finally:
        p.left = i
    return found


@pytest.mark.parametrize("f", [stored_at_the_end, bound_at_the_end])
def test_finally_stores_where_an_exception_leaves_the_function(f: Any) -> None:
    """Only calls in it were taken to have effects, and so stores were skipped."""
    for i in (1, 7):
        mine, its = (SimpleNamespace(left=0) if f is bound_at_the_end else np.zeros(3) for _ in range(2))
        outcomes = []
        for g, x in ((bufferize(f), mine), (f, its)):
            try:
                outcomes.append(g(np.arange(3.0), x, i))
            except IndexError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        np.testing.assert_array_equal(*(getattr(x, "left", x) for x in (mine, its)))
