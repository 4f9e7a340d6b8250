"""The compiled library, which is loaded here and nowhere else.

The wrappers take it from this module, never from the package: the package imports the wrappers.
"""

import linkwise.native._native as library

__all__ = ["library"]
