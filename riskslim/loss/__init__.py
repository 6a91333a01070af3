"""The normalised logistic loss, and what can be proven about scores and intercepts."""
