"""Pages on how to add a thing, read as what they are: files, lines, commands, and what the laws say."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from walls.checks import ROOT

PAGES = sorted(path.name for path in (ROOT / "docs").glob("add_a*.md"))
BLOCK = re.compile(r"`([\w/.]+)`:\n\n```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| ([^|`]+) \| (`.*`) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Addition:
    """What a page adds.

    Parameters
    ----------
    files : dict
        Path -> text of a new file; the first is the thing itself.
    lines : dict
        Path -> lines that are added to a file, each after the one that stands before it.
    commands : tuple of str
        What is run then; the last is pytest.
    laws : dict
        What could be wrong -> words that the name of a failing test then has.
    """

    files: dict
    lines: dict
    commands: tuple
    laws: dict

    @classmethod
    def read(cls, page):
        """From docs/."""
        return cls.parse((ROOT / "docs" / page).read_text(encoding="utf-8"))

    @classmethod
    def parse(cls, text):
        """From the text of a page."""
        blocks = BLOCK.findall(text)
        (commands,) = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        return cls(
            {path: block for path, language, block in blocks if language != "diff"},
            {path: block for path, language, block in blocks if language == "diff"},
            tuple(commands.splitlines()),
            {what: re.findall(r"`(\w+)`", test) for what, test in ROW.findall(text)},
        )

    @property
    def names(self):
        """Of the classes in the first file, and of the file."""
        path, text = next(iter(self.files.items()))
        return (*re.findall(r"^class (\w+)", text, re.MULTILINE), Path(path).stem.lstrip("_"))

    def renamed(self, k):
        """The same under other names, so that it can stand beside the first."""
        names = "|".join(self.names)
        word = re.compile(rf"(?<![A-Za-z0-9])({names})(?![A-Za-z0-9_])")

        def new(text):
            return word.sub(rf"\g<1>{k}", text)

        return replace(
            self,
            files={new(path): new(text) for path, text in self.files.items()},
            lines={path: new(text) for path, text in self.lines.items()},
            commands=tuple(map(new, self.commands)),
        )

    def without(self, word):
        """Without the one file whose path has this in it."""
        (path,) = [path for path in self.files if word in path]
        return replace(self, files={p: text for p, text in self.files.items() if p != path})

    def changed(self, old, new):
        """With one thing in the first file replaced."""
        path, text = next(iter(self.files.items()))
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
        return replace(self, files={**self.files, path: text.replace(old, new)})


def with_lines(text, added):
    """A text with lines after those that stand before them, as a page shows it.

    Parameters
    ----------
    text : str
        Of the file.
    added : str
        Lines with a blank in front, which stand in the file, and with a plus, which come after.
    """
    lines, at = text.splitlines(), None
    for line in added.splitlines():
        if line.startswith("+"):
            assert at is not None, f"nothing says where {line!r} belongs"
            lines.insert(at + 1, line[1:])
            at += 1
        else:
            found = [i for i, there in enumerate(lines) if there == line[1:]]
            assert len(found) == 1, f"{line[1:]!r} stands {len(found)} times"
            at = found[0]
    return "\n".join(lines) + "\n"
