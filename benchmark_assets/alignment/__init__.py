"""Alignment of continuous translations with the segments of their source, and verification of the result."""
