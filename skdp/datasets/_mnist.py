"""MNIST, handwritten digits (LeCun, Cortes and Burges, CC BY-SA 3.0)."""

from typing import Literal, overload

import numpy as np

from ._encode import Array
from ._fetch import Folder, fetch_mnist, locate
from ._table import Matrix

__all__ = ["load_mnist"]


@overload
def load_mnist(
    data_home: Folder = ..., *, download: bool = ..., return_X_y: Literal[False] = ...
) -> Matrix:
    """Load it as a matrix."""


@overload
def load_mnist(
    data_home: Folder = ..., *, download: bool = ..., return_X_y: Literal[True]
) -> tuple[Array, Array]:
    """Load encoded rows and target."""


def load_mnist(
    data_home: Folder = None, *, download: bool = False, return_X_y: bool = False
) -> Matrix | tuple[Array, Array]:
    """Load MNIST: which digit does a 28 by 28 image show?

    Parameters
    ----------
    data_home : path, optional
        Folder that holds ``mnist/mnist.npz``; by default what SKDP_DATA names, else ``~/skdp_data``.
    download : bool, default=False
        Fetch the four files from their public mirror when it is missing.
    return_X_y : bool, default=False
        Return encoded rows (float32) and target instead of the matrix.

    Returns
    -------
    Matrix or (ndarray, ndarray)
        70,000 rows, 784 pixels of 0 to 255; ``split`` tells the 60,000 train rows from the
        10,000 test rows.

    See Also
    --------
    Matrix : What it returns.
    """
    with np.load(locate("mnist/mnist.npz", data_home, fetch_mnist if download else None)) as file:
        X = np.concatenate([file["X_train"], file["X_test"]]).reshape(-1, 784)
        y = np.concatenate([file["y_train"], file["y_test"]]).astype(int)
        split = np.repeat(["train", "test"], [len(file["y_train"]), len(file["y_test"])])
    digits = tuple("0123456789")
    data = Matrix("mnist", X, y, np.zeros(784), np.full(784, 255.0), digits, split=split)
    return (data.encode(np.float32), data.target) if return_X_y else data
