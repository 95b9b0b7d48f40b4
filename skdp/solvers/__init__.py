"""Algorithms that see only an oracle. One file each; `SOLVERS` is the registry.

``solver="sgd"`` in an estimator is the registry's default instance, ``solver=SGD(batch_size=200)`` one of your own.
"""

from ._ranges import plain
from ._solver import Budget, OracleLike, Solver, Task, refuse_unfit
from .adam import Adam
from .admm_objp import ADMMObjP
from .agd import AGD
from .amp import AMP
from .blgd import BLGD
from .blsgd import BLSGD, BLSGDAC
from .dp_admm import DPADMM
from .frank_wolfe import FrankWolfe
from .gd import GD
from .mpadmm import MPADMM
from .newton import Newton
from .objective_perturbation import ObjectivePerturbation
from .one_shot import OneShot
from .outpert_gd import OutPertGD
from .output_perturbation import OutputPerturbation
from .privgene import PrivGene
from .psgd import PSGD
from .rrpsgd import RRPSGD
from .rsgd_ar import RSGDAR
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
    "DPADMM",
    "GD",
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

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver
    for solver in (
        ADMMObjP,
        BLSGDAC,
        BLSGD,
        BLGD,
        DPADMM,
        RRPSGD,
        SVRG,
        Adam,
        Newton,
        AGD,
        FrankWolfe,
        PrivGene,
        MPADMM,
        SSADMM,
        AMP,
        OutPertGD,
        OutputPerturbation,
        PSGD,
        RSGDAR,
        GD,
        ObjectivePerturbation,
        SGD,
        TwoPhase,
        WhiteGD,
        WhiteObjective,
    )
}

# Those that know nothing but lists of documents, for `skdp.ranking`.
LIST_SOLVERS: dict[str, type[Solver]] = {OneShot.name: OneShot}


def resolve(solver: str | Solver, task: Task | None = None) -> Solver:
    """The solver that a name or an instance stands for, with Python's own numbers.

    Parameters
    ----------
    solver : str or Solver
        Name in `SOLVERS`, or an instance.
    task : Task or None
        What it is to minimise: refused where it cannot, or where a hyper-parameter is out of range.

    Returns
    -------
    Solver

    Examples
    --------
    >>> from skdp.solvers import resolve
    >>> resolve("gd").steps
    200
    """
    found = _known(solver)
    if task is not None:
        refuse_unfit(found, task)
    return found


def _known(solver: str | Solver) -> Solver:
    if isinstance(solver, Solver):
        return plain(solver)
    if isinstance(solver, str) and solver == "auto":
        raise ValueError("solver='auto' is chosen at fit; name a solver to set its parameters.")
    if isinstance(solver, str) and solver in LIST_SOLVERS:
        return LIST_SOLVERS[solver]()
    if isinstance(solver, str) and solver in SOLVERS:
        return SOLVERS[solver]()
    raise ValueError(
        f"solver={solver!r} is not known; use one of {['auto', *sorted(SOLVERS)]} or an instance."
    )
