"""Least squares and ridge by products with sparse rows alone: no matrix is formed or filled in."""
