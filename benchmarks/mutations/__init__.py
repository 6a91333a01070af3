"""Places of the package that are broken one at a time, to see whether tests notice."""
