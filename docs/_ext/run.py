"""The directive ``run``: Python that is run while the site is built, and what it printed below it.

The last line may be an expression: what it is worth is shown as a notebook would show it. ``:hide-code:`` leaves out
the code. Blocks of one page share their names.
"""

import ast
import contextlib
import io
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


def run(code, space):
    """What the code prints, and the value of its last line if that is an expression, else None."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, "<page>", "exec"), space)
        value = eval(compile(ast.Expression(last.value), "<page>", "eval"), space) if last else None
    return printed.getvalue(), value


class Run(SphinxDirective):
    """Shows code and what it prints."""

    has_content = True
    option_spec: ClassVar = {"hide-code": directives.flag}

    def run(self):
        """The nodes of the block."""
        code = "\n".join(self.content)
        space = self.env.temp_data.setdefault("run", {"__name__": "page"})
        printed, value = run(code, space)
        found = []
        if "hide-code" not in self.options:
            found.append(nodes.literal_block(code, code, language="python"))
        if printed:
            found.append(nodes.literal_block(printed, printed, language="text", classes=["output"]))
        if hasattr(value, "_repr_html_"):
            html = f'<div class="output-html">{value._repr_html_()}</div>'
            found.append(nodes.raw("", html, format="html"))
        elif value is not None:
            found.append(nodes.literal_block(repr(value), repr(value), language="text"))
        return found


def setup(app):
    """Called by Sphinx."""
    app.add_directive("run", Run)
    return {"parallel_read_safe": True}
