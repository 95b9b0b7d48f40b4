"""Scores of networks and their gradients, layer by layer as in any textbook."""

import numpy as np

__all__ = ["gradients", "jacobian"]


def jacobian(model, w, x):
    """Score of a document and its gradient, layer by layer as in any textbook."""
    said = {
        "relu": (lambda z: np.maximum(z, 0.0), lambda z: (z > 0.0) * 1.0),
        "tanh": (np.tanh, lambda z: 1.0 - np.tanh(z) ** 2),
        "logistic": (lambda z: 1 / (1 + np.exp(-z)), lambda z: np.exp(-z) / (1 + np.exp(-z)) ** 2),
        "identity": (lambda z: z, np.ones_like),
    }[model.activation]
    matrices, shares = model.matrices(w, len(x), False), [*model.shares(), 1.0]
    entered, asked = [x], []
    for matrix, share in zip(matrices, shares):
        asked.append(matrix.T @ entered[-1])
        entered.append(share * said[0](asked[-1]))
    back, found = np.ones(1), []
    for k in range(len(matrices) - 1, -1, -1):
        found.append(np.outer(entered[k], back).ravel())
        if k:
            back = (matrices[k] @ back) * shares[k - 1] * said[1](asked[k - 1])
    return float(asked[-1][0]), np.concatenate(found[::-1])


def gradients(model, w, x):
    """Scores and gradients of the documents of a list."""
    each = [jacobian(model, w, row) for row in x]
    return np.array([z for z, _ in each]), np.array([g for _, g in each])
