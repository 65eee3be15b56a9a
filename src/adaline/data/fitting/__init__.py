"""Fits on blocks of rows: `fit`, the sums of `Chunks`, and a module for each kind of learner."""
