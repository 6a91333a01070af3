"""The program ``riskslim``, also as ``python -m riskslim``."""

from __future__ import annotations

from riskslim.cli.exit_codes import EXIT_INTERRUPTED, EXIT_OUTPUT
from riskslim.cli.signals import comes_of_ctrl_c, ignore_signals
from riskslim.cli.streams import emit, print_failure, tolerant_streams

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported is no error, either."""
    with tolerant_streams():
        try:
            from riskslim.cli.app import main as run

            run()
        except (KeyboardInterrupt, ImportError) as error:
            if not comes_of_ctrl_c(error):
                raise
            emit("Interrupted.", err=True)
            raise SystemExit(EXIT_INTERRUPTED) from None
        except SystemExit as end:
            # What the commands do not print themselves, such as the help.
            if not end.code and (reason := print_failure()):
                emit(f"Error: {reason}", err=True)
                raise SystemExit(EXIT_OUTPUT) from None
            raise
        finally:
            ignore_signals()


if __name__ == "__main__":
    main()
