"""The version, in a file that any room may import."""

__version__ = "0.1.0"
