"""Start the command, however it was called: ``python -m benchmarks.papers`` or ``python benchmarks/papers``."""

import os
import sys
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

from papers.command import main

main()
