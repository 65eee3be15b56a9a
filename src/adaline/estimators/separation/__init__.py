"""Hyperplanes between classes: does one exist, which is farthest, how many mistakes."""
