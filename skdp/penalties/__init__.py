"""Formulas of the coefficients, each with its prox. To add one: a file, a line in ``PENALTIES``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import Registry, attach

if TYPE_CHECKING:
    from ._make import make, make_scaled
    from ._penalty import Penalty
    from ._scaled import ScaledPenalty
    from .box import Box
    from .elastic_net import ElasticNet
    from .group_lasso import GroupLasso
    from .l1 import L1
    from .l1_ball import L1Ball
    from .l2 import L2
    from .l2_ball import L2Ball
    from .l2_blocks import L2Blocks
    from .mcp import MCP
    from .none import NoPenalty
    from .nonnegative import NonNegative
    from .nuclear import Nuclear
    from .scad import SCAD
    from .spectral_balls import SpectralBalls

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
        "none": "none.NoPenalty",
        "l1": "l1.L1",
        "l2": "l2.L2",
        "elasticnet": "elastic_net.ElasticNet",
        "scad": "scad.SCAD",
        "mcp": "mcp.MCP",
        "group_lasso": "group_lasso.GroupLasso",
        "nonnegative": "nonnegative.NonNegative",
        "box": "box.Box",
        "l1_ball": "l1_ball.L1Ball",
        "l2_ball": "l2_ball.L2Ball",
        "l2_blocks": "l2_blocks.L2Blocks",
        "nuclear": "nuclear.Nuclear",
        "spectral_balls": "spectral_balls.SpectralBalls",
    },
)

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "make": "_make",
            "make_scaled": "_make",
            "Penalty": "_penalty",
            "ScaledPenalty": "_scaled",
        },
        PENALTIES,
    )
