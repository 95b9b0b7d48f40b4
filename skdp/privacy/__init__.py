"""Trusted arithmetic: what a release costs and what has been spent. No records, no noise."""

from skdp.privacy.accountants import calibrate, choose, delta, epsilon
from skdp.privacy.spec import NEIGHBORS, Spec

__all__ = ["NEIGHBORS", "Spec", "calibrate", "choose", "delta", "epsilon"]
