"""What a receipt can be turned into: words, a page, plain data to file, records of registries, and back."""
