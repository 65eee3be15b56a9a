"""Rows in good units, and everything that is summed over them."""
