"""The package says a thing once: what is shared has a name and a place."""

import pytest
from walls.duplicates import SHORTEST, package, pairs, per_thousand_lines

MOST = 0.8  # pairs of files for each thousand lines
LINES = [f"value_{k} = compute({k})" for k in range(SHORTEST)]
RUN = "\n".join(LINES) + "\n"


def test_the_package_hardly_says_a_thing_twice():
    everything = package()
    assert per_thousand_lines(everything) <= MOST, sorted(pairs(everything))


@pytest.mark.parametrize(
    "first, second, seen",
    [
        (RUN, RUN, True),
        (RUN, "x = 1\n\n" + RUN.replace("\n", "\n\n# why\n"), True),
        (RUN, "def f():\n" + "".join(f"    {line}\n" for line in LINES), True),
        ("\n".join(LINES[1:]), RUN, False),
        (RUN, RUN.replace("value_3", "another"), False),
        (
            f"import {', '.join(LINES[0][:5])}\n" * 9,
            f"import {', '.join(LINES[0][:5])}\n" * 9,
            False,
        ),
        (
            "from a import (\n" + "    b,\n" * 9 + ")\n",
            "from a import (\n" + "    b,\n" * 9 + ")\n",
            False,
        ),
        ("x = [\n[\n(\n{\n}\n)\n]\n]\n", "y = [\n[\n(\n{\n}\n)\n]\n]\n", False),
    ],
)
def test_a_run_in_two_files_is_seen_and_a_shorter_one_is_not(first, second, seen):
    found = pairs({"one.py": first, "other.py": second})
    assert list(found) == ([("one.py", "other.py")] if seen else [])
    assert per_thousand_lines({"one.py": first, "other.py": second}) > 0.0 or not seen


def test_two_places_of_one_file_are_a_pair_unless_they_are_one_place():
    assert list(pairs({"one.py": RUN + "x = 1\n" + RUN})) == [("one.py", "one.py")]
    assert pairs({"one.py": "x = 1\n" * (2 * SHORTEST - 1)}) == {}
    assert len(pairs({"one.py": RUN, "two.py": RUN, "three.py": RUN})) == 3
