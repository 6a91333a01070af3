"""A record of results: what the package computes, prints and writes, as files to compare.

    python -m benchmarks.results record DATA FOLDER            # some fifteen minutes of a processor
    python -m benchmarks.results record DATA FOLDER --short    # three
    python -m benchmarks.results compare FOLDER OTHER

A change that is to leave results as they are is made between two records, which have to agree to
the bit. A record uses public names and the command line only, so that it can be made of the code
before and after it is rebuilt; ``doors.py`` has the calls whose form may change.
"""
