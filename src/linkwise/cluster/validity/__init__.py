"""Scores of a clustering that need no constraints and no known classes."""
