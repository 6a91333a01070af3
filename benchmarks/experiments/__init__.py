"""The performance figures of Ustun & Rudin (2019), repeated on simulated data."""
