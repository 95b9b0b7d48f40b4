"""Versions and platform for a bug report."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

__all__ = ["show_versions", "versions"]

PACKAGES = (
    "skdp",
    "numpy",
    "scipy",
    "scikit-learn",
    "joblib",
    "pandas",
    "matplotlib",
    "tqdm",
    "torch",
)


def versions() -> dict[str, str]:
    """Collect versions of Python, the system and the packages that skdp may use.

    Returns
    -------
    dict of str to str
        "absent" for an optional package that is not installed.
    """
    found = {"python": sys.version.split()[0], "system": platform.platform()}
    return found | {name: _version(name) for name in PACKAGES}


def show_versions() -> None:
    """Print the versions that a bug report should hold."""
    facts = versions()
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:>{width}}: {value}")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
