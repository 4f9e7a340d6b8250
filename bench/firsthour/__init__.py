"""Public files as their owners would open them: a manifest, and its measurement."""
