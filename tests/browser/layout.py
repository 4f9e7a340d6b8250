"""What does not fit where it stands, at any width of the window."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

WIDTHS = (320, 390, 600, 768, 901, 1060, 1440, 2560)

MISFITS = Path(__file__).with_name("misfits.js").read_text(encoding="utf-8").rstrip().rstrip(";")


def find_misfits(page: Any, widths: Iterable[int] = WIDTHS) -> list[str]:
    """Look at a state of the page at many widths, and leave the window as it was."""
    size, found = page.viewport_size, []
    for width in widths:
        page.set_viewport_size({**size, "width": width})
        found += [f"{width} pixels: {misfit}" for misfit in page.evaluate(MISFITS)]
    page.set_viewport_size(size)
    return found
