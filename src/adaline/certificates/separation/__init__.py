"""Proofs of separability: rows in integers, claims, words, and JSON."""
