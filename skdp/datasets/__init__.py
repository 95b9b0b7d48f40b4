"""Generated tables, and loaders of public ones with their public declarations."""

from typing import TYPE_CHECKING

from .._lazy import attach

if TYPE_CHECKING:
    from ._census import load_adult, load_ipums_br, make_census
    from ._csv import load_csv
    from ._sparse import load_mnist, make_sparse_classification
    from ._table import Matrix, Table
    from ._uci import load_bank, load_bike, load_kddcup99, load_wine
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "load_adult": "_census",
            "load_bank": "_uci",
            "load_bike": "_uci",
            "make_census": "_census",
            "load_csv": "_csv",
            "load_ipums_br": "_census",
            "load_kddcup99": "_uci",
            "load_mnist": "_sparse",
            "make_sparse_classification": "_sparse",
            "Matrix": "_table",
            "Table": "_table",
            "load_wine": "_uci",
        },
    )

__all__ = [
    "Matrix",
    "Table",
    "load_adult",
    "load_bank",
    "load_bike",
    "load_csv",
    "load_ipums_br",
    "load_kddcup99",
    "load_mnist",
    "load_wine",
    "make_census",
    "make_sparse_classification",
]
