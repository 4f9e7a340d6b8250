"""Transformers that learn from constraints which differences between rows matter."""
