"""Tables that need not fit into memory: files that a fit reads in blocks of rows."""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from ..entry._arrow import open_arrow, open_parquet
    from ..entry._npy import open_npy
    from ..mechanisms._shards import Shards
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Shards": ".mechanisms._shards",
            "open_arrow": ".entry._arrow",
            "open_npy": ".entry._npy",
            "open_parquet": ".entry._arrow",
        },
    )

__all__ = ["Shards", "open_arrow", "open_npy", "open_parquet"]
