"""Encoding of raw tables into rows of bounded norm: by public declarations, or by privately estimated scales.

A scaler or a vocabulary that is fitted to the data voids the promise of a private estimator behind it. These are made
of what is declared, so they cost nothing, or pay and carry a receipt (`DPBounds`, `DPStandardScaler`,
`DPQuantileScaler`, `DPPCA`, `DPWhitener`, `DPImputer`); and each but the last publishes a bound on the norm of a row in
``row_norm_``.
"""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from .column_transformers import DPBounds, DPImputer, DPQuantileScaler, DPStandardScaler
    from .declared_transformers import BoundsScaler, DeclaredEncoder, RowNormClipper
    from .dp_spline_features import DPSplineFeatures
    from .moment_transformers import DPPCA, DPWhitener
    from .pipelines import bound_of, make_pipeline
    from .table_encoder import TableEncoder
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "BoundsScaler": "declared_transformers",
            "DeclaredEncoder": "declared_transformers",
            "DPBounds": "column_transformers",
            "DPImputer": "column_transformers",
            "DPPCA": "moment_transformers",
            "DPQuantileScaler": "column_transformers",
            "DPSplineFeatures": "dp_spline_features",
            "DPStandardScaler": "column_transformers",
            "DPWhitener": "moment_transformers",
            "bound_of": "pipelines",
            "make_pipeline": "pipelines",
            "RowNormClipper": "declared_transformers",
            "TableEncoder": "table_encoder",
        },
    )

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
