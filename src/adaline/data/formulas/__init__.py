"""Formulas: which columns to use, and what to make of them."""
