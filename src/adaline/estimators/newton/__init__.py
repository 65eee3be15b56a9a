"""Learners by Newton's procedure: logistic regression and counts."""
