"""Linear scores, one or several outputs."""

import numpy as np

__all__ = ["Linear"]


class Linear:
    """Scores are rows times parameters, so a record's gradient is its slope times its row.

    A model offers these three methods and no more; `w` has shape (width,) or (width, K), slopes `dz` have the shape of
    the scores. A network's or a listwise ranker's model has the same three.
    """

    def scores(self, w, rows):
        """Scores of all rows at `w`."""
        return rows.dot(w)

    def norms(self, w, rows, dz):
        """Norm of each record's gradient, without building one: |dz_i| |x_i|."""
        if dz.ndim == 1:
            slopes = np.abs(dz)
        else:  # squares underflow in single precision
            slopes = np.sqrt(np.einsum("ij,ij->i", dz, dz, dtype=np.float64))
        slopes *= rows.norms
        return slopes

    def pullback(self, w, rows, dz):
        """Sum over records of the gradients that belong to the (already rescaled) slopes `dz`."""
        return rows.tdot(dz)
