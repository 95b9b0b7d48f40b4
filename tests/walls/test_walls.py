"""Who may import whom, where randomness may appear, what a solver may name, and how long a thing may be."""

import dataclasses
import inspect
from pathlib import Path

import pytest
from walls.checks import WALLS, modules, name_of

from skdp.mechanisms import MECHANISMS
from skdp.solvers import SOLVERS

LAZY = "if TYPE_CHECKING:\n    {0}\nelse:\n    __getattr__, __dir__ = attach(__name__, {{{1}}})\n"
LONG = "def long():\n    '''Doc.'''\n" + "    x = 1\n" * 61

# For each wall, files that break it. Each must be complained of, and of nothing but its own fault.
BREACHES = [
    ("imports", "solvers/x.py", "from ..mechanisms import Records\n"),
    ("imports", "solvers/x.py", "from ..mechanisms._oracle import Oracle\n"),
    ("imports", "solvers/x.py", "from ..privacy import accountants\n"),
    ("imports", "solvers/x.py", "import sklearn\n"),
    ("imports", "solvers/x.py", "import skdp.privacy.ledger\n"),
    ("imports", "mechanisms/x.py", "from ..solvers import GD\n"),
    ("imports", "mechanisms/x.py", "from ..fitting import prepare\n"),
    ("imports", "privacy/x.py", "from ..mechanisms import Noise\n"),
    ("imports", "privacy/x.py", "from skdp.losses import Logistic\n"),
    ("imports", "losses/x.py", "from ..mechanisms import Records\n"),
    ("imports", "losses/x.py", "from skdp import penalties\n"),
    ("imports", "models/x.py", "import joblib\n"),
    ("imports", "linear_model/x.py", "from ..mechanisms import Noise\n"),
    ("imports", "datasets/x.py", "import pandas\n"),
    ("imports", "anywhere.py", "import torch\n"),
    (
        "private",
        "linear_model/x.py",
        "from sklearn.linear_model._base import LinearClassifierMixin\n",
    ),
    ("private", "linear_model/x.py", "from sklearn.utils import _safe_indexing\n"),
    ("private", "linear_model/x.py", "import sklearn._loss\n"),
    ("callers", "fitting/x.py", "import sys\nframe = sys._getframe(1)\n"),
    ("callers", "fitting/x.py", "def f(frame):\n    return frame.f_back.f_locals\n"),
    ("callers", "fitting/x.py", "def f(frame):\n    return getattr(frame, 'f_locals')\n"),
    ("callers", "fitting/x.py", "import inspect\nf = inspect.stack()\n"),
    ("callers", "fitting/x.py", "from inspect import stack\n"),
    ("callers", "_messages.py", "import inspect\nf = inspect.currentframe()\n"),
    ("callers", "anywhere.py", "ROOM = ('sklearn.model_selection._search', 'fit')\n"),
    ("randomness", "solvers/x.py", "import numpy as np\nz = np.random.normal()\n"),
    ("randomness", "solvers/x.py", "from numpy.random import default_rng\n"),
    ("randomness", "mechanisms/x.py", "from numpy import random\n"),
    ("randomness", "mechanisms/x.py", "import os\nb = os.urandom(8)\n"),
    ("randomness", "mechanisms/x.py", "import random\n"),
    ("randomness", "privacy/ledger/_file.py", "import os\nb = os.urandom(16)\n"),
    ("randomness", "privacy/ledger/_state.py", "import os\nb = os.getrandom(16)\n"),
    ("randomness", "privacy/ledger/_state.py", "from numpy.random import default_rng\n"),
    ("randomness", "privacy/x.py", "from scipy import stats\nfrom scipy.stats import norm\n"),
    ("randomness", "solvers/x.py", "from sklearn.utils import check_random_state\n"),
    ("records", "solvers/x.py", "def f(oracle):\n    return oracle._Oracle__records\n"),
    ("records", "solvers/x.py", "def f(records):\n    return records\n"),
    ("records", "solvers/x.py", "def f(oracle):\n    return oracle.records\n"),
    ("records", "solvers/x.py", "def f(q, r):\n    return q.measure(r)\n"),
    ("records", "solvers/x.py", "def f(oracle):\n    return getattr(oracle, 'x')\n"),
    ("records", "solvers/x.py", "import gc\n"),
    # AUC's noise by the exact larger class; R2's third range by the exact mean error; counts put on the exact n.
    ("counts", "metrics/x.py", "def auc(held):\n    return _Area(max(held.codes.sum(), 1))\n"),
    ("counts", "metrics/x.py", "def r2(held):\n    return _R2(abs(held.numbers()).mean())\n"),
    ("counts", "metrics/x.py", "def of(estimator, X, y):\n    return ByClass(len(X), 4)\n"),
    ("counts", "metrics/x.py", "def f(n, y):\n    return n if n else y.shape[0]\n"),
    ("counts", "metrics/x.py", "def f(held):\n    def ask(put):\n        return held\n"),
    ("counts", "metrics/x.py", "def f(held):\n    return lambda put: put(held)\n"),
    ("counts", "metrics/x.py", "def outcomes(self, held):\n    SEEN['n'] = len(held.codes)\n"),
    ("counts", "metrics/x.py", "def outcomes(self, held):\n    self.n = len(held.codes)\n"),
    ("counts", "metrics/x.py", "def outcomes(self, held):\n    SEEN.append(held.codes)\n"),
    ("counts", "metrics/x.py", "def f(held):\n    return _Area(len(getattr(held, 'codes')))\n"),
    ("counts", "metrics/x.py", "def f(held):\n    global n\n    n = 3\n"),
    (
        "counts",
        "metrics/x.py",
        "def _n(held):\n    return len(held.codes)\ndef ask(self, put, held):\n    return put(_n(held))\n",
    ),
    ("prices", "x.py", "def f(r):\n    return f'{r.epsilon:.4g}'\n"),
    ("prices", "x.py", "def f(spent_before):\n    return f'{spent_before:g}'\n"),
    # Loaded from another place than is shown, or not at all; hidden by a module of the same name.
    ("homes", "x/__init__.py", LAZY.format("from .a import A", "'A': 'b'")),
    ("homes", "x/__init__.py", LAZY.format("from .a import A, B", "'A': 'a'")),
    ("homes", "x/__init__.py", LAZY.format("from .a import A", "'A': 'a', 'B': 'b'")),
    ("homes", "x/__init__.py", LAZY.format("from .a import A", "'A': '..mechanisms.a'")),
    ("homes", "x/__init__.py", LAZY.format("from .a import A", "'A': 'a', **more")),
    ("homes", "x/__init__.py", LAZY.format("from .a import A", "'A': 'a'") + "__all__ = ['B']\n"),
    ("homes", "solvers/__init__.py", LAZY.format("from .a import gd", "'gd': 'a'")),
    (
        "homes",
        "x/__init__.py",
        LAZY.format("from .a import A", "") + "KINDS = Registry('x', {'a': 'a.A', 'b': 'b.B'})\n",
    ),
    # What only a type checker reads is an import too.
    ("imports", "privacy/x.py", "if TYPE_CHECKING:\n    from ..mechanisms import Noise\n"),
    ("sizes", "x.py", "x = 1\n" * 601),
    ("sizes", "x.py", LONG),
    ("docstrings", "x.py", "x = 1\n"),
    ("docstrings", "x.py", "'''Doc.'''\ndef f():\n    pass\n"),
    (
        "docstrings",
        "x.py",
        "'''Doc.'''\nclass A:\n    '''Doc.'''\n    def f(self):\n        pass\n",
    ),
]


