"""How we learn: pure functions from data to a Fit."""
