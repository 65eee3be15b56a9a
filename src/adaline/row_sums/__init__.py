"""Sums over rows, piece by piece: what objectives and moments are made of."""
