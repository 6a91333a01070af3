"""Rules: the best share of one class that is called right, where that of the other is required."""
