"""Learners with a closed form."""
