"""One command for each check: ``nox -s tests``, ``nox -l`` for the list. `.ci/run` runs them from an empty machine."""

from pathlib import Path

import nox

nox.options.sessions = ["lint", "types", "doctests", "coverage", "tests"]
nox.options.reuse_existing_virtualenvs = True

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# Where the trusted rooms are held to their laws: coverage is measured over these alone, so that a line that some fit
# happens to pass through does not count as tested.
TRUSTED = ["tests/entry", "tests/mechanisms", "tests/privacy", "tests/laws", "tests/sabotage"]
# The least versions that pyproject.toml admits; joblib's is the one that scikit-learn asks for.
OLDEST = [
    "numpy==1.24.*",
    "scipy==1.11.*",
    "scikit-learn==1.6.*",
    "joblib==1.2.*",
    "threadpoolctl==3.1.*",
]
# Beside old versions the tests that need pandas 3 or dp-accounting are left out.
OLDEST_TESTS = ["tests/estimators/test_smoke.py", "tests/laws", "tests/mechanisms"]


# Everything but hours of draws: `pytest` alone leaves out what is heavy, too.
ALL = ["-m", "not slow"]


def _pytest(session, *arguments):
    session.run("python", "-m", "pytest", *ALL, *arguments, *session.posargs, env=ONE_THREAD)


@nox.session
def tests(session):
    """Every test but the slow ones, as `.ci/run` has them."""
    session.install(".[test]")
    _pytest(session, "-n", "auto")


@nox.session
def quick(session):
    """The suite of `pytest` alone: no test that is heavy."""
    session.install(".[test]")
    _pytest(session, "-n", "auto", "-m", "not slow and not heavy")


@nox.session
def smoke(session):
    """A few cases of each folder."""
    session.install(".[test]")
    _pytest(session, "-n", "auto", "-m", "smoke")


@nox.session
def heavy(session):
    """Measure every test anew, and write tests/heavy.txt: on a machine that does nothing else."""
    session.install(".[test]")
    _pytest(session, "-n", "2", "--write-heavy")


@nox.session
def torch(session):
    """What needs PyTorch: its tests are left out where it is not installed."""
    session.install(".[test,torch]")
    _pytest(session, "tests/laws/test_torch_laws.py", "tests/estimators/test_torch_networks.py")
    _pytest(session, "tests/estimators/test_sklearn_checks.py", "-k", "DPTorch")


@nox.session
def slow(session):
    """Real draws in large numbers, audits and grids: hours."""
    session.install(".[test]")
    _pytest(session, "-n", "auto", "-m", "slow")


@nox.session
def doctests(session):
    """Every example of a docstring."""
    session.install(".[test]")
    _pytest(session, "--doctest-modules", "skdp")


@nox.session
def coverage(session):
    """Lines and branches of the trusted rooms, with the floor of pyproject.toml."""
    session.install(".[test]")
    _pytest(session, "--cov", "-n", "auto", *TRUSTED)


@nox.session
def types(session):
    """mypy, with the options of pyproject.toml."""
    session.install(".[test]")
    session.run("mypy")


@nox.session
def lint(session):
    """ruff, rules and format."""
    session.install("ruff>=0.6")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def docs(session):
    """The site in docs/_build: pages, reference, and the examples as they run."""
    session.install(".[docs]")
    session.run(
        "sphinx-build", "-W", "--keep-going", "-b", "html", "docs", "docs/_build", env=ONE_THREAD
    )


@nox.session
def release(session):
    """Wheel and source archive, checked; then the wheel alone in an empty environment: command, doctests."""
    files = Path(session.create_tmp()).resolve()
    session.install("build", "twine", "check-wheel-contents")
    session.run("python", "-m", "build", "--outdir", str(files))
    built = sorted(map(str, files.glob("skdp-*")))
    session.run("twine", "check", "--strict", *built)
    (wheel,) = (name for name in built if name.endswith(".whl"))
    session.run("check-wheel-contents", wheel)
    session.run("python", "-m", "venv", "--clear", str(files / "empty"))
    python = str(files / "empty" / "bin" / "python")
    with session.chdir(files):
        session.run(python, "-m", "pip", "install", "-q", wheel, external=True)
        session.run(python, "-m", "skdp", external=True, env=ONE_THREAD)
        more = ["pytest", "pandas", "polars", "matplotlib", "cryptography", "dp-accounting==0.6.0"]
        session.run(python, "-m", "pip", "install", "-q", *more, external=True)
        doctests = ["-m", "pytest", "-q", "--doctest-modules", "--pyargs", "skdp"]
        session.run(python, *doctests, external=True, env=ONE_THREAD)


@nox.session
def oldest(session):
    """A part of the suite on the oldest versions that are supported."""
    session.install(".", *OLDEST, "pytest", "hypothesis", "mpmath")
    _pytest(session, *OLDEST_TESTS)


@nox.session
def newest(session):
    """Every test but the slow ones on what is released today, pre-releases included."""
    session.install("--pre", "--upgrade", ".[test]")
    _pytest(session, "-n", "auto")
