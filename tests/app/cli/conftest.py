"""Fixtures of all commands."""

from commands import fruit, linkwise, no_screen, process

__all__ = ["fruit", "linkwise", "no_screen", "process"]
