"""The guides of the documentation, followed as they are written."""
