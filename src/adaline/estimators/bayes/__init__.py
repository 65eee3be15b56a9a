"""Classifiers by densities, priors and costs."""
