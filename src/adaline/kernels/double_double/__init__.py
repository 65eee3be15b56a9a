"""Residuals, gradients and powers in twice the working precision."""
