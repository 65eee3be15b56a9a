"""Learners that correct their errors, one sample or one batch at a time."""
