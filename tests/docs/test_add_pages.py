"""The pages on adding a loss and a penalty: their links lead somewhere, their code is lawful."""

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "laws"))

import loss_laws
import penalty_laws

ROOT = Path(__file__).parents[2]


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def example(name, of):
    """The class of the page's only block of code."""
    (block,) = re.findall(r"```python\n(.*?)```", page(name), flags=re.DOTALL)
    namespace = {"__name__": name}
    exec(compile(block, name, "exec"), namespace)
    return namespace[of]()


@pytest.mark.parametrize("name", ["add_a_loss.md", "add_a_penalty.md"])
def test_links_lead_somewhere(name):
    links = re.findall(r"\]\(([^)#]+)\)", page(name))
    assert len(links) >= 5
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []


@pytest.mark.parametrize("law", loss_laws.LAWS, ids=lambda law: law.__name__)
def test_example_loss_is_lawful(law):
    law(example("add_a_loss.md", of="LogCosh"))


@pytest.mark.parametrize("law", penalty_laws.LAWS, ids=lambda law: law.__name__)
def test_example_penalty_is_lawful(law):
    law(example("add_a_penalty.md", of="NonNegativeL1"))
