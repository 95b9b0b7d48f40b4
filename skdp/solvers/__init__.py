"""Algorithms that see only an oracle. One file each; `SOLVERS` is the registry.

``solver="sgd"`` in an estimator is the registry's default instance, ``solver=SGD(batch_size=200)`` one of your own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import Registry, attach

if TYPE_CHECKING:
    from ._solver import Budget, OracleLike, Solver, Task, refuse_unfit, resolve
    from .adam import Adam
    from .admm_objp import ADMMObjP
    from .agd import AGD
    from .amp import AMP
    from .blgd import BLGD, BLSGD, BLSGDAC
    from .dp_admm import DPADMM
    from .frank_wolfe import FrankWolfe
    from .gd import GD
    from .lda import LDA
    from .mpadmm import MPADMM
    from .newton import Newton
    from .objective_perturbation import ObjectivePerturbation
    from .one_shot import OneShot
    from .output_perturbation import OutPertGD, OutputPerturbation
    from .privgene import PrivGene
    from .psgd import PSGD, RSGDAR
    from .rrpsgd import RRPSGD
    from .sgd import SGD
    from .ssadmm import SSADMM
    from .svrg import SVRG
    from .two_phase import TwoPhase
    from .white_gd import WhiteGD
    from .white_objective import WhiteObjective

__all__ = [
    "AGD",
    "AMP",
    "BLGD",
    "BLSGD",
    "BLSGDAC",
    "CLASS_SOLVERS",
    "DPADMM",
    "GD",
    "LDA",
    "LIST_SOLVERS",
    "MPADMM",
    "PSGD",
    "RRPSGD",
    "RSGDAR",
    "SGD",
    "SOLVERS",
    "SSADMM",
    "SVRG",
    "ADMMObjP",
    "Adam",
    "Budget",
    "FrankWolfe",
    "Newton",
    "ObjectivePerturbation",
    "OneShot",
    "OracleLike",
    "OutPertGD",
    "OutputPerturbation",
    "PrivGene",
    "Solver",
    "Task",
    "TwoPhase",
    "WhiteGD",
    "WhiteObjective",
    "refuse_unfit",
    "resolve",
]

SOLVERS: Registry[Solver] = Registry(
    __name__,
    {
        "admm-objp": "admm_objp.ADMMObjP",
        "blsgd-ac": "blgd.BLSGDAC",
        "blsgd": "blgd.BLSGD",
        "blgd": "blgd.BLGD",
        "dp-admm": "dp_admm.DPADMM",
        "rrpsgd": "rrpsgd.RRPSGD",
        "svrg": "svrg.SVRG",
        "adam": "adam.Adam",
        "newton": "newton.Newton",
        "agd": "agd.AGD",
        "frank-wolfe": "frank_wolfe.FrankWolfe",
        "privgene": "privgene.PrivGene",
        "mpadmm": "mpadmm.MPADMM",
        "ssadmm": "ssadmm.SSADMM",
        "amp": "amp.AMP",
        "outpert-gd": "output_perturbation.OutPertGD",
        "output-perturbation": "output_perturbation.OutputPerturbation",
        "psgd": "psgd.PSGD",
        "rsgd-ar": "psgd.RSGDAR",
        "gd": "gd.GD",
        "objective-perturbation": "objective_perturbation.ObjectivePerturbation",
        "sgd": "sgd.SGD",
        "two-phase": "two_phase.TwoPhase",
        "white-gd": "white_gd.WhiteGD",
        "white-objective": "white_objective.WhiteObjective",
    },
)

# Those that know nothing but three classes or more.
CLASS_SOLVERS: Registry[Solver] = Registry(
    __name__,
    {
        "lda": "lda.LDA",
    },
)

# Those that know nothing but lists of documents, for `skdp.ranking`.
LIST_SOLVERS: Registry[Solver] = Registry(
    __name__,
    {
        "one-shot": "one_shot.OneShot",
    },
)

if not TYPE_CHECKING:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "resolve": "_solver",
            "Budget": "_solver",
            "OracleLike": "_solver",
            "Solver": "_solver",
            "Task": "_solver",
            "refuse_unfit": "_solver",
        },
        SOLVERS,
        LIST_SOLVERS,
        CLASS_SOLVERS,
    )
