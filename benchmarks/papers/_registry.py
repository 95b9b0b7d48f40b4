"""All figures and tables, by name, in the order of the documents."""

from . import _curves, _linear, _settings, _simulated, _table_3, _work

__all__ = ["FIGURES"]

ORDER = ("C 3", "C 4", "C 5", "C 6", "LK", "Z")
ALL = [
    figure
    for module in (_curves, _linear, _settings, _simulated, _table_3, _work)
    for figure in module.FIGURES
]
FIGURES = {
    figure.name: figure
    for figure in sorted(
        ALL, key=lambda f: (next(i for i, d in enumerate(ORDER) if f.name.startswith(d)), f.name)
    )
}
