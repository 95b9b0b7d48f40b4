"""Set up all tests: laws and twins find each other, noise follows from a test's name, and each test has its tier."""

import os
from hashlib import sha256

import numpy as np
import pytest
import tiers
from hypothesis import settings

from skdp.fitting._payer import UNCOVERED
from skdp.fitting._provenance import UNANNOUNCED
from skdp.mechanisms import _noise

# Where these are set, pytest prints differences whole, and spends hours on that of two tables.
for name in ("CI", "BUILD_NUMBER"):
    os.environ.pop(name, None)

settings.register_profile("skdp", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("skdp")

UNCOVERED.told = UNANNOUNCED.told = (
    True  # tests fit one table as often as they like, and some of them make warnings errors
)


def pytest_addoption(parser):
    group = parser.getgroup("skdp")
    group.addoption("--shuffle", type=int, metavar="SEED", help="run tests in a random order")
    group.addoption(
        "--write-heavy", action="store_true", help="write tests/heavy.txt from this run's durations"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    tiers.mark(config, items)
    if config.option.shuffle is not None:
        tiers.shuffle(items, config.option.shuffle)


def pytest_terminal_summary(terminalreporter, config):
    if config.option.write_heavy:
        reports = [report for found in terminalreporter.stats.values() for report in found]
        tiers.write_heavy(report for report in reports if hasattr(report, "duration"))


class SameNoise:
    """What `os` is to the source of noise in a test: bytes that follow from a name, so that a red test is red again.

    Only the bytes are others; all that is made of them is the code of a fit. Children of a fork, and tests marked
    `os_noise`, get the operating system's. SKDP_FRESH_NOISE=1 gives these to every test.
    """

    def __init__(self):
        self.owner, self.stream = os.getpid(), None

    def urandom(self, count):
        if self.stream is None or os.getpid() != self.owner:
            return os.urandom(count)
        return self.stream.bytes(count)

    def follow(self, name):
        key = int.from_bytes(sha256(name.encode()).digest()[:16], "little")
        self.stream = np.random.Generator(np.random.Philox(key=key))


SAME_NOISE = SameNoise()
if os.environ.get("SKDP_FRESH_NOISE") != "1":
    _noise.os = SAME_NOISE


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    SAME_NOISE.follow(item.nodeid)
    if item.get_closest_marker("os_noise"):
        SAME_NOISE.stream = None


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    """What several tests share is drawn by a name of its own, not by that of the test that came first."""
    if fixturedef.scope == "function":
        return (yield)
    before = SAME_NOISE.stream
    SAME_NOISE.follow(f"{fixturedef.baseid}::{fixturedef.argname}{request.param_index}")
    try:
        return (yield)
    finally:
        SAME_NOISE.stream = before
