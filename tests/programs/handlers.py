"""`try` around what raises at run time: fall-backs, retries, bad data that is skipped, errors that are counted."""

import math

import numpy as np

from .registry import program


class Diverged(ArithmeticError):
    """A method that does not converge."""


def newton(f, slope, x, steps):
    for _ in range(steps):
        x -= f(x) / slope(x)
        if abs(f(x)) < 1e-12:
            return x
    raise Diverged("no root", steps)


@program(lambda random, n: (random.normal(size=n) * 3,))
def roots_or_bisection(starts):
    found = np.zeros(len(starts))
    failed = 0
    for k in range(len(starts)):
        try:
            found[k] = newton(lambda x: math.atan(x), lambda x: 1 / (1 + x * x), float(starts[k]), 30)
        except (Diverged, OverflowError, ZeroDivisionError):
            failed += 1
            found[k] = 0.0
    return found, failed


@program(lambda random, n: (random.integers(-2, 3, (n, 2, 2)).astype(float), random.normal(size=(n, 2))))
def solve_or_least_squares(matrices, sides):
    out = np.empty_like(sides)
    singular = []
    for k in range(len(matrices)):
        try:
            out[k] = np.linalg.solve(matrices[k], sides[k])
        except np.linalg.LinAlgError:
            out[k] = np.linalg.pinv(matrices[k]) @ sides[k]
            singular.append(k)
    return out, singular


@program(lambda random, n: (np.eye(3) * random.normal() + 0.5,))
def cholesky_with_jitter(m):
    jitter = 1e-3
    for _ in range(20):
        try:
            return np.linalg.cholesky(m + jitter * np.eye(len(m))), jitter
        except np.linalg.LinAlgError:
            jitter *= 10
    raise ValueError("not positive definite")


@program(lambda random, n: (random.normal(size=n), n // 2))
def mean_of_valid(values, most):
    total, count, skipped = 0.0, 0, 0
    for v in values:
        try:
            if v < 0:
                raise ValueError("negative")
            total += math.sqrt(v)
            count += 1
            if count > most:
                break
        except ValueError:
            skipped += 1
    try:
        return total / count, skipped
    except ZeroDivisionError:
        return math.nan, skipped


@program(lambda random, n: (random.integers(0, 2 * n, n), random.normal(size=n)))
def walk_until_outside(steps, values):
    i, path = 0, []
    try:
        for s in steps:
            path.append(values[i])
            i += int(s)
    except IndexError:
        return np.array(path), True
    finally:
        values[0] = -1.0
    return np.array(path), False


@program(lambda random, n: (random.integers(-3, 9, 4 * n),))
def stack_machine(codes):
    stack = [1.0]
    errors = 0
    for c in codes:
        try:
            if c == 0:
                b = stack.pop()
                a = stack.pop()
                stack.append(a + b)
            elif c < 0:
                stack[-1] = 1.0 / (stack[-1] - 1.0)
            else:
                stack.append(float(c))
        except IndexError:
            errors += 1
            stack.append(1.0)
        except ZeroDivisionError:
            errors += 100
    return np.array(stack), errors


@program(lambda random, n: (random.normal(size=(n, n)), random.normal(size=n)))
def power_step_or_reset(m, v):
    resets = 0
    for _ in range(5):
        w = m @ v
        try:
            size = np.linalg.norm(w)
            if size < 1.0:
                raise Diverged("small")
            v = w / size
        except Diverged:
            resets += 1
            v = np.ones_like(v)
        else:
            v = v * np.sign(v[0])
        finally:
            m[0, 0] += 1
    return v, resets
