"""Benchmarks: each public module here is one, started by ``ranvier bench NAME``.

A benchmark has ``add_arguments(parser)`` and ``main(arguments)``, which returns an exit status. What benchmarks share
stands in the modules whose names begin with an underscore.
"""
