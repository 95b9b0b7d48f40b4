"""A mixed frame as users have it: missing values, unknown categories, blanks, text among numbers."""

import numpy as np
import pandas as pd

DECLARATION = {
    "age": [17, 90],
    "gain": [0, 1e6, "symlog"],
    "rate": [1e-3, 10.0, "log"],
    "sex": ["f", "m"],
    "zone": {"categories": ["1", "2", "3"]},
    "member": [True, False],
}


def frame():
    """Five rows, each with something wrong in it."""
    return pd.DataFrame(
        {
            "age": [17, 200, None, 53.5, -np.inf],
            "gain": ["0", "?", "1e6", " 999 ", ""],
            "rate": pd.array([10, None, 0, -5, 1], dtype="Float64"),
            "sex": ["f", " m", None, "M", "f"],
            "zone": [1.0, 2.0, np.nan, 3.0, 7.0],
            "member": [True, False, None, True, False],
            "note": ["not", "declared", "and", "not", "used"],
        }
    )
