"""The test that compares networks statistically is itself tested: on what is known, and for its significance."""

import numpy as np
import pytest
from scipy import stats

from spike_statistics import Activity, FloatArray, Label, all_divisions, compare_distributions, distance


def activity_of(trains: list[list[int]], end: int, sizes: dict[str, int]) -> Activity:
    """Return the activity of neurons with these trains, in steps of 0.1 ms."""
    pairs = sorted((step, neuron) for neuron, train in enumerate(trains) for step in train)
    return Activity(
        steps=np.array([step for step, _ in pairs], dtype=np.int64),
        neurons=np.array([neuron for _, neuron in pairs], dtype=np.int64),
        sizes=sizes,
        begin=0,
        end=end,
    )


@pytest.mark.parametrize("sizes", [(1, 1), (5, 9), (40, 7)])
def test_distance_is_that_of_kolmogorov_and_smirnov(sizes: tuple[int, int]) -> None:
    generator = np.random.default_rng(1)
    one, other = (generator.integers(0, 6, size=size).astype(np.float64) for size in sizes)
    assert distance(one, other) == pytest.approx(float(stats.ks_2samp(one, other).statistic))


def test_distance_of_nothing() -> None:
    nothing, something = np.empty(0), np.ones(3)
    assert distance(nothing, nothing) == 0.0
    assert distance(nothing, something) == distance(something, nothing) == 1.0


def test_measures_of_regular_and_silent_neurons() -> None:
    regular = list(range(100, 10_001, 100))
    activity = activity_of([regular, [], regular, [5]], 10_000, {"first": 2, "second": 2})
    distributions = activity.distributions()
    assert distributions["rate", "first"].tolist() == [100.0, 0.0]
    assert distributions["rate", "second"].tolist() == [100.0, 1.0]
    assert distributions["irregularity", "first"].tolist() == [0.0]
    assert len(distributions["correlation", "first"]) == 0
    assert len(distributions["correlation", "second"]) == 1
    assert activity.mean_rates() == {"first": 50.0, "second": 50.5}


def test_measures_of_random_and_equal_trains() -> None:
    generator = np.random.default_rng(2)
    trains = [sorted(generator.choice(1_000_000, size=3000, replace=False) + 1) for _ in range(2)]
    distributions = activity_of([*trains, trains[0]], 1_000_000, {"all": 3}).distributions()
    np.testing.assert_allclose(distributions["irregularity", "all"], 1.0, atol=0.05)
    np.testing.assert_allclose(np.sort(distributions["correlation", "all"]), [0.0, 0.0, 1.0], atol=0.02)


def test_correlation_is_that_of_counts_in_bins_of_two_milliseconds() -> None:
    # Pairs of spikes in the same bin, (0, 20], although as far apart as they can be, and in bins beside each other.
    same = activity_of([[1, 401, 801], [20, 420, 820]], 10_000, {"all": 2})
    beside = activity_of([[20, 420, 820], [21, 421, 821]], 10_000, {"all": 2})
    assert same.distributions()["correlation", "all"][0] == pytest.approx(1.0)
    assert beside.distributions()["correlation", "all"][0] < 0.0


def test_divisions() -> None:
    groups = [tuple(group) for group in all_divisions(2, 2)]
    assert groups == [(0, 1), (0, 2), (0, 3)]
    assert len(all_divisions(5, 5)) == 126
    assert len(all_divisions(2, 3)) == 10
    assert tuple(all_divisions(2, 3)[0]) == (0, 1)


def runs_of(generator: np.random.Generator, count: int, shift: float) -> list[dict[Label, FloatArray]]:
    """Return runs whose samples share a fluctuation, as neurons of one network do; `shift` moves one population."""
    runs = []
    for _ in range(count):
        common = generator.normal(0.0, 0.3)
        run: dict[Label, FloatArray] = {}
        for population, moved in (("a", shift), ("b", 0.0)):
            for measure in ("rate", "correlation"):
                run[measure, population] = generator.normal(common + moved, 1.0, size=60)
        runs.append(run)
    return runs


@pytest.mark.thorough
def test_significance() -> None:
    """Of comparisons of runs that differ by nothing, no more than a tenth may have a p-value of at most a tenth.

    With 400 trials there are 40 on average where the bound is exact; 58 or more have a probability below 0.002.
    """
    generator = np.random.default_rng(3)
    found = 0
    for _ in range(400):
        verdict = compare_distributions(runs_of(generator, 3, 0.0), runs_of(generator, 3, 0.0))
        found += verdict.p_value <= 0.1
    assert 0 < found < 58


def test_that_one_different_population_is_found() -> None:
    generator = np.random.default_rng(4)
    verdict = compare_distributions(runs_of(generator, 5, 0.0), runs_of(generator, 5, 1.5))
    assert verdict.p_value == pytest.approx(1 / 126)
    assert verdict.p_values["rate", "a"] < 0.01
    assert verdict.p_values["rate", "b"] > 0.05
    assert verdict.between["rate", "a"] > 2.0 * verdict.within["rate", "a"]
