"""Private learning to rank: a record is a list of documents, or what a person said of them."""

from .metrics import average_precision, ndcg, reciprocal_rank
from .ranker import DPRanker

__all__ = ["DPRanker", "average_precision", "ndcg", "reciprocal_rank"]
