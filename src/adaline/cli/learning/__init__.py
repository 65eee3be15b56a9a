"""The work of `adaline fit`, and what other commands that learn share with it."""
