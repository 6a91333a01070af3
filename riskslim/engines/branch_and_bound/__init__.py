"""The native engine: branch and bound on the convex relaxation of the true loss."""
