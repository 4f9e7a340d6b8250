"""Transformers that learn a metric from constraints."""
