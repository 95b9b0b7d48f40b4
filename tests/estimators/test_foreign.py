"""What a script for scikit-learn passes and has no meaning here is refused with the reason; a solver's are listed."""

import inspect

import pytest
from sklearn.base import clone

from skdp import DPLinearSVC, DPLogisticRegression
from skdp.fitting._foreign import FOREIGN
from skdp.neural_network import DPMLPClassifier
from skdp.preprocessing import DPBounds
from skdp.ranking import DPRanker
from skdp.solvers import GD

LINEAR = FOREIGN.keys() - {"warm_start"}
CASES = [(kind, name) for kind in (DPLogisticRegression, DPLinearSVC) for name in sorted(LINEAR)]
CASES += [(kind, "warm_start") for kind in (DPMLPClassifier, DPRanker, DPBounds)]


@pytest.mark.parametrize(("Estimator", "name"), CASES)
def test_a_parameter_without_meaning_is_refused_with_the_reason(Estimator, name):
    told = f"{Estimator.__name__} has no parameter '{name}': .{{20,}}[.]$"
    with pytest.raises(TypeError, match=told):
        Estimator(**{name: 1})
    with pytest.raises(TypeError, match=told):
        Estimator().set_params(**{name: 1})


def test_other_names_are_pythons_to_refuse_and_signatures_stay():
    with pytest.raises(TypeError, match="unexpected keyword argument 'epsilom'"):
        DPLogisticRegression(epsilom=1.0)
    assert "epsilon" in inspect.signature(DPLogisticRegression).parameters
    assert not LINEAR & set(inspect.signature(DPLogisticRegression).parameters)


def test_a_solver_by_name_shows_its_parameters():
    model = DPLogisticRegression(solver="gd")
    assert model.get_params()["solver__steps"] == GD().steps
    assert "solver__steps" not in model.get_params(deep=False)
    assert not any(key.startswith("solver__") for key in DPLogisticRegression().get_params())


def test_parameters_go_round():
    for solver in ("auto", "gd", GD(steps=7)):
        model = DPLogisticRegression(solver=solver)
        given = model.get_params()
        assert model.set_params(**given).get_params() == given and model.solver == solver
        assert clone(model).get_params() == given
    assert DPLogisticRegression(solver="gd").set_params(solver__steps=9).solver == GD(steps=9)
    assert DPLogisticRegression().set_params(solver="gd", solver__steps=9).solver == GD(steps=9)
