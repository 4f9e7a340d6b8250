"""One page of all measurements: ``python -m bench report``."""
