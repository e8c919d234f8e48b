"""Loops over numbers, with branches and bits, which NumPy leaves to Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.programs.registry import C, program

if TYPE_CHECKING:
    import jax.numpy as jnp
    from jax import lax


# -- CRC-16, bit by bit
def crc16(data):
    crc = 0xFFFF
    for byte in data:
        crc = crc ^ byte
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ 0x8408
            else:
                crc = crc >> 1
    return crc ^ 0xFFFF


def message(n):
    return (np.random.default_rng(0).integers(0, 256, n),)


def crc16_jax(data):
    def bit(_, crc):
        return jnp.where(crc & 1, (crc >> 1) ^ 0x8408, crc >> 1)

    return lax.scan(lambda crc, byte: (lax.fori_loop(0, 8, bit, crc ^ byte), None), 0xFFFF, data)[0] ^ 0xFFFF


CRC16_C = """
long crc16(const long *data, long n) {
  unsigned crc = 0xFFFF;
  for (long i = 0; i < n; i++) {
    crc ^= data[i];
    for (int k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0x8408 : crc >> 1;
  }
  return crc ^ 0xFFFF;
}
"""
program(
    crc16, message, (2_000, 200_000), loops=crc16, jax=crc16_jax, pythran=True, c=C(CRC16_C, returns="long"),
    reason="`>>` of NumPy's ints calls NumPy's loop for each number, and the branch is no select",
)  # fmt: skip


# -- Mandelbrot, point by point
def mandelbrot(width, height, limit):
    counts = np.zeros((height, width), np.int64)
    for i in range(height):
        for j in range(width):
            cr, ci = -2.0 + 3.0 * j / width, -1.5 + 3.0 * i / height
            x = y = 0.0
            n = 0
            while n < limit and x * x + y * y < 4.0:
                x, y = x * x - y * y + cr, 2.0 * x * y + ci
                n += 1
            counts[i, j] = n
    return counts


def mandelbrot_init(n):
    return n, n, 60


def mandelbrot_jax(width, height, limit):
    cr = -2.0 + 3.0 * jnp.arange(width) / width
    ci = (-1.5 + 3.0 * jnp.arange(height) / height)[:, None]

    def step(_, state):
        x, y, n = state
        inside = x * x + y * y < 4.0
        x, y = jnp.where(inside, x * x - y * y + cr, x), jnp.where(inside, 2.0 * x * y + ci, y)
        return x, y, n + inside

    zero = jnp.zeros((height, width))
    return lax.fori_loop(0, limit, step, (zero, zero, jnp.zeros((height, width), int)))[2]


MANDELBROT_C = """
void mandelbrot(long width, long height, long limit, long *counts) {
  for (long i = 0; i < height; i++)
    for (long j = 0; j < width; j++) {
      double cr = -2.0 + 3.0 * j / width, ci = -1.5 + 3.0 * i / height, x = 0, y = 0;
      long n = 0;
      while (n < limit && x * x + y * y < 4.0) {
        double next = x * x - y * y + cr;
        y = 2.0 * x * y + ci, x = next, n++;
      }
      counts[i * width + j] = n;
    }
}
"""
program(
    mandelbrot, mandelbrot_init, (40, 250), loops=mandelbrot, jax=mandelbrot_jax, pythran=True, rounding=1e-3,
    c=C(MANDELBROT_C, lambda width, height, limit: np.empty((height, width), np.int64)),
)  # fmt: skip


# -- Mandelbrot on arrays, with a mask of what has not escaped
def mandelbrot_masks(c, limit):
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, np.int64)
    for _ in range(limit):
        inside = z.real * z.real + z.imag * z.imag < 4.0
        z[inside] = z[inside] * z[inside] + c[inside]
        counts[inside] += 1
    return counts


def plane(n):
    x, y = np.linspace(-2.01, 1.02, n), np.linspace(-1.53, 1.54, n)
    return x + 1j * y[:, None], 30


def mandelbrot_masks_loops(c, limit):
    n, m = c.shape
    counts = np.zeros((n, m), np.int64)
    for i in range(n):
        for j in range(m):
            z, k = 0j, 0
            while k < limit and z.real * z.real + z.imag * z.imag < 4.0:
                z = z * z + c[i, j]
                k += 1
            counts[i, j] = k
    return counts


def mandelbrot_masks_jax(c, limit):
    def step(_, state):
        z, counts = state
        inside = z.real * z.real + z.imag * z.imag < 4.0
        return jnp.where(inside, z * z + c, z), counts + inside

    return lax.fori_loop(0, limit, step, (jnp.zeros_like(c), jnp.zeros(c.shape, int)))[1]


program(
    mandelbrot_masks, plane, (60, 500), loops=mandelbrot_masks_loops, jax=mandelbrot_masks_jax, rounding=1e-3,
    reason="each step is a sweep over all points, by the mask; loops keep a point in registers for all of its steps",
)  # fmt: skip


# -- the longest Collatz chain below n
def collatz(n):
    best, place = 0, 0
    for start in range(1, n):
        x, steps = start, 0
        while x != 1:
            if x % 2 == 0:
                x = x // 2
            else:
                x = 3 * x + 1
            steps += 1
        if steps > best:
            best, place = steps, start
    return place


COLLATZ_C = """
long collatz(long n) {
  long best = 0, place = 0;
  for (long start = 1; start < n; start++) {
    long x = start, steps = 0;
    for (; x != 1; steps++) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    if (steps > best) best = steps, place = start;
  }
  return place;
}
"""
program(
    collatz, lambda n: (n,), (1_000, 40_000), loops=collatz, pythran=True, c=C(COLLATZ_C, returns="long"),
    reason="Python's ints: each operation is checked for overflow; `// 2` and `% 2` of signed numbers",
)  # fmt: skip


# -- primes
def sieve(n):
    prime = np.ones(n + 1, bool)
    prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return np.flatnonzero(prime)


def sieve_loops(n):
    prime = np.ones(n + 1, np.bool_)
    prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
    return np.flatnonzero(prime)


program(
    sieve, lambda n: (n,), (30_000, 4_000_000), tiny=60, loops=sieve_loops, pythran=True,
    reason="flatnonzero counts first; stores in strides",
)  # fmt: skip


# -- rounds of a hash: rotations, choices and additions modulo 2 ** 32
def mixing(words):
    a, b, c, d = 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476
    for i in range(len(words)):
        w = int(words[i])
        f = (b & c) | (~b & d)
        turned = ((a << 5) | (a >> 27)) & 0xFFFFFFFF
        t = (turned + f + d + w + 0x5A827999) & 0xFFFFFFFF
        d = c
        c = ((b << 30) | (b >> 2)) & 0xFFFFFFFF
        b = a
        a = t
    return a ^ b ^ c ^ d


def words(n):
    return (np.random.default_rng(0).integers(0, 2**32, n),)


def mixing_jax(words):
    def one(state, w):
        a, b, c, d = state
        turned = ((a << 5) | (a >> 27)) & 0xFFFFFFFF
        t = (turned + ((b & c) | (~b & d)) + d + w + 0x5A827999) & 0xFFFFFFFF
        return (t, a, ((b << 30) | (b >> 2)) & 0xFFFFFFFF, c), None

    a, b, c, d = lax.scan(one, (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476), words)[0]
    return a ^ b ^ c ^ d


MIXING_C = """
long mixing(const long *words, long n) {
  unsigned a = 0x67452301, b = 0xEFCDAB89, c = 0x98BADCFE, d = 0x10325476;
  for (long i = 0; i < n; i++) {
    unsigned t = (a << 5 | a >> 27) + ((b & c) | (~b & d)) + d + (unsigned)words[i] + 0x5A827999;
    d = c, c = b << 30 | b >> 2, b = a, a = t;
  }
  return a ^ b ^ c ^ d;
}
"""
program(
    mixing, words, (3_000, 300_000), loops=mixing, jax=mixing_jax, c=C(MIXING_C, returns="long"),
    reason="Python's ints: each sum and shift is checked for overflow, where the masks bound them",
)  # fmt: skip
