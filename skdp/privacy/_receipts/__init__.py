"""Forms of a receipt: plain words, an HTML page, plain data for files, records of registries, and back."""
