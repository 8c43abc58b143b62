"""Programs by others that read what Variorum writes, or that Variorum talks to.

Each module is about one peer, which it runs as a process. A peer from PyPI has its own environment, made from
`requirements/<peer>.txt` when a test first needs it (environments). `make peers` runs these tests alone, and prints a
table of the results (conftest).
"""
