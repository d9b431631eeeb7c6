"""Conversion of recordings to objects of other packages, which are imported only when needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.packages import package
from ranvier.base.values import FloatArray
from ranvier.errors import ValueOutOfBoundsError
from ranvier.recording.neuron_ids import IntArray

__all__ = [
    "UNITS_OF_VARIABLES",
    "adjacency",
    "samples_to_neo",
    "samples_to_pandas",
    "spikes_to_neo",
    "spikes_to_pandas",
    "synapses_to_pandas",
]

UNITS_OF_VARIABLES = {"V": "mV", "I": "pA", "g": "nS", "P": "nA*um"}
"""Units of state variables, by the first letter of their names."""


def adjacency(weights: FloatArray, ends: tuple[IntArray, IntArray], ids: tuple[IntArray, IntArray]) -> Any:
    """Return a `scipy.sparse.csr_array` of the shape (targets, sources), with the sum of the weights of each pair.

    Parameters
    ----------
    weights
        Weight of each synapse.
    ends
        Global ids of the target and of the source of each synapse.
    ids
        Global ids of the neurons that are the rows and the columns.

    Raises
    ------
    ValueOutOfBoundsError
        For a synapse that connects other neurons.
    MissingPackageError
        When SciPy is not installed.
    """
    sparse = package("scipy.sparse", "to_scipy")
    places = []
    for what, present, all_ids in zip(("target", "source"), ends, ids, strict=True):
        order = np.argsort(all_ids, kind="stable")
        found = np.searchsorted(all_ids, present, sorter=order)
        place = order[np.minimum(found, max(0, len(order) - 1))] if len(order) else np.zeros(len(present), np.int64)
        known = all_ids[place] == present if len(order) else np.zeros(len(present), dtype=bool)
        if not known.all():
            raise ValueOutOfBoundsError(
                f"{what} of a synapse",
                f"neuron {present[~known][0]}",
                f"it is not among the {what}s that were passed",
                "pass all of them, or query only the synapses of these neurons",
            )
        places.append(place)
    return sparse.coo_array((weights, tuple(places)), shape=(len(ids[0]), len(ids[1]))).tocsr()


def spikes_to_neo(trains: Sequence[tuple[str, int, FloatArray]], window: tuple[float, float], segment_name: str) -> Any:
    """Return a `neo.Segment` with a train for each neuron: population, id and times in ms."""
    neo = package("neo", "to_neo")
    segment = neo.Segment(name=segment_name)
    for population, neuron, times in trains:
        # Neo changes arrays in place when units are converted.
        train = neo.SpikeTrain(
            times.copy(),
            units="ms",
            t_start=window[0],
            t_stop=window[1],
            name=f"{population} {neuron}",
            population=population,
            neuron=neuron,
        )
        segment.spiketrains.append(train)
    return segment


def samples_to_neo(
    data: Mapping[str, FloatArray],
    times: FloatArray,
    interval: float,
    annotations: Mapping[str, npt.NDArray[Any]],
    name: str,
) -> Any:
    """Return a `neo.Segment` with a signal for each variable, of the shape (times, channels).

    Annotations are arrays with a value for each channel.
    """
    neo = package("neo", "to_neo")
    segment = neo.Segment(name=name)
    pq = package("quantities", "to_neo")
    for variable, values in data.items():
        signal = neo.AnalogSignal(
            values.copy(),
            units=UNITS_OF_VARIABLES.get(variable[0], "dimensionless"),
            t_start=times[0] * pq.ms,
            sampling_period=interval * pq.ms,
            name=variable,
            population=name,
            array_annotations={key: np.array(each) for key, each in annotations.items()},
        )
        segment.analogsignals.append(signal)
    return segment


def spikes_to_pandas(times: FloatArray, ids: IntArray, populations: npt.NDArray[Any], names: Sequence[str]) -> Any:
    """Return a `pandas.DataFrame` with a row for each spike."""
    pandas = package("pandas", "to_pandas")
    categories = pandas.Categorical.from_codes(populations, categories=list(names))
    return pandas.DataFrame({"time_ms": times, "neuron": ids, "population": categories})


def samples_to_pandas(values: FloatArray, times: FloatArray, levels: Sequence[npt.ArrayLike], names: list[str]) -> Any:
    """Return a `pandas.DataFrame` with a row for each time, and columns of several levels."""
    pandas = package("pandas", "to_pandas")
    columns = pandas.MultiIndex.from_arrays([np.asarray(level) for level in levels], names=names)
    return pandas.DataFrame(values, index=pandas.Index(times, name="time_ms"), columns=columns)


def synapses_to_pandas(
    columns: Mapping[str, npt.NDArray[Any]],
    categories: Mapping[str, tuple[npt.NDArray[Any], Sequence[str]]],
    sites: IntArray,
) -> Any:
    """Return a `pandas.DataFrame` with one row per synapse; `categories` are codes and their names."""
    pandas = package("pandas", "to_pandas")
    named = {
        name: pandas.Series(
            pandas.Categorical(np.asarray(names, dtype=object)[codes], categories=[*dict.fromkeys(names)])
        )
        for name, (codes, names) in categories.items()
    }
    return pandas.DataFrame(
        {**{name: np.array(each) for name, each in columns.items()}, **named, "site": np.array(sites)}
    )
