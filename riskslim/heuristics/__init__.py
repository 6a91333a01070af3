"""Good scores without a proof: descent, rounding, subsamples."""
