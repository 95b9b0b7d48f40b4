"""The figures and tables of the source papers, made again by one command.

    python -m benchmarks.papers list
    SKDP_DATA=/path/to/data python -m benchmarks.papers run "C 3.1" [--quick] [--jobs 2]
    SKDP_DATA=/path/to/data python -m benchmarks.papers run all
    python -m benchmarks.papers page

Here and not in the wheel: what reads data files, keeps results and draws is no part of a library that guards records.
"""
