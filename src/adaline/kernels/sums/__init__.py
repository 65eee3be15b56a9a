"""Tiles of rows and their sums."""
