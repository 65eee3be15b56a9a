"""Gaussian densities of classes by maximum likelihood, with shrinkage."""
