"""Checksums, hashes and generators on integers of fixed width."""

import numpy as np

from .registry import program


@program(lambda random, n: (random.integers(0, 256, 3 * n, dtype=np.uint8),))
def crc32(data):
    crc = np.uint32(0xFFFFFFFF)
    for byte in data:
        crc ^= byte
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ np.uint32(0xEDB88320)
            else:
                crc >>= 1
    return ~crc


@program(lambda random, n: (random.integers(0, 256, 3 * n, dtype=np.uint8),))
def crc32_with_table(data):
    table = np.zeros(256, dtype=np.uint32)
    for i in range(256):
        c = i
        for _ in range(8):
            c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1
        table[i] = c
    crc = 0xFFFFFFFF
    for b in data:
        crc = int(table[(crc ^ int(b)) & 0xFF]) ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


@program(lambda random, n: (random.integers(0, 256, 5 * n, dtype=np.uint8),))
def adler32(data):
    a, b = 1, 0
    for i in range(len(data)):
        a = (a + int(data[i])) % 65521
        b = (b + a) % 65521
    return (b << 16) | a


@program(lambda random, n: (random.integers(0, 256, 4 * n, dtype=np.uint8),))
def fletcher16(data):
    low = np.uint16(0)
    high = np.uint16(0)
    for x in data:
        low = (low + x) % np.uint16(255)
        high = (high + low) % np.uint16(255)
    return (high << np.uint16(8)) | low


@program(lambda random, n: (random.integers(1, 2**63, n, dtype=np.uint64), 3))
def xorshift64(state, rounds):
    for _ in range(rounds):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
    return (state >> np.uint64(11)) * 2.0**-53


@program(lambda random, n: (random.integers(0, 256, 3 * n, dtype=np.uint8),))
def fnv1a(data):
    h = np.uint64(14695981039346656037)
    prime = np.uint64(1099511628211)
    for i in range(data.size):
        h = (h ^ np.uint64(data[i])) * prime
    return h


@program(lambda random, n: (random.integers(0, 2**32, (n, 3), dtype=np.uint32),))
def popcount(x):
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return (x * np.uint32(0x01010101)) >> 24


@program(lambda random, n: (random.integers(0, 2**40, n),))
def popcount_by_kernighan(values):
    counts = np.zeros(values.shape, dtype=np.uint8)
    for i, v in enumerate(values):
        while v:
            v &= v - 1
            counts[i] += 1
    return counts


@program(lambda random, n: (4 * n,))
def gray_code(n):
    codes = np.arange(n) ^ (np.arange(n) >> 1)
    back = codes.copy()
    shift = 1
    while shift < 32:
        back ^= back >> shift
        shift <<= 1
    return codes, back


@program(lambda random, n: (random.integers(0, 2**16, n, dtype=np.uint16),))
def swap_and_reverse_bits(x):
    swapped = (x << 8) | (x >> 8)
    out = np.zeros_like(x)
    y = x.copy()
    for _ in range(16):
        out = (out << 1) | (y & 1)
        y >>= 1
    return swapped, out


@program(lambda random, n: (12345, 3 * n))
def linear_congruential(seed, n):
    out = np.empty(n, dtype=np.float64)
    state = seed
    for i in range(n):
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        out[i] = state / 0x7FFFFFFF
    return out


@program(lambda random, n: (random.integers(0, 256, (2, n), dtype=np.uint8),))
def galois_multiply(pair):
    result = np.zeros(pair.shape[1], dtype=np.uint8)
    for i in range(pair.shape[1]):
        a, b = int(pair[0, i]), int(pair[1, i])
        p = 0
        while b:
            if b & 1:
                p ^= a
            carry = a & 0x80
            a = (a << 1) & 0xFF
            if carry:
                a ^= 0x1B
            b >>= 1
        result[i] = p
    return result


@program(lambda random, n: (random.integers(-(2**31), 2**31, n, dtype=np.int64), 64))
def hash_buckets(keys, buckets):
    counts = np.zeros(buckets, dtype=np.int32)
    for key in keys:
        h = (key ^ (key >> 16)) * 0x45D9F3B & 0xFFFFFFFF
        h ^= h >> 16
        counts[h % buckets] += 1
    return counts, counts.max()
