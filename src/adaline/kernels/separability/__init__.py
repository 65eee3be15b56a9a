"""Hulls, margins, Ho-Kashyap, and linear algebra modulo a prime."""
