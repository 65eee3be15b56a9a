"""Tiles of rows and their sums.

Legend: X (n, p) samples, Y (n, k) targets, root (n,) square roots of the sample weights, scale
powers of two, shift what is subtracted. A tile is a block of rows copied to one reused buffer that
stays in cache; all that follows reads the tile, so float32, strided and sparse input share one
arithmetic.
"""
