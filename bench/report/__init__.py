"""One page of all that is measured: ``python -m bench report``."""
