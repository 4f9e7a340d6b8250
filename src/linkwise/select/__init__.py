"""Choose among many clusterings of the same rows by constraints or by scores."""
