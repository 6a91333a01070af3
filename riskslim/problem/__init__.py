"""The risk score problem (Definition 1)."""
