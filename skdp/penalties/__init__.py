"""Formulas of the coefficients, each with its prox. To add one: a file, a line in ``PENALTIES``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import Registry, attach

if TYPE_CHECKING:
    from ._penalty import Penalty
    from ._scaled import ScaledPenalty, make, make_scaled
    from .balls import L1Ball, L2Ball, SpectralBalls
    from .box import Box, NonNegative
    from .norms import L1, L2, ElasticNet, NoPenalty
    from .scad import MCP, SCAD
    from .structured import GroupLasso, L2Blocks, Nuclear

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
        "scad": "scad.SCAD",
        "mcp": "scad.MCP",
        "group_lasso": "structured.GroupLasso",
        "nonnegative": "box.NonNegative",
        "box": "box.Box",
        "l1_ball": "balls.L1Ball",
        "l2_ball": "balls.L2Ball",
        "l2_blocks": "structured.L2Blocks",
        "nuclear": "structured.Nuclear",
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
