"""``python -m riskslim``: the command line."""

from riskslim.cli import main

if __name__ == "__main__":
    main()
