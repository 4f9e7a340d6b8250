"""Fixtures of agents."""

from commands import fruit, linkwise, no_screen

__all__ = ["fruit", "linkwise", "no_screen"]
