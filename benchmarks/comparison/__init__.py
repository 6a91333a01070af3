"""RiskSLIM beside traditional and pooled approaches, on the paper's data sets (section 5)."""
