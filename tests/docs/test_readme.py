"""Every block of code in the README and the guide does what it says."""

import json
import re
from pathlib import Path

import pytest

from skdp import _demo
from skdp.datasets import load_csv

ROOT = Path(__file__).parents[2]
GUIDE = ["guide", "threat_model", "pitfalls", "choose_a_solver", "receipts", "evaluation"]
GUIDE += ["tables", "persons", "deployment", "start/statistician", "start/privacy_officer"]
GUIDE += ["start/auditor", "start/diffprivlib"]
PAGES = ["README.md", *(f"docs/{name}.md" for name in GUIDE)]


def blocks(text, language):
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


# Blocks that go on from each other, and what else a page needs to run is not asked for here.
STORIES = ["accounting", "budgets", "calibration", "from_scikit_learn", "intervals", "naive_bayes"]
STORIES += ["networks", "ranking"]
ELSEWHERE = "import torch"  # nox -s torch

CODE = [
    pytest.param(block, id=f"{page}-{number}")
    for page in PAGES
    for number, block in enumerate(blocks((ROOT / page).read_text(), "python"))
]


@pytest.mark.filterwarnings("ignore::skdp.PrivacyWarning")
@pytest.mark.parametrize("block", CODE)
def test_python_blocks_run_and_print_a_guarantee(block, capsys):
    exec(compile(block, "page", "exec"), {"__name__": "page"})
    assert "epsilon" in capsys.readouterr().out or "privacy_.epsilon" in block


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", STORIES)
def test_blocks_of_a_page_run_one_after_another(name):
    space = {"__name__": "page"}
    for block in blocks((ROOT / "docs" / f"{name}.md").read_text(), "python"):
        if ELSEWHERE not in block:
            exec(compile(block, name, "exec"), space)
    assert len(space) > 3


def test_a_broken_block_is_found_and_fails():
    """The extraction sees blocks, and running one is a check that can fail."""
    (broken,) = blocks("text\n```python\nimport skdp\nskdp.absent()\n```\n", "python")
    with pytest.raises(AttributeError):
        exec(compile(broken, "page", "exec"), {})
    assert len(CODE) >= 3


def test_readme_shows_ten_lines_of_code():
    block, *_ = blocks((ROOT / "README.md").read_text(), "python")
    assert len([line for line in block.splitlines() if line.strip()]) <= 11


def test_readme_commands_are_parsed_by_the_command():
    lines = "".join(blocks((ROOT / "README.md").read_text(), "sh")).splitlines()
    assert any(line.startswith("pip install . && python -m skdp") for line in lines)
    assert any(line.startswith("pip install '.[test]' && pytest") for line in lines)
    (own,) = [line for line in lines if "--csv" in line]
    arguments = _demo._parser().parse_args(own.split()[3:])
    assert (arguments.csv, arguments.target, arguments.bounds) == (
        "people.csv",
        "income",
        "bounds.json",
    )


def test_readme_declaration_is_accepted(tmp_path):
    (declaration,) = blocks((ROOT / "README.md").read_text(), "json")
    (tmp_path / "bounds.json").write_text(declaration)
    names = list(json.loads(declaration))
    people = tmp_path / "people.csv"
    people.write_text(",".join(names) + "\n41,2000,female,high\n")
    table = load_csv(people, target="income", bounds=tmp_path / "bounds.json")
    assert table.symlog == {"capital_gain"} and table.target.tolist() == [1]


def test_readme_is_short_and_its_links_work_on_a_package_index():
    text = (ROOT / "README.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", text)
    pattern = r"https://github.com/skdp/skdp/(?:blob|tree)/main/([\w./]+)"
    named = [re.fullmatch(pattern, link)[1] for link in links]
    assert len(named) > 10 and [path for path in named if not (ROOT / path).exists()] == []
    assert len(text.splitlines()) <= 120


@pytest.mark.parametrize(
    "page", [*PAGES, "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"]
)
def test_links_lead_somewhere(page):
    path = ROOT / page
    links = re.findall(r"\]\(([^)#]+)\)", path.read_text())
    missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert not missing
