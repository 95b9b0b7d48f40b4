"""Sources of bits for the tests: what they gave is kept, or was fixed beforehand."""

import struct

import numpy as np

from skdp.mechanisms import Noise


class Recorded(Noise):
    """Gives fresh bytes and keeps them, call by call."""

    def __init__(self, seed=0):
        super().__init__(seed)
        self.given = []

    def bytes(self, count):
        """The same as ever."""
        self.given.append(super().bytes(count))
        return self.given[-1]


class Replayed:
    """Gives fixed bytes first, and what a seed gives afterwards."""

    def __init__(self, *first, seed=0):
        self.first, self.after, self.asked = list(first), Noise(seed), []

    def bytes(self, count):
        """The next ones, whose number must be what is asked for."""
        self.asked.append(count)
        if not self.first:
            return self.after.bytes(count)
        given = self.first.pop(0)
        assert len(given) == count, f"{count} bytes were asked for, {len(given)} were prepared"
        return given


class Repeated:
    """The same byte for ever, or for so many bytes."""

    def __init__(self, byte, count=None, seed=0):
        self.byte, self.left, self.after = bytes([byte]), count, Noise(seed)

    def bytes(self, count):
        """Of the byte while it lasts."""
        if self.left is None:
            return self.byte * count
        now = min(count, self.left)
        self.left -= now
        return self.byte * now + self.after.bytes(count - now)


def words(*numbers):
    """Bytes of 64-bit words."""
    return struct.pack(f"<{len(numbers)}Q", *numbers)


def first_draws(numbers, coins):
    """Bytes that `lattice_normals` takes for words and coins."""
    return np.array(numbers, np.uint64).tobytes() + np.array(coins, np.uint16).tobytes()
