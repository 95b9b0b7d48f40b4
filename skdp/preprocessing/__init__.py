"""Raw tables to rows of bounded norm, by public declarations: `fit` reads no record.

A scaler or a vocabulary that is fitted to the data voids the promise of a private estimator behind it. These are made
of what is declared, so they cost nothing, and each publishes a bound on the norm of a row in ``row_norm_``.
"""

from .bounds_scaler import BoundsScaler
from .declared_encoder import DeclaredEncoder
from .pipelines import bound_of, make_pipeline
from .row_norm_clipper import RowNormClipper
from .table_encoder import TableEncoder

__all__ = [
    "BoundsScaler",
    "DeclaredEncoder",
    "RowNormClipper",
    "TableEncoder",
    "bound_of",
    "make_pipeline",
]
