"""Puts tests/ on the path, so that a law in one folder can be held against its sabotaged twin in another."""

from hypothesis import settings

from skdp.fitting._covered import UNCOVERED

settings.register_profile("skdp", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("skdp")

UNCOVERED.told = (
    True  # tests fit one table as often as they like, and some of them make warnings errors
)
