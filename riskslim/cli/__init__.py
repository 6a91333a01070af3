"""The command line: ``riskslim fit``, ``predict``, ``show``, ``report``, ``export``, ``demo``."""
