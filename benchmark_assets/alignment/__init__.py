"""Alignment of continuous translations with the segments of their source. Asset-free: plain values in and out."""
