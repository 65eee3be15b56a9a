"""Adaptive filters, sample by sample or block by block."""
