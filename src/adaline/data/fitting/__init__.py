"""Fits on streams of blocks."""
