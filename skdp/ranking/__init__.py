"""Private learning to rank: a record is a list of documents, or the labels that a person gave them."""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from .metrics import average_precision, ndcg, reciprocal_rank
    from .ranker import DPRanker
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "average_precision": "metrics",
            "ndcg": "metrics",
            "reciprocal_rank": "metrics",
            "DPRanker": "ranker",
        },
    )

__all__ = ["DPRanker", "average_precision", "ndcg", "reciprocal_rank"]
