"""Processes in which NEST runs, apart from the process of the tests and from each other.

NEST has one kernel per process, which every function here must reset first. With one thread each, two of them keep two
processors busy without the waiting in turns that NEST's threads do when others use the processors as well.
"""

import atexit
import functools
import importlib.util
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

requires_nest = pytest.mark.skipif(
    importlib.util.find_spec("nest") is None, reason="NEST, the reference to compare with, is not installed"
)


@functools.cache
def nest_pool() -> ProcessPoolExecutor:
    """Return the processes; they start with the first call and end with this process."""
    # A fork would take over the threads of whatever ran before, or rather fail to.
    pool = ProcessPoolExecutor(max_workers=2, mp_context=multiprocessing.get_context("spawn"))
    atexit.register(pool.shutdown, cancel_futures=True)
    return pool


def fresh_nest(*, resolution: float = 0.1, seed: int = 1) -> Any:
    """Return NEST with an empty kernel and one thread. Only for functions that run in the pool."""
    from ranvier_benchmarks._nest import load_nest

    nest = load_nest()
    nest.ResetKernel()
    nest.set(resolution=resolution, local_num_threads=1, rng_seed=seed, print_time=False)
    return nest
