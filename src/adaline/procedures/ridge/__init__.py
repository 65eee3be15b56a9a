"""Squared errors with a penalty: one eigendecomposition for every penalty."""
