"""The program ``riskslim``, also as ``python -m riskslim``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported is no error, either."""
    try:
        from riskslim.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
