"""Files that a table lies in."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["Paths", "files_of"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def files_of(paths: Any, ending: str) -> list[Path]:
    """Return the files of a table in order; of a folder those with an ending, by their names.

    A file that is named twice is refused: its records would count twice.

    Parameters
    ----------
    paths : path or iterable of paths
        Of files, or of folders.
    ending : str
        With the dot.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[Path] = []
    for path in map(Path, given):
        inside = sorted(path.glob(f"*{ending}")) if path.is_dir() else [path]
        if not inside:
            raise FileNotFoundError(f"{path} holds no {ending} file; name a folder that does.")
        found += inside
    if not found:
        raise ValueError("paths is empty; name at least one file.")
    known = [(stat.st_dev, stat.st_ino) for stat in map(os.stat, found)]
    if len(set(known)) < len(known):
        raise ValueError(
            "paths names a file twice, so its records would count twice; name each file once."
        )
    return found
