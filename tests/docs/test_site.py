"""The site: its examples are whole programs, its links are rewritten as they should, and no page is lost."""

import re
import runpy
import warnings

import pytest
from walls.checks import ROOT

DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))
SHORT = ["budgets/plot_4_composition.py", "audits/plot_3_filed_receipt.py"]
REPOSITORY = runpy.run_path(str(DOCS / "_ext" / "repository.py"))
TREE = {".md": r"{toctree}(.*?)```", ".rst": r"toctree::(.*?)(?:\n\S|\Z)"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_example_compiles_and_begins_with_a_title(path):
    source = path.read_text(encoding="utf-8")
    compile(source, str(path), "exec")
    _, title, line, *_ = source.split("\n")
    assert title and line == "=" * len(title)


def test_there_are_thirty_examples_and_sections_have_a_heading():
    assert len(EXAMPLES) >= 30
    assert all((path.parent / "README.rst").exists() for path in EXAMPLES)


@pytest.mark.parametrize("name", SHORT)
def test_short_examples_run(name, monkeypatch, capsys):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    runpy.run_path(str(ROOT / "examples" / name))
    assert capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_examples_run(path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(path))


def test_links_out_of_the_pages_lead_to_the_repository():
    rewrite, forge = REPOSITORY["rewrite"], REPOSITORY["FORGE"]
    changed = {
        "[a](choose.md#epsilon)": "[a](choose.md#epsilon)",
        "[a](proofs/)": "[a](proofs.md)",
        "[a](../tests/laws)": f"[a]({forge}/tree/main/tests/laws)",
        "[a](../noxfile.py)": f"[a]({forge}/blob/main/noxfile.py)",
        f"[a]({forge}/blob/main/docs/choose.md)": "[a](choose.md)",
        "[a](https://example.org/choose.md)": "[a](https://example.org/choose.md)",
        "[a](nowhere.md)": "[a](nowhere.md)",
        "[choose.md](choose.md)": "[](choose.md)",
        "[a](../examples)": "[a](gallery/index.rst)",
        "[a](../examples/start/plot_5_text.py)": "[a](gallery/start/plot_5_text.rst)",
    }
    assert {text: rewrite(text, DOCS) for text in changed} == changed
    assert rewrite("[a](docs/choose.md)", ROOT, DOCS) == "[a](choose.md)"


def test_every_page_is_in_a_table_of_contents_and_its_links_lead_somewhere():
    pages = [*DOCS.glob("*.md"), *DOCS.glob("*.rst"), *(DOCS / "start").glob("*.md")]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    listed = {"index"}
    for page, text in texts.items():
        for tree in re.findall(TREE[page.suffix], text, re.DOTALL):
            for line in re.findall(r"^ *(?:.*<)?([\w/]+)>?$", tree, re.MULTILINE):
                start = DOCS if line.startswith("/") else page.parent
                listed.add((start / line.strip("/")).relative_to(DOCS).as_posix())
        links = re.findall(r"\]\(([^)#\s]+)", text)
        lost = [k for k in links if "://" not in k and not (page.parent / k).exists()]
        made = [link for link in lost if link.startswith("api/")]  # when the site is built
        assert lost == made or page.name.startswith("add_a"), page
    names = {page.relative_to(DOCS).with_suffix("").as_posix() for page in pages}
    assert names - listed == set()
