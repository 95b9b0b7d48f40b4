"""Raw tables to rows of bounded norm: by public declarations, or by scales that are bought.

A scaler or a vocabulary that is fitted to the data voids the promise of a private estimator behind it. These are made
of what is declared, so they cost nothing, or pay and carry a receipt (`DPBounds`, `DPStandardScaler`,
`DPQuantileScaler`, `DPPCA`, `DPWhitener`, `DPImputer`); and each but the last publishes a bound on the norm of a row in
``row_norm_``.
"""

from .bounds_scaler import BoundsScaler
from .declared_encoder import DeclaredEncoder
from .dp_bounds import DPBounds
from .dp_imputer import DPImputer
from .dp_pca import DPPCA
from .dp_quantile_scaler import DPQuantileScaler
from .dp_spline_features import DPSplineFeatures
from .dp_standard_scaler import DPStandardScaler
from .dp_whitener import DPWhitener
from .pipelines import bound_of, make_pipeline
from .row_norm_clipper import RowNormClipper
from .table_encoder import TableEncoder

__all__ = [
    "DPPCA",
    "BoundsScaler",
    "DPBounds",
    "DPImputer",
    "DPQuantileScaler",
    "DPSplineFeatures",
    "DPStandardScaler",
    "DPWhitener",
    "DeclaredEncoder",
    "RowNormClipper",
    "TableEncoder",
    "bound_of",
    "make_pipeline",
]
