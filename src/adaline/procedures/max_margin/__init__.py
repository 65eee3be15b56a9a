"""The hyperplane of largest margin: the nearest points of two convex hulls."""
