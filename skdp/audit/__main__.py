"""``python -m skdp.audit replay``: replay every mechanism and solver on adversarial neighbours, print the log."""

import argparse
import sys

from ._replay_log import page, replays


def main(argv: list[str] | None = None) -> int:
    """Run the command with these arguments, or those of the process; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m skdp.audit", description=__doc__)
    parser.add_argument("what", choices=["replay"])
    parser.add_argument("--only", default="", help="subjects whose name holds this text")
    given = parser.parse_args(argv)
    lines = []
    for line in replays(lambda subject, relation: given.only in subject):
        print(f"{line[0]}, {line[1]}: {len(line[-1])} findings", file=sys.stderr)
        lines.append(line)
    print(page(lines), end="")
    return int(any(line[-1] for line in lines))


if __name__ == "__main__":
    sys.exit(main())
