"""`try` around what raises at run time: the handler that eager takes, with the effects before it (rules F1, F3)."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
import pytest

from tests.language.test_protected import A, sections
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf import bufferize


def check_positive(x: Any) -> Any:
    if x < 0:
        raise ValueError("negative")
    return math.sqrt(x)


def deep(x: Any, k: int) -> Any:
    s = 0.0
    for i in range(k):
        s += check_positive(x[i])
    return s


def safe(x: Any) -> Any:
    try:
        return check_positive(x)
    except ValueError:
        return -1.0


class MyError(ValueError):
    pass


def mine(x: Any) -> Any:
    if x > 2:
        raise MyError("mine", 3)
    if x < -2:
        raise KeyError("key")
    return x * 2


NAMES = {
    f.__name__: f for f in (check_positive, deep, safe, MyError, mine, contextlib, math)
}

# The user's own exceptions, in functions, branches and loops.
RAISED = sections(
    """
    # in a loop
    for x in a:
        try:
            n = n // int(x)
        except ArithmeticError:
            pass
    return n
    # function
    try:
        r = check_positive(a[0])
    except ValueError:
        r = -1.0
    return r
    # function in expression
    try:
        a[1] = check_positive(a[0]) + check_positive(a[2] - n)
        a[3] = 4
    except ValueError:
        a[4] = 5
    return a
    # deep
    try:
        r = deep(a, 4)
    except ValueError:
        r = -1.0
    return r
    # deep dynamic
    try:
        r = deep(a, n)
    except ValueError:
        r = -1.0
    return r
    # safe in loop
    s = 0.0
    for x in a:
        s += safe(x)
    return s
    # effects
    try:
        a[0] = 9
        if a[1] > n:
            a[2] = 8
            raise ValueError("x")
        a[3] = 7
    except ValueError:
        a[4] = 6
    return a
    # names
    b = 1
    try:
        b = 2
        if a[1] > n:
            b = 3
            raise ValueError("x")
        b = 4
    except ValueError:
        c = b
    else:
        c = b + 10
    return b, c
    # finally
    try:
        if a[1] > n:
            raise ValueError("x")
        a[0] = 4
    except ValueError:
        a[1] = 7
    finally:
        a[2] = 8
    return a
    # finally outer
    try:
        try:
            if a[1] > n:
                raise ValueError("x")
            a[0] = 4
        finally:
            a[2] = 8
    except ValueError:
        a[1] = a[2] + 7
    return a
    # nested
    try:
        try:
            y = mine(a[0] - n)
        except MyError:
            y = 100.0
    except KeyError:
        y = 200.0
    return y
    # tuple
    try:
        y = mine(a[0] - n)
    except (MyError, KeyError):
        y = 100.0
    return y
    # two handlers
    try:
        y = mine(a[0] - n)
        y = a[int(y)]
    except ValueError:
        y = 100.0
    except (KeyError, IndexError):
        y = 200.0
    except OverflowError:
        y = 300.0
    return y
    # not caught
    try:
        y = mine(a[0] - n)
    except KeyError:
        y = 200.0
    return y
    # reraise
    try:
        y = mine(a[0] - n)
    except ValueError:
        a[1] = 5
        raise
    return y
    # reraise inner
    try:
        try:
            y = mine(a[0] - n)
        except ValueError:
            a[1] = 5
            raise
    except MyError:
        y = a[1]
    except KeyError:
        y = 7.0
    return y
    # raise from
    try:
        try:
            y = mine(a[0] - n)
        except ValueError as e:
            raise RuntimeError("other") from e
    except RuntimeError:
        y = a[1]
    except KeyError:
        y = 7.0
    return y
    # text
    try:
        y = mine(a[0] - n)
    except MyError as e:
        return str(e), e.args
    except KeyError as e:
        return str(e), 1
    return y
    # return in try
    try:
        if a[0] > n: return 1.0
        y = check_positive(a[1] - n)
        return y
    except ValueError:
        return 2.0
    # return in try 2
    for x in a:
        try:
            return check_positive(x - n)
        except ValueError:
            continue
    return None
    # break continue
    s = 0.0
    for x in a:
        try:
            if x > 4: break
            s += check_positive(x - n)
        except ValueError:
            s += 100
            if s > 250: break
            continue
        s += 1
    return s
    # loop inside
    s = 0.0
    try:
        for x in a:
            s += check_positive(x - n)
            a[0] += 1
    except ValueError:
        s += 1000
    return s, a
    # loop inside break else
    s = 0.0
    try:
        for i, x in enumerate(a):
            s += check_positive(x - n)
            if s > 4:
                break
        else:
            s += 0.5
    except ValueError:
        s += 1000
        s += i
    return s
    # while inside
    s = 0.0
    i = 0
    try:
        while a[i] > 0:
            s += a[i]
            i += 1
    except IndexError:
        s += 1000
    return s, i
    # nested loops
    s = 0.0
    try:
        for i in range(3):
            for j in range(i + 1):
                s += check_positive(a[i] - n + j)
    except ValueError:
        s = s + 100 * i
    return s
    # nested loops data
    s = 0.0
    try:
        for x in a:
            for y in a:
                s += check_positive(x - n + y)
    except ValueError:
        s = s + 100
    return s
    # arrays bound
    try:
        b = a * 2
        if b[0] > n:
            raise ValueError
        b = b + 1
    except ValueError:
        b = b - 1
    return b
    # arrays of other shapes
    try:
        b = a[1:]
        if b[0] > n:
            raise ValueError
        b = b + 1
    except ValueError:
        b = np.zeros(3)
    return b
    # new array
    try:
        if a[0] > n:
            raise ValueError
        b = a * 3
    except ValueError:
        b = None
    return b
    # list
    out = [0.0, 1.0]
    try:
        out[0] = a[0]
        out[1] = check_positive(a[0] - n)
    except ValueError:
        out[0] += 100
    return out
    # dict
    d = {"k": 1.0}
    try:
        d["k"] = 2.0
        d["k"] = check_positive(a[0] - n)
    except ValueError:
        d["k"] += 100
    return d
    # growing
    out = []
    for x in a:
        try:
            out.append(check_positive(x - n))
        except ValueError:
            out.append(-1.0)
    return np.array(out)
    # growing skip
    out = []
    for x in a:
        try:
            y = check_positive(x - n)
        except ValueError:
            continue
        out.append(y)
    return np.array(out)
    # pop
    stack = []
    for x in a:
        if x > n:
            stack.append(x)
    try:
        y = stack.pop()
    except IndexError:
        y = -1.0
    return y
    # ints
    try:
        k = 10 // n
        k2 = 10 % (n - 3)
    except ZeroDivisionError:
        k = -1
    return k
    # floats
    try:
        y = 1.0 / float(a[0] - n)
    except ZeroDivisionError:
        y = float("inf")
    return y
    # int nan
    try:
        k = int(a[0])
    except ValueError:
        k = -1
    return k
    # suppress
    with contextlib.suppress(ValueError):
        a[0] = 3
        a[1] = check_positive(a[0] - n)
    return a
    # suppress index
    with contextlib.suppress(IndexError, KeyError):
        a[0] = 7
        a[n] = 8
        a[int(a[1])] = 9
    return a
    # comprehension
    try:
        b = [check_positive(x - n) for x in a]
    except ValueError:
        b = [0.0]
    return b[0]
    # ifexp
    try:
        y = check_positive(a[0] - n) if a[1] > 2 else check_positive(a[1] - 2)
    except ValueError:
        y = 5.0
    return y
    # boolop
    try:
        y = a[0] > 2 and check_positive(a[1] - n) > 1
    except ValueError:
        y = None
    return y
    # assert
    try:
        assert a[0] > n, "small"
        y = 1
    except AssertionError:
        y = 2
    return y
    # assert text
    try:
        assert a[0] > n, "small"
        y = "fine"
    except AssertionError as e:
        y = str(e)
    return y
    # message with numbers
    try:
        if a[0] > n:
            raise ValueError(f"too big: {a[0]}")
        y = 1
    except ValueError:
        y = 2
    return y
    # message passes on
    try:
        if a[0] > n:
            raise ValueError(f"too big: {a[0]}")
        y = 1
    except ValueError:
        a[0] = 1
        raise
    return y
    # message passes on in loop
    s = 0.0
    try:
        for x in a:
            if x > n:
                raise ValueError(f"too big: {x}")
            s += x
    except ValueError:
        a[0] = 1
        raise
    return s
    # bare
    try:
        y = mine(a[0] - n)
    except:
        y = 0.0
    return y
    # exception
    try:
        y = mine(a[0] - n)
    except Exception:
        y = 0.0
    return y
    # in handler
    try:
        y = mine(a[0] - n)
    except ValueError:
        try:
            y = check_positive(a[1] - 3)
        except ValueError:
            y = 11.0
    except KeyError:
        y = 12.0
    return y
    # surely
    try:
        if a[0] > n:
            raise ValueError("x")
        else:
            raise KeyError("y")
    except ValueError:
        y = 1
    except KeyError:
        y = 2
    return y
    # all handlers return
    try:
        y = mine(a[0] - n)
    except ValueError:
        return 1.0
    except KeyError:
        return 2.0
    a[1] = 3
    return y + a[1]
    # retry loop
    for k in range(5):
        try:
            y = check_positive(a[k] - n)
            break
        except ValueError:
            a[k] = 0
    else:
        y = -5.0
    return y, a
    # while true retry
    k = 0
    while True:
        try:
            y = check_positive(a[k] - n)
            break
        except ValueError:
            k += 1
            if k > 4:
                return -1
    return y, k
    # try else
    try:
        y = check_positive(a[0] - n)
    except ValueError:
        z = 1.0
    else:
        z = y * 2
    return z
    # use of unbound
    try:
        y = check_positive(a[0] - n)
        z = 2.0
    except ValueError:
        pass
    return z
    """
)

# Checks, and what handlers do.
CHECKED = sections(
    """
    # growing in try
    out = []
    try:
        for x in a:
            out.append(check_positive(x - n))
    except ValueError:
        out.append(-1.0)
    return np.array(out)
    # nested function
    def g(x):
        if x > n:
            raise ValueError("big")
        return x
    def h(x, y):
        return g(x) + g(y)
    try:
        return h(a[0], a[1])
    except ValueError:
        return h(0.0, 0.0)
    # uncaught inner try in loop
    s = 0.0
    try:
        for i in range(len(a)):
            try:
                s += mine(a[i] - n)
            except MyError:
                s += 100
    except KeyError:
        s -= 1000
    return s
    # finally in loop
    s = 0.0
    try:
        for i in range(len(a)):
            try:
                s += mine(a[i] - n)
            finally:
                s += 0.5
    except KeyError:
        s -= 1000
    except ValueError:
        s -= 2000
    return s
    # lambda
    g = lambda x: check_positive(x)
    try:
        y = g(a[0] - n)
    except ValueError:
        y = 4.0
    return y
    # sum of generator
    try:
        y = sum(check_positive(x - n) for x in a)
    except ValueError:
        y = 4.0
    return y
    # while with test that raises
    k = 0
    try:
        while check_positive(a[k] - n) < 2:
            k += 1
    except ValueError:
        k = 100
    except IndexError:
        k = 200
    return k
    # if test that raises
    try:
        if check_positive(a[0] - n) > 1:
            y = 1
        else:
            y = 2
    except ValueError:
        y = 3
    return y
    # store through index
    try:
        a[n] = 1
        a[int(a[0])] = 2
        a[int(a[1]) * 2] = 3
    except IndexError:
        a[0] = -1
    return a
    # two tries
    try:
        y = check_positive(a[0] - n)
    except ValueError:
        y = 0.5
    try:
        z = check_positive(a[1] - n) + y
    except ValueError:
        z = y
    return y, z
    # objects
    d = {"a": a, "k": 1}
    try:
        d["k"] = mine(a[0] - n)
        d["a"] = a[1:]
    except (KeyError, ValueError):
        d["a"] = a[2:]
    return d["k"], d["a"]
    # views
    v = a[1:4]
    try:
        v[0] = mine(a[0] - n)
        v = a[2:5]
        v[1] = mine(a[1] - n)
    except (KeyError, ValueError):
        v[2] = 50
    return v
    # alias
    b = a
    try:
        b = b * 2
        b[0] = mine(a[0] - n)
    except (KeyError, ValueError):
        b[1] = 50
    return b
    # carried array
    b = np.zeros(3)
    for x in a:
        try:
            c = b + mine(x - n)
            b = c * 2
        except KeyError:
            b = b + 1
        except ValueError:
            b = b - 1
    return b
    # reraise in loop
    s = 0.0
    for i in range(len(a)):
        try:
            s += mine(a[i] - n)
        except KeyError:
            if s > 0: raise
            s += 1
        except ValueError:
            s += 3
    return s
    # reraise caught outside
    s = 0.0
    try:
        for i in range(len(a)):
            try:
                s += mine(a[i] - n)
            except KeyError:
                if s > 0: raise
                s += 1
            except ValueError as e:
                s += 3
                raise ArithmeticError("s") from e
    except ArithmeticError:
        s += 1000
    except KeyError:
        s += 2000
    return s
    # text of several
    try:
        y = check_positive(a[0] - n)
        if a[1] > 4: raise ValueError("second")
        return "fine"
    except ValueError as e:
        return str(e)
    # text in f-string
    try:
        y = check_positive(a[0] - n)
    except ValueError as e:
        return f"error: {e}"
    return "fine"
    # args
    try:
        y = mine(a[0] - n)
    except MyError as e:
        return e.args[1]
    except KeyError as e:
        return e.args[0]
    return y
    # type of e
    try:
        y = mine(a[0] - n)
    except Exception as e:
        return type(e).__name__
    return "none"
    # isinstance e
    try:
        y = mine(a[0] - n)
    except Exception as e:
        if isinstance(e, KeyError):
            return 1
        return 2
    return 3
    # error flag
    ok = True
    try:
        y = mine(a[0] - n)
    except Exception:
        ok = False
        y = np.nan
    return ok, y
    # error list
    errors = []
    total = 0.0
    for i in range(len(a)):
        try:
            total += mine(a[i] - n)
        except ValueError:
            errors.append(i)
        except KeyError:
            errors.append(-i)
    return total, errors
    # float conversion
    try:
        y = math.log(a[0])
    except ValueError:
        y = -np.inf
    return y
    # overflow
    try:
        y = math.exp(a[0] * 1000)
    except OverflowError:
        y = np.inf
    return y
    # pow zero
    try:
        y = float(a[0]) ** (-n)
    except ZeroDivisionError:
        y = 1e9
    except OverflowError:
        y = 1e10
    return y
    # newton
    x = float(a[0])
    for k in range(20):
        try:
            x = x - (x * x - 2) / (2 * x)
        except ZeroDivisionError:
            x = 1.0
    return x
    # int parse
    k = 0
    for x in a:
        try:
            k += int(x)
        except (ValueError, OverflowError):
            k -= 1
    return k
    # index in loop
    hits = 0
    for i in range(len(a)):
        try:
            if a[i + n] > a[i]:
                hits += 1
        except IndexError:
            hits += 100
    return hits
    # index error ends loop
    i = 0
    s = 0.0
    try:
        while True:
            s += a[i]
            i += 1
    except IndexError:
        pass
    return s, i
    # list index
    xs = [1.0, 2.0, 3.0]
    try:
        y = xs[int(a[0])]
    except IndexError:
        y = -1.0
    except (ValueError, OverflowError):
        y = -2.0
    return y
    # dict key
    d = {1: 2.0, 2: 3.0}
    try:
        y = d[n]
    except KeyError:
        y = -1.0
    return y
    # unpack
    try:
        x, y, z = a
    except ValueError:
        x = y = z = 0.0
    return x + y + z
    # finally that may raise
    try:
        x = a[int(a[0])]
    finally:
        x = a[int(a[1])]
    return x
    # what surely raises, in a branch
    x = a[min(5, max(-5, int(a[0])))]
    if x > 0:
        try:
            y = 1 // int(a[0] - a[0])
        finally:
            a + np.zeros(4)
    return x
    # a loop without an end
    k = 0
    try:
        while True:
            k += 1
            if k > 5:
                break
    except IndexError:
        pass
    for i in range(k):
        a[0] += i
    return a
    # finally raises instead
    try:
        try:
            y = mine(a[0] - n)
        finally:
            y = check_positive(a[1] - n)
    except ValueError:
        y = 1
    except KeyError:
        y = 2
    return y
    """
)

# What NumPy's own functions raise, and indices in arrays.
CALLED = sections(
    """
    # fancy
    try:
        y = a[np.array([0, n * 2])]
    except IndexError:
        y = a[:2]
    return y
    # fancy data
    idx = np.abs(a[:2]).astype(int)
    try:
        y = a[idx]
    except IndexError:
        y = a[:2] * 10
    return y
    # fancy store
    idx = np.array([0, n * 2, 2])
    try:
        a[idx] = [7.0, 8.0, 9.0]
        a[1] = 4
    except IndexError:
        a[0] *= 10
    return a
    # add at
    idx = np.array([0, n * 2, 2])
    try:
        np.add.at(a, idx, 5.0)
        a[1] = 4
    except IndexError:
        a[0] *= 10
    return a
    # take
    idx = np.array([0, n * 2, 2])
    try:
        y = np.take(a, idx)
    except IndexError:
        y = a
    return y
    # inverse
    try:
        y = np.linalg.inv(a[:4].reshape(2, 2))
    except np.linalg.LinAlgError:
        y = np.eye(2)
    return y
    # inverse of ones
    m = np.ones((2, 2)) * n
    m[0, 0] += a[0]
    try:
        y = np.linalg.inv(m)
    except np.linalg.LinAlgError:
        y = np.linalg.pinv(m)
    return y
    # cholesky
    m = np.eye(3) * n
    m[0, 1] = m[1, 0] = a[0]
    k = 0
    while True:
        try:
            c = np.linalg.cholesky(m)
            break
        except np.linalg.LinAlgError:
            m = m + np.eye(3)
            k += 1
            if k > 10:
                return None
    return c, k
    # solve in loop
    out = np.zeros(3)
    for k in range(3):
        m = np.eye(2) * (k - 1)
        m[1, 1] = a[k]
        try:
            out[k] = np.linalg.solve(m, a[:2])[0]
        except np.linalg.LinAlgError:
            out[k] = -7
    return out
    # solve exception
    try:
        y = np.linalg.solve(np.ones((2, 2)) * a[0], a[:2])
    except Exception:
        y = np.zeros(2)
    return y
    # solve raise from
    try:
        y = np.linalg.solve(np.ones((2, 2)) * a[0], a[:2])
    except np.linalg.LinAlgError as e:
        raise ValueError("singular") from e
    return y
    # solve in function
    def g(m, b):
        return np.linalg.solve(m, b)
    try:
        y = g(np.ones((2, 2)) * a[0], a[:2])
        z = y + 1
    except np.linalg.LinAlgError:
        z = np.linalg.lstsq(np.ones((2, 2)), np.ones(2), rcond=None)[0]
    return z
    # outer takes
    try:
        try:
            y = np.linalg.inv(np.ones((2, 2)) * a[0])
        except (KeyError, IndexError):
            y = None
        finally:
            a[1] = 7
    except np.linalg.LinAlgError:
        y = a[:1]
    return y, a
    # sort in try
    try:
        y = np.sort(a)
        y[n] = 3
    except IndexError:
        y = a
    return y
    # print in try
    try:
        print(a[0])
        y = a[n * 2]
    except IndexError:
        y = 0.0
    return y
    # errors of texts
    try:
        x = np.linalg.norm(a)
        if x > 10:
            raise ValueError(f"norm {x:.2f} too large")
    except ValueError as e:
        print(e)
        return 1
    return 2
    """
)

# What is printed: texts, and the order in which handlers run.
PRINTED = sections(
    """
    # print e
    try:
        y = mine(a[0] - n)
    except MyError as e:
        print("caught", e)
        y = 1.0
    except KeyError as e:
        print("key", e, repr(e), type(e))
        y = 2.0
    return y
    # errors of texts
    try:
        x = np.linalg.norm(a)
        if x > 10:
            raise ValueError(f"norm {x:.2f} too large", n)
    except ValueError as e:
        print(e)
        print(f"{e!r} {e}")
        return 1
    return 2
    # index text
    try:
        x = a[n * 2 + int(a[0])]
    except IndexError as e:
        print("index:", e)
        return 1
    return 2
    # raise with text
    try:
        x = a[n * 2 + int(a[0])]
    except IndexError as e:
        raise ValueError(f"bad: {e}") from e
    return "fine"
    # finally prints
    try:
        x = a[n * 2 + int(a[0])]
        print("found")
    except IndexError:
        print("handler")
        x = 0
    else:
        print("else")
    finally:
        print("finally")
    return x
    # finally prints 2
    try:
        try:
            x = a[n * 2 + int(a[0])]
            print("found")
        finally:
            print("finally")
    except IndexError:
        print("handler")
        x = 0
    return x
    # finally prints 3
    try:
        x = a[n * 2 + int(a[0])]
        print("found")
    finally:
        print("finally")
    return x
    # loop prints
    for i in range(n):
        try:
            print(i, mine(a[i] - 2))
        except MyError:
            print("mine")
            continue
        except KeyError as e:
            print("key")
            break
        finally:
            print("end")
    else:
        print("all")
    return n
    # LinAlg text
    try:
        x = np.linalg.inv(a[:4].reshape(2, 2) * 0)
    except np.linalg.LinAlgError as e:
        print(e)
    return "fine"
    # keep e
    err = None
    try:
        x = a[n * 2 + int(a[0])]
    except IndexError as e:
        err = e
    print(err)
    return 1
    # keep e const
    err = None
    try:
        x = mine(a[0])
    except ValueError as e:
        err = e
    except KeyError as e:
        err = e
    return err is None
    # isinstance e
    try:
        x = a[n * 2 + int(a[0])]
    except IndexError as e:
        return isinstance(e, IndexError), type(e).__name__
    return 1
    # reraise host
    try:
        y = np.linalg.inv(a[:4].reshape(2, 2) * n)
    except np.linalg.LinAlgError:
        print("singular")
        raise
    return y
    # reraise host e
    try:
        y = np.linalg.inv(a[:4].reshape(2, 2) * n)
    except np.linalg.LinAlgError as e:
        print("singular", e)
        raise e
    return y
    # finally host
    try:
        y = np.linalg.inv(a[:4].reshape(2, 2) * n)
    finally:
        print("end")
    return y
    # finally host caught outside
    try:
        try:
            y = np.linalg.inv(a[:4].reshape(2, 2) * n)
            print("inner")
        finally:
            print("end")
    except ValueError as e:
        print("outer", e)
        y = a
    return y
    # array in message
    try:
        if a[0] > n:
            raise ValueError("bad array", a[:2])
        y = 1
    except ValueError:
        y = 2
    return y
    # array in message shown
    try:
        if a[0] > n:
            raise ValueError(f"bad array {a[:2]}")
        y = 1
    except ValueError as e:
        print(e)
        y = 2
    return y
    # array in message again
    try:
        if a[0] > n:
            raise ValueError(f"bad array {a[:2]}")
        y = 1
    except ValueError as e:
        print("x")
        raise
    return y
    # suppress host
    y = a
    with contextlib.suppress(np.linalg.LinAlgError):
        y = np.linalg.inv(a[:4].reshape(2, 2) * n)
        print("inverted")
    return y
    # loop host
    for k in range(n):
        try:
            y = np.linalg.inv(a[:4].reshape(2, 2) * (k - 1))
            print(k)
        except np.linalg.LinAlgError as e:
            print(k, e)
            last = e
        finally:
            print("end")
    return k
    # in a loop last
    last = None
    for k in range(n):
        try:
            y = a[k * 3 + int(a[0])]
        except IndexError as e:
            print(k, e)
            last = k
    return last
    # exception with print
    try:
        print("begin")
        y = math.sqrt(a[0])
        print("middle")
        y = mine(y - n)
        print("done", y)
    except KeyError:
        print("key")
        y = 0
    except Exception as e:
        print("failed:", e)
        y = 1
    return y
    # nested finally
    try:
        try:
            try:
                y = mine(a[0] - n)
            finally:
                print("one")
        except KeyError:
            print("two")
            y = 2
        finally:
            print("three")
    except ValueError:
        print("four")
        y = 3
    return y
    # handler raises, finally
    try:
        try:
            y = mine(a[0] - n)
        except KeyError:
            print("key")
            raise ValueError("other")
        finally:
            print("three")
    except ValueError as e:
        print("four", e)
        y = 3
    return y
    # warn and go on
    def attempt(x):
        try:
            return mine(x)
        except (MyError, KeyError) as e:
            print("attempt failed", repr(e))
            return None
    y = attempt(a[0] - n)
    if y is None:
        return -1
    return y
    # return in finally try
    def g(x):
        try:
            return mine(x)
        finally:
            print("left")
    try:
        return g(a[0] - n)
    except Exception:
        return 5
    # class hierarchy
    try:
        y = a[n * 2]
        y = {1: 2}[n]
        y = 1 // n
    except LookupError:
        y = 5
    except ArithmeticError:
        y = 6
    return y
    # raise other class with args
    try:
        if a[0] > n:
            raise MyError("code", n, a[0])
        y = 1
    except MyError as e:
        print(e.args)
        y = 2
    return y
    # string compare
    try:
        y = mine(a[0] - n)
    except Exception as e:
        if "mine" in str(e):
            y = 10
        else:
            y = 20
    return y
    # hasattr
    try:
        y = mine(a[0] - n)
    except Exception as e:
        y = len(e.args)
    return y
    # reraise different
    def g(x):
        try:
            return mine(x)
        except KeyError as e:
            raise ValueError("converted") from e
        except ValueError:
            raise RuntimeError("again") from None
    try:
        y = g(a[0] - n)
    except ValueError:
        y = 1
    except RuntimeError:
        y = 2
    return y
    # not caught host
    try:
        y = np.linalg.inv(a[:4].reshape(2, 2) * n)
    except KeyError:
        y = a
    return y
    """
)


def made(body: str) -> Any:
    return program("def f(a, n):\n    " + body.replace("\n", "\n    "), **NAMES)


@pytest.mark.parametrize("body", one_in(8, {**RAISED, **CHECKED, **CALLED}.values()), ids=lambda body: body[:40])
def test_what_is_caught_at_run_time(body: str) -> None:
    f = bufferize(verify=True)(made(body))
    for a, n in ((A, 3), (A, 0), (A, 5), (-A, 3), (-A, 0), (A * 0, 3), (A * 0, 0), (A * np.nan, 3), (A * 2 + 1, 2)):
        agree(f, a, n)


@pytest.mark.parametrize("body", one_in(8, PRINTED.values()), ids=lambda body: body[:40])
def test_what_is_printed_of_what_is_caught(body: str, capsys: pytest.CaptureFixture[str]) -> None:
    eager = made(body)
    traced = bufferize(eager)
    for a, n in ((A, 3), (A, 0), (A, 5), (-A, 3), (-A, 0), (A * 0, 3), (A * np.nan, 1), (A * 100, 2)):
        found = []
        for f in (eager, traced):
            try:
                result = repr(f(a.copy(), n))
            except Exception as error:
                result = repr(error)
            found.append((result, capsys.readouterr().out))
        assert found[0] == found[1]


def test_names_of_a_loop_over_a_generator_that_raises() -> None:
    text = """
    def gen():
        for x in a:
            if x > n:
                raise ValueError("big")
            yield x * 2
    s = 0.0
    try:
        for y in gen():
            s += y
    except ValueError:
        s += 1000
    return s"""
    assert "within a `try`" in refused(program("def f(a, n):" + text), A, 3).reason


@pytest.mark.parametrize("argument", ["(n, 1)", "[n, (n, 'b')]", "{'a': [n, 2.5], 'b': 'x{}'}", "(n, (n + 1,)), n"])
def test_arguments_of_exceptions_are_the_objects_and_not_their_texts(argument: str) -> None:
    for kind in ("KeyError", "ValueError"):
        f = bufferize(made(f"if n > 2:\n    raise {kind}({argument})\nreturn a"))
        for n in (1, 3):
            agree(f, A, n)
        with pytest.raises(eval(kind)) as raised:
            f(A, 4)
        assert raised.value.args == eval(f"({argument},)", {"n": 4})
        begin = f"try:\n    if n > 2:\n        raise {kind}({argument})\n"
        agree(bufferize(made(f"{begin}except {kind} as e:\n    return str(e), repr(e), e.args")), A, 3)


@pytest.mark.slow
def test_the_key_of_a_key_error_is_the_tuple() -> None:
    begin = "d = {}\nfor k in range(n):\n    d[k, n] = 1\n"
    agree(bufferize(made(begin + "try:\n    d[n, n]\nexcept KeyError as e:\n    return str(e), e.args")), A, 3)
    f = bufferize(made(begin + "del d[n, n]"))
    with pytest.raises(KeyError) as raised:
        f(A, 3)
    assert raised.value.args == ((3, 3),)


@pytest.mark.parametrize("tried", ["range(n)[2]", "range(2, n, 3)[-1]", "range(3)[n]", "bool(a[a > n])", "not a[:n]"])
def test_the_words_of_pythons_and_numpys_errors(tried: str) -> None:
    """A range and an empty array have their own; those of an array's index, and of a longer one, were given."""
    f = program(f"""
        def f(a, n):
            try:
                return str({tried})
            except (IndexError, ValueError) as e:
                return str(e)
    """)
    g = bufferize(f)
    for n in (1, 0, 7, 2, 3):
        assert g(np.arange(4), n) == f(np.arange(4), n)


def test_both_arms_of_a_conditional_expression_raise() -> None:
    """What each arm raises is decided by the path, so that no number of a site is known."""
    f = program("""
        def f(a, x):
            if x > 1:
                y = 3
            k = 0
            try:
                k = (y[2] if x > 2 else y[1]) + 1
                k = 9
            except (UnboundLocalError, TypeError) as e:
                k = len(str(e))
            finally:
                k += 2
            return k
    """)
    g = bufferize(f)
    for x in (0.0, 1.5, 3.0):
        agree(g, A, x)
