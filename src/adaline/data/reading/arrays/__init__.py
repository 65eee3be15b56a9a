"""Matrices of numbers: arrays, numpy files, sounds."""
