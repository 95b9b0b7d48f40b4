"""Every page on how to add a thing is followed to the letter, in a copy, and so is every mistake that it names.

What a page adds stands beside its broken versions, each under a name of its own, and one run of the page's command has
to let the first pass and to fail each other one in the test that the page names.
"""

from itertools import islice

import pytest
from dry_runs.house import House, Verdict
from dry_runs.pages import PAGES, Addition, with_lines
from dry_runs.wrong import WRONG


def broken(page, most=None):
    """What could be wrong -> an addition with that and nothing else wrong, under names of its own."""
    right, found = Addition.read(page), {}
    for k, (what, wrong) in enumerate(islice(WRONG[page].items(), most), start=2):
        twin = right.without(wrong) if isinstance(wrong, str) else right.changed(*wrong)
        found[what] = twin.renamed(k)
    return found


def check_right(verdict, names, laws):
    """All that is said of it is good, and each law that a mistake would break was asked."""
    own = verdict.about(names)
    assert not own.failed, verdict.said[-3000:]
    for words in laws:
        assert any(all(word in test for word in words) for test in own.passed), f"{words} not asked"


def check_wrong(verdict, names, words):
    """It fails in the test that has these words in its name."""
    failed = verdict.about(names).failed
    assert any(all(word in test for word in words) for test in failed), f"{words} not in {failed}"


def follow(page, root, most=None):
    """Add what the page adds, and so many of its mistakes, and hear what the laws say."""
    house, right, twins = House(root), Addition.read(page), broken(page, most)
    everything = (right, *twins.values())
    for addition in everything:
        house.add(addition)
    for addition in everything:
        for command in addition.commands[:-1]:
            told = house.run(command)
            assert told.returncode == 0 or addition is not right, told.stderr
    verdict = house.ask(right.commands[-1])
    check_right(verdict, right.names, right.laws.values())
    for what, twin in twins.items():
        check_wrong(verdict, twin.names, right.laws[what])
    known = verdict.about([name for addition in everything for name in addition.names])
    assert not verdict.failed - known.failed, verdict.said[-3000:]


# What it adds is found by the laws that another page's command runs; all of it is tried with the slow tests.
BESIDE = "add_an_estimator_without_a_solver.md"
ASKED = [pytest.param(p, marks=pytest.mark.slow) if p == BESIDE else p for p in PAGES]


@pytest.mark.parametrize("page", ASKED)
def test_what_a_page_adds_is_lawful_and_its_first_mistake_fails_by_name(page, tmp_path):
    follow(page, tmp_path, most=1)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_each_mistake_that_a_page_names_fails_by_name(page, tmp_path):
    follow(page, tmp_path)


@pytest.mark.slow
def test_with_all_of_them_added_nothing_else_in_the_suite_asks_for_an_edit(tmp_path):
    house = House(tmp_path)
    for page in PAGES:
        house.add(addition := Addition.read(page))
        for command in addition.commands[:-1]:
            house.run(command)
    verdict = house.ask(f"pytest tests -m 'not slow' {ASIDE}")
    assert len(verdict.passed) > 5000
    assert not verdict.failed, verdict.said[-5000:]


# The log of replays is written by a command, and these look at files that are not copied.
ASIDE = (
    "--ignore=tests/benchmarks --ignore=tests/docs --ignore=tests/walls/test_tiers.py "
    "--deselect=tests/audit/test_frozen_replay.py"
)


# A mechanism has a proof, a worst pair and a twin; a metric has a truth.
FILES = {"add_a_mechanism.md": 4, "add_a_metric.md": 2}
# An estimator is in no registry: it is named where it is public, and where it is loaded from.
FACES = {"add_an_estimator.md", "add_an_estimator_without_a_solver.md", "add_a_transformer.md"}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_the_mistakes_that_are_made(page):
    addition = Addition.read(page)
    assert list(addition.laws) == list(WRONG[page]) and all(addition.laws.values())
    assert len(addition.lines) == 1, "one line, beside its import"
    assert len(addition.files) == FILES.get(page, 1)
    for added in addition.lines.values():
        assert added.count("\n+") == (3 if page in FACES else 2)


def test_a_law_that_says_nothing_and_a_test_that_did_not_run_are_noticed():
    words = ["test_law", "slope"]
    silent = Verdict({"t::test_law[slope-Toy]", "t::test_law[slope-Toy2]"}, set(), "")
    check_right(silent, ["Toy"], [words])
    with pytest.raises(AssertionError, match="slope"):
        check_wrong(silent, ["Toy2"], words)
    with pytest.raises(AssertionError, match="not asked"):
        check_right(silent, ["Toy"], [["test_law", "curvature"]])
    loud = Verdict({"t::test_law[slope-Toy]"}, {"t::test_law[slope-Toy2]"}, "")
    check_right(loud, ["Toy"], [words])
    check_wrong(loud, ["Toy2"], words)
    with pytest.raises(AssertionError):
        check_right(loud, ["Toy2"], [])


def test_lines_go_where_the_page_shows_them():
    assert with_lines("a\nb = {\n}\n", " a\n+c\n b = {\n+    d,\n") == "a\nc\nb = {\n    d,\n}\n"
    with pytest.raises(AssertionError, match="stands 0 times"):
        with_lines("a\n", " z\n+c\n")
    with pytest.raises(AssertionError, match="stands 2 times"):
        with_lines("a\na\n", " a\n+c\n")


def test_another_name_is_another_thing():
    text = "`skdp/x/_toy.py`:\n\n```python\nclass Toy:\n    toys = 'toy', Toy_\n```\n\n"
    page = Addition.parse(
        text + "```sh\npytest tests/test_toy.py -k Toy\n```\n\n| no | `test_x` |\n"
    )
    assert page.names == ("Toy", "toy") and page.laws == {"no": ["test_x"]}
    twin = page.renamed(2)
    assert twin.files == {"skdp/x/_toy2.py": "class Toy2:\n    toys = 'toy2', Toy_\n"}
    assert twin.commands == ("pytest tests/test_toy2.py -k Toy2",)
    with pytest.raises(AssertionError, match="stands 0 times"):
        page.changed("absent", "")
