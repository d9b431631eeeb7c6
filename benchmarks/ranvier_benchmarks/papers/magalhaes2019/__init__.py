"""Magalhães et al. (2019): fully asynchronous, cache-efficient simulation of detailed neural networks."""

from __future__ import annotations

from ranvier_benchmarks.papers._paper import Paper
from ranvier_benchmarks.papers.magalhaes2019.containers import TABLE_1
from ranvier_benchmarks.papers.magalhaes2019.delays import FIGURE_2
from ranvier_benchmarks.papers.magalhaes2019.messages import TABLE_2
from ranvier_benchmarks.papers.magalhaes2019.one_node import FIGURE_7A
from ranvier_benchmarks.papers.magalhaes2019.processes import FIGURE_7B
from ranvier_benchmarks.papers.magalhaes2019.steps import FIGURE_7C

__all__ = ["PAPER"]

PAPER = Paper(
    name="magalhaes2019",
    citation="B. R. C. Magalhães, T. Sterling, M. Hines and F. Schürmann, International Conference on Computational "
    "Science (2019), https://doi.org/10.1007/978-3-030-22744-9_33",
    results=(FIGURE_2, FIGURE_7A, FIGURE_7B, FIGURE_7C, TABLE_1, TABLE_2),
)
