"""What contributors are told is so: paths, sessions, versions, addresses and dependencies agree with each other."""

import ast
import re
import runpy
import tomllib
from pathlib import Path

import pytest
from walls.checks import ROOT, RUN_TIME, imports, modules, name_of
from walls.sizes import rooms

import skdp

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PAGES = ["CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]
MODULES = {"scikit-learn": "sklearn"}  # distributions whose module has another name


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


def constants(source):
    """Lists of strings at the top of a Python file, by name."""
    return {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
        if isinstance(node.targets[0], ast.Name)
    }


NOX = constants(text("noxfile.py"))


def least(requirement):
    """(distribution, least version) of a requirement."""
    return re.fullmatch(r"([\w-]+)[>=]=([\d.]+?)(?:\.\*)?", requirement).groups()


def missing_paths(page):
    """Paths of this repository that a page names and that are not there."""
    named = re.findall(r"(?<![\w/])(?:skdp|tests|docs|benchmarks)/[\w./-]*\w", page)
    return [path for path in named if not (ROOT / path).exists() and path != "docs/_build"]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", text(page))
    assert links and [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, ".github/PULL_REQUEST_TEMPLATE.md", "noxfile.py"])
def test_named_paths_exist(page):
    assert missing_paths(text(page)) == []


def test_a_named_path_can_be_missing():
    assert missing_paths("see tests/laws/ and `tests/laws/test_nothing.py`.") == [
        "tests/laws/test_nothing.py"
    ]


def test_named_sessions_exist():
    sessions = set(re.findall(r"^@nox.session\ndef (\w+)", text("noxfile.py"), re.MULTILINE))
    listed = re.search(r"`nox -l` lists one command for each check \(([^)]*)\)", text(PAGES[0]))
    assert {name.strip() for name in listed[1].split(",")} == sessions
    for names in re.findall(r"`nox -s ([\w ]+)`", text(PAGES[0])):
        assert set(names.split()) <= sessions


def test_the_version_is_one():
    (cited,) = re.findall(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE)
    assert cited == PROJECT["version"] == skdp.__version__


def test_the_address_is_one():
    home = PROJECT["urls"]["Homepage"]
    assert all(url.startswith(home) for url in PROJECT["urls"].values())
    assert f"repository-code: {home}\n" in text("CITATION.cff")
    for page in [*PAGES[:2], ".github/ISSUE_TEMPLATE/config.yml"]:
        found = re.findall(r"https://[^\s>/]+/[^\s>/]+/[^\s>/]+", text(page))
        assert found and set(found) == {home}


def test_every_dependency_is_imported_and_nothing_else_is_needed():
    declared = {MODULES.get(name, name) for name, _ in map(least, PROJECT["dependencies"])}
    used = {
        module.split(".")[0]
        for path in modules()
        for module, _, _, _ in imports(path.read_text(encoding="utf-8"), name_of(path))
    }
    assert declared == RUN_TIME and declared <= used


def test_the_oldest_versions_are_the_ones_that_are_declared():
    pinned = dict(map(least, NOX["OLDEST"]))
    assert {**pinned, **dict(map(least, PROJECT["dependencies"]))} == pinned
    assert all(f"'{pin}'" in text(".ci/run") for pin in NOX["OLDEST"])


def test_the_same_folders_are_measured_everywhere():
    folders = " ".join(NOX["TRUSTED"])
    assert f"trusted=({folders})" in text(".ci/run")
    assert f"`pytest -m 'not slow' {folders} --cov`" in text("CONTRIBUTING.md")
    assert 'newest --cov -n 2 --dist worksteal "${trusted[@]}"' in text(
        ".ci/run"
    )  # --cov eats a path that follows it
    assert all(Path(ROOT, folder).is_dir() for folder in NOX["TRUSTED"])


def test_the_reference_has_every_public_room_and_name():
    reference = runpy.run_path(str(ROOT / "docs" / "_ext" / "reference.py"))
    pages, home, first = reference["pages"](), reference["homes"](), reference["index"]()
    for room in rooms():
        assert f"   {room.__name__}\n" in first
        for name in reference["public"](room):
            where = home.get(id(getattr(room, name)), f"{room.__name__}.{name}")
            folder, _, short = where.rpartition(".")
            assert f"   {short}\n" in pages[f"{folder}.rst"].replace("~", ""), where
