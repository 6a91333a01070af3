"""Rows that are not all in one piece of memory: one interface, whatever holds them."""
