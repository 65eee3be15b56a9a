"""Squared errors in closed form: normal equations, refinement, minimum norm, inference."""