@pytest.mark.parametrize("path", modules(), ids=name_of)
@pytest.mark.parametrize("wall", WALLS)
def test_wall_holds(wall, path):
    assert list(WALLS[wall](path.read_text(encoding="utf-8"), name_of(path))) == []


@pytest.mark.parametrize("wall, name, source", BREACHES)
def test_wall_can_fail(wall, name, source):
    assert list(WALLS[wall](source, name))


@pytest.mark.parametrize("question", sorted(MECHANISMS, key=lambda q: q.__name__))
def test_questions_are_frozen_and_plain(question):
    assert dataclasses.is_dataclass(question) and question.__dataclass_params__.frozen
    hidden = [f.name for f in dataclasses.fields(question) if f.name.startswith("_")]
    assert hidden == [], "every field of a question is public"
    assert isinstance(question.proof, str)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_are_frozen_and_see_an_oracle_only(name):
    solver = SOLVERS[name]
    assert solver.name == name
    assert dataclasses.is_dataclass(solver) and solver.__dataclass_params__.frozen
    assert list(inspect.signature(solver.solve).parameters) == ["self", "oracle", "task", "budget"]
    plain = (bool, int, float, str, tuple, type(None))
    assert all(isinstance(value, plain) for value in solver().get_params().values())
    assert "Privacy:" in inspect.getmodule(solver).__doc__, "the file says why it is private"


def test_one_command_can_collect_all_tests():
    """pytest takes two files of one name for the same module, and refuses the second."""
    names = [path.name for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert len(names) > 200 and sorted(names) == sorted(set(names))
