"""Answers of a model for the rows of a file."""
