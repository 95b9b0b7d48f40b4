"""Formulas of the coefficients, each with its prox. To add one: a file, a line in ``PENALTIES``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import Registry, attach

if TYPE_CHECKING:
    from ._penalty import Penalty
    from ._scaled import ScaledPenalty, make, make_scaled
    from .balls import Box, L1Ball, L2Ball, NonNegative, SpectralBalls
    from .norms import L1, L2, MCP, SCAD, ElasticNet, GroupLasso, L2Blocks, NoPenalty, Nuclear

__all__ = [
    "L1",
    "L2",
    "MCP",
    "PENALTIES",
    "SCAD",
    "Box",
    "ElasticNet",
    "GroupLasso",
    "L1Ball",
    "L2Ball",
    "L2Blocks",
    "NoPenalty",
    "NonNegative",
    "Nuclear",
    "Penalty",
    "ScaledPenalty",
    "SpectralBalls",
    "make",
    "make_scaled",
]

PENALTIES: Registry[Penalty] = Registry(
    __name__,
    {
        "none": "norms.NoPenalty",
        "l1": "norms.L1",
        "l2": "norms.L2",
        "elasticnet": "norms.ElasticNet",
        "scad": "norms.SCAD",
        "mcp": "norms.MCP",
        "group_lasso": "norms.GroupLasso",
        "nonnegative": "balls.NonNegative",
        "box": "balls.Box",
        "l1_ball": "balls.L1Ball",
        "l2_ball": "balls.L2Ball",
        "l2_blocks": "norms.L2Blocks",
        "nuclear": "norms.Nuclear",
        "spectral_balls": "balls.SpectralBalls",
    },
)

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "make": "_scaled",
            "make_scaled": "_scaled",
            "Penalty": "_penalty",
            "ScaledPenalty": "_scaled",
        },
        PENALTIES,
    )
