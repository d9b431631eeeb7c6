"""Do two groups of runs come from the same network? A test with a stated significance, for networks of spiking neurons.

What is compared are distributions by population, as is usual for the cortical microcircuit (van Albada et al.,
Frontiers in Neuroinformatics 12, 2018): of the rate of each neuron, of the coefficient of variation of its inter-spike
intervals, and of the correlation of the spike counts of pairs of neurons in bins of 2 ms. The distance of two runs in
each of these is that of Kolmogorov and Smirnov.

Neurons of one run are no independent samples: they share a network, its fluctuations and its one random start. So the
usual p-value of that distance has no meaning here, and runs, each with a seed of its own, are what is independent. The
test is an exact permutation test over the runs. If both simulators do the same, all runs are exchangeable, and it makes
no difference which of them carry which simulator's name. For each distribution the statistic is the mean distance of
runs of different groups less the mean distance of runs of the same group, in units of its standard deviation over all
ways to divide the runs into two groups of these sizes. It is the same with the averages over the populations of each
measure, and over everything, so that a small difference everywhere is found as well as one in one place. The p-value of
each is the share of all divisions whose greatest statistic is at least as great as this one (Westfall and Young's
correction for testing many at once): the chance that a right simulator fails in any of them is at most the
significance.

With five runs on either side there are 126 divisions, and a p-value can be as small as 1/126; with six it is 1/462.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Label = tuple[str, str]  # measure, population

BIN = 2.0  # ms
LEAST_SPIKES = 5  # for a coefficient of variation
NEURONS_IN_PAIRS = 160


@dataclass(frozen=True)
class Activity:
    """Spikes of one run; neurons are numbered from 0 through all populations.

    `steps` are counted from the start of the run and lie in (begin, end].
    """

    steps: IntArray
    neurons: IntArray
    sizes: Mapping[str, int]
    begin: int
    end: int
    resolution: float = 0.1  # ms

    def mean_rates(self) -> dict[str, float]:
        """Return the mean rate of each population, spikes/s."""
        return {name: float(counts.mean()) / self._seconds() for name, counts in self._counts().items()}

    def distributions(self) -> dict[Label, FloatArray]:
        """Return the samples of all measures of all populations."""
        result: dict[Label, FloatArray] = {}
        first = 0
        for name, counts in self._counts().items():
            here = (self.neurons >= first) & (self.neurons < first + len(counts))
            steps, neurons = self.steps[here] - self.begin, self.neurons[here] - first
            result["rate", name] = counts / self._seconds()
            result["irregularity", name] = irregularity(steps, neurons, counts)
            result["correlation", name] = self._correlation(steps, neurons, counts)
            first += len(counts)
        return result

    def _seconds(self) -> float:
        return (self.end - self.begin) * self.resolution / 1000.0

    def _counts(self) -> dict[str, FloatArray]:
        counts = np.bincount(self.neurons, minlength=sum(self.sizes.values())).astype(np.float64)
        ends = np.cumsum(list(self.sizes.values()))
        return dict(zip(self.sizes, np.split(counts, ends[:-1]), strict=True))

    def _correlation(self, steps: IntArray, neurons: IntArray, counts: FloatArray) -> FloatArray:
        """Return the correlations of all pairs of the first so many neurons that have fired.

        Neurons are alike but for what was drawn for them, so that the first are as good as any.
        """
        chosen = np.flatnonzero(counts > 0)[:NEURONS_IN_PAIRS]
        if len(chosen) < 2:
            return np.empty(0)
        steps_per_bin = round(BIN / self.resolution)
        bins = (self.end - self.begin) // steps_per_bin
        row_of = np.full(len(counts), -1)
        row_of[chosen] = np.arange(len(chosen))
        rows, columns = row_of[neurons], (steps - 1) // steps_per_bin
        here = (rows >= 0) & (columns < bins)
        binned = np.zeros((len(chosen), bins))
        np.add.at(binned, (rows[here], columns[here]), 1.0)
        binned = binned[binned.any(axis=1)]
        coefficients = np.atleast_2d(np.corrcoef(binned))
        return coefficients[np.triu_indices(len(binned), 1)].astype(np.float64)


def irregularity(steps: IntArray, neurons: IntArray, counts: FloatArray) -> FloatArray:
    """Return the coefficient of variation of the inter-spike intervals of each neuron that has fired often enough."""
    order = np.lexsort((steps, neurons))
    trains = np.split(steps[order], np.cumsum(counts.astype(np.int64))[:-1])
    intervals = [np.diff(train) for train in trains if len(train) >= LEAST_SPIKES]
    return np.array([interval.std() / interval.mean() for interval in intervals])


def distance(one: FloatArray, other: FloatArray) -> float:
    """Return the greatest difference of two empirical distributions; one without samples differs fully from others."""
    if len(one) == 0 or len(other) == 0:
        return float(len(one) != len(other))
    one, other = np.sort(one), np.sort(other)
    points = np.concatenate([one, other])
    below_one = np.searchsorted(one, points, side="right") / len(one)
    below_other = np.searchsorted(other, points, side="right") / len(other)
    return float(np.max(np.abs(below_one - below_other)))


@dataclass(frozen=True)
class Verdict:
    """What the test found.

    Attributes
    ----------
    p_values
        Corrected p-value of each distribution, and of the averages over all populations and all measures.
    between, within
        Mean distance of runs of different groups and of the same group, for each distribution.
    """

    p_values: dict[Label, float]
    between: dict[Label, float]
    within: dict[Label, float]

    @property
    def p_value(self) -> float:
        """The smallest corrected p-value: that of the hypothesis that nothing differs."""
        return min(self.p_values.values())

    def report(self) -> str:
        """Return a line for each distribution."""
        lines = [f"p = {self.p_value:.4f}", "measure       population   between  within  p"]
        for label, p_value in self.p_values.items():
            distances = f"{self.between[label]:.4f}   {self.within[label]:.4f}" if label in self.between else " " * 15
            lines.append(f"{label[0]:13} {label[1]:12} {distances}  {p_value:.4f}")
        return "\n".join(lines)


def compare(one: Sequence[Activity], other: Sequence[Activity]) -> Verdict:
    """Test whether two groups of runs differ by more than their seeds."""
    return compare_distributions([run.distributions() for run in one], [run.distributions() for run in other])


def compare_distributions(
    one: Sequence[Mapping[Label, FloatArray]], other: Sequence[Mapping[Label, FloatArray]]
) -> Verdict:
    """Test whether two groups of runs, given as samples of each measure and population, come from the same source."""
    labels = list(one[0])
    distances = np.array([distances_of([run[label] for run in (*one, *other)]) for label in labels])
    divisions = all_divisions(len(one), len(other))
    scores = np.array([[between - within for between, within in contrast(distances, group)] for group in divisions])
    labels_and_scores = dict(zip(labels, scores.T, strict=True))
    for measure in dict.fromkeys(measure for measure, _ in labels):
        chosen = [standardised(labels_and_scores[label]) for label in labels if label[0] == measure]
        labels_and_scores[measure, "all"] = np.mean(chosen, axis=0)
    labels_and_scores["all", "all"] = np.mean([standardised(labels_and_scores[label]) for label in labels], axis=0)

    family = np.array([standardised(score) for score in labels_and_scores.values()])
    greatest = family.max(axis=0)
    # The division that was made is among them, as the first.
    p_values = [float(np.mean(greatest >= score[0] - 1e-9)) for score in family]
    actual = contrast(distances, divisions[0])
    return Verdict(
        p_values=dict(zip(labels_and_scores, p_values, strict=True)),
        between={label: pair[0] for label, pair in zip(labels, actual, strict=True)},
        within={label: pair[1] for label, pair in zip(labels, actual, strict=True)},
    )


def distances_of(samples: Sequence[FloatArray]) -> FloatArray:
    """Return the distance of each with each."""
    result = np.zeros((len(samples), len(samples)))
    for i, j in itertools.combinations(range(len(samples)), 2):
        result[i, j] = result[j, i] = distance(samples[i], samples[j])
    return result


def all_divisions(first: int, second: int) -> list[IntArray]:
    """Return all divisions into groups of these sizes, as the members of the first; the actual one stands first.

    Where the groups are as large as each other, exchanging them makes no difference, and each division stands once.
    """
    groups = itertools.combinations(range(first + second), first)
    return [np.array(group) for group in groups if first != second or group[0] == 0]


def contrast(distances: FloatArray, group: IntArray) -> list[tuple[float, float]]:
    """Return the mean distance between and within two groups, for each of many matrices of distances."""
    member = np.zeros(distances.shape[-1], dtype=bool)
    member[group] = True
    between = distances[:, member][:, :, ~member].mean(axis=(1, 2))
    within = np.zeros(len(distances))
    pairs = 0
    for side in (member, ~member):
        count = int(side.sum())
        upper = np.triu_indices(count, 1)
        within += distances[:, side][:, :, side][:, upper[0], upper[1]].sum(axis=1)
        pairs += len(upper[0])
    return list(zip(between.tolist(), (within / pairs).tolist(), strict=True))


def standardised(scores: FloatArray) -> FloatArray:
    """Return scores less their mean, in units of their standard deviation; zeros where they are all the same."""
    deviation = scores.std()
    if deviation < 1e-12:
        return np.zeros_like(scores)
    result: FloatArray = (scores - scores.mean()) / deviation
    return result
