"""Benchmarks: each public module of this package is one benchmark, started by ``ranvier bench NAME``.

A benchmark has ``add_arguments(parser)`` and ``main(arguments)``, which returns an exit status. Modules whose names
begin with an underscore contain common parts.
"""
