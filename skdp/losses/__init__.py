"""Placeholder, to be written."""
