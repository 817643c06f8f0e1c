"""The browser's random numbers, from their definition: mulberry32 and Box–Muller."""

import functools
import math

import numpy
import torch


def uniform(seed, count):
    """Return `count` numbers in [0, 1), float64."""
    steps = numpy.arange(1, count + 1, dtype=numpy.uint64) * 0x6D2B79F5
    state = (steps + (seed & 0xFFFFFFFF)) & 0xFFFFFFFF
    t = ((state ^ (state >> 15)) * (state | 1)) & 0xFFFFFFFF
    t ^= (t + (((t ^ (t >> 7)) * (t | 61)) & 0xFFFFFFFF)) & 0xFFFFFFFF
    return (t ^ (t >> 14)) / 2**32


@functools.lru_cache(maxsize=4096)
def gaussian(seed, count):
    """Return `count` draws from the standard normal distribution, float64."""
    pairs = uniform(seed, count + count % 2).reshape(-1, 2)
    radius, angle = numpy.sqrt(-2 * numpy.log(1 - pairs[:, 0])), math.tau * pairs[:, 1]
    draws = numpy.stack([radius * numpy.cos(angle), radius * numpy.sin(angle)], 1)
    return torch.from_numpy(draws.reshape(-1)[:count])
