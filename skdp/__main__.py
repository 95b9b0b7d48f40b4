"""``python -m skdp``: what privacy costs, on a table of your choice."""

import sys

from ._demo import main

if __name__ == "__main__":
    sys.exit(main())
