"""``python -m riskslim``: the command line, or a sentence about what it needs."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; without its packages, say how to get them and exit with code 2."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        sys.stderr.write(
            f"Error: the command line needs the package {error.name}, which is not installed: "
            'pip install "riskslim[cli]"\n'
        )
        raise SystemExit(2) from None
    from riskslim.cli import main as run

    run()


if __name__ == "__main__":
    main()
