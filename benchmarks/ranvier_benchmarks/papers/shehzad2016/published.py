"""What the paper says of its results. Its tables are pictures, whose numbers its text does not repeat."""

from __future__ import annotations

__all__ = ["PROCESSES", "RUNS", "SAVED_PERCENT", "TIME"]

PROCESSES = (2, 4, 8, 16, 32)
"""Numbers of processes, of "2-32 processors"; the steps between are assumed."""
TIME = 5000.0
"""Simulated milliseconds of Table 1 and Figure 4."""
RUNS = 5
"""Runs of which each result of Tables 2 and 3 is the mean."""
SAVED_PERCENT = 10.0
"""By how much RMA_Allgather is faster than MPI_Allgather: "almost", in the exchange of spikes."""
