"""Losses summed over rows, dual coordinate descent, and the sums behind a duality gap."""
