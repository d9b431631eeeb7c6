"""Connection probabilities as functions of the distance, and their fits to drawn connections.

Kernels have two parameters at most, and a fit some thousand bins, so that the method of scoring converges within a few
iterations (P. McCullagh and J. A. Nelder, Generalized Linear Models, 2nd edition, 1989, section 2.5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ranvier.base.names import check_choice, counted
from ranvier.base.values import FloatArray
from ranvier.errors import StateError

__all__ = ["KERNELS", "DistanceCounts", "Kernel", "KernelFit", "fit_kernel", "kernel_of"]

# Of the iterations of a fit, and the relative change of the parameters at its end.
_MOST_ITERATIONS, _PRECISION = 200, 1e-10
# Lengths that are tried first, relative to the greatest distance.
_LENGTHS = np.geomspace(0.01, 4.0, 24)
# A bin with fewer expected connections does not have the normal distribution that chi-squared needs.
_LEAST_EXPECTED = 5.0
# A fit ends where a damping of this size does not help.
_MOST_DAMPING = 1e12
# Greatest length, relative to the greatest distance.
_LONGEST = 1e3
# Largest probability of a pair during a fit: the variance of a certain connection would be 0.
_LARGEST = 1.0 - 1e-9


@dataclass(frozen=True)
class Kernel:
    """A form of the connection probability. All parameters are positive; the first one is the factor of the others.

    Attributes
    ----------
    name
        Its name.
    expression
        The same in the notation of `ranvier.Expression`.
    parameters
        Names of the parameters: the probability, and a length if there is one.
    shape
        Value for a probability of 1, and its derivative by the logarithm of the length, from distances, a length and
        the width of the bins around the distances; 0: no bins.
    """

    name: str
    expression: str
    parameters: tuple[str, ...]
    shape: Callable[[FloatArray, float, float], tuple[FloatArray, FloatArray]]


def _constant(distances: FloatArray, length: float, width: float) -> tuple[FloatArray, FloatArray]:
    del length, width
    return np.ones_like(distances), np.zeros_like(distances)


def _linear(distances: FloatArray, reach: float, width: float) -> tuple[FloatArray, FloatArray]:
    if width == 0.0:
        inside = distances < reach
        return np.where(inside, 1.0 - distances / reach, 0.0), np.where(inside, distances / reach, 0.0)
    # The mean over the bin. The middle of a bin may be arbitrarily close to the reach, where the information that a
    # connection has about it would be infinite.
    low = distances - 0.5 * width
    high = np.clip(reach, low, distances + 0.5 * width)
    slope = np.maximum(high**2 - low**2, 0.0) / (2.0 * reach * width)
    return np.where(low < reach, (high - low) / width - slope, 0.0), np.where(low < reach, slope, 0.0)


def _exponential(distances: FloatArray, decay: float, width: float) -> tuple[FloatArray, FloatArray]:
    del width  # The middle of a narrow bin has its mean.
    scaled = distances / decay
    value = np.exp(-scaled)
    return value, value * scaled


def _gaussian(distances: FloatArray, sigma: float, width: float) -> tuple[FloatArray, FloatArray]:
    del width  # The middle of a narrow bin has its mean.
    square = (distances / sigma) ** 2
    value = np.exp(-0.5 * square)
    return value, value * square


KERNELS: Mapping[str, Kernel] = {
    kernel.name: kernel
    for kernel in (
        Kernel("constant", "p", ("p",), _constant),
        Kernel("linear", "max(p*(1 - d/reach), 0)", ("p", "reach"), _linear),
        Kernel("exponential", "p*exp(-d/decay)", ("p", "decay"), _exponential),
        Kernel("gaussian", "p*exp(-d**2/(2*sigma**2))", ("p", "sigma"), _gaussian),
    )
}
"""The forms that can be fitted, by name."""


@dataclass(frozen=True)
class KernelFit:
    """A connection probability by distance that was fitted to drawn connections.

    Attributes
    ----------
    kernel
        ``"constant"``, ``"linear"``, ``"exponential"`` or ``"gaussian"``.
    expression
        The kernel in the notation of expressions of pairs, with the names of `parameters`.
    parameters
        Fitted values by name: the probability ``p`` at a distance of 0, and a length in `unit`: ``reach``, ``decay`` or
        ``sigma``.
    errors
        Standard errors of the parameters, from the Fisher information.
    unit
        Unit of the lengths: ``"mm"`` or ``"um"``.
    log_likelihood
        Logarithm of the likelihood, without the terms that do not depend on the parameters. A fit of the same
        histogram with a greater value, and as many parameters, is better.
    chi_squared, degrees_of_freedom
        Pearson's statistic over bins with at least 5 expected connections, and the number of these bins less that of
        the parameters.
    """

    kernel: str
    expression: str
    parameters: Mapping[str, float]
    errors: Mapping[str, float]
    unit: str
    log_likelihood: float
    chi_squared: float
    degrees_of_freedom: int

    def __call__(self, distances: FloatArray) -> FloatArray:
        """Return the probability at distances in `unit`, an array of the same shape."""
        probability, *length = self.parameters.values()
        shape = KERNELS[self.kernel].shape
        value, _ = shape(np.asarray(distances, dtype=np.float64), length[0] if length else 1.0, 0.0)
        return probability * value

    def __repr__(self) -> str:
        return f"<KernelFit {self.expression}: {self.described()}>"

    def described(self) -> str:
        """Return the parameters with their standard errors as a text."""
        return ", ".join(
            f"{name} = {_with_error(value, self.errors[name])}{'' if name == 'p' else f' {self.unit}'}"
            for name, value in self.parameters.items()
        )


def _with_error(value: float, error: float) -> str:
    """Return a value and its error with two digits of the error."""
    if not 0.0 < error < np.inf:
        return f"{value:.4g} ± {error:.2g}"
    digits = max(0, 1 - int(np.floor(np.log10(error))))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


@dataclass(frozen=True)
class DistanceCounts:
    """The data of a fit.

    Attributes
    ----------
    distances, connections, pairs
        Of each bin its middle, its number of connections and of pairs.
    width
        Width of the bins.
    repeats
        Whether a pair can have several connections. Then the number of connections has a Poisson distribution,
        otherwise a binomial one.
    """

    distances: FloatArray
    connections: FloatArray
    pairs: FloatArray
    width: float
    repeats: bool

    def means(self, kernel: Kernel, state: FloatArray) -> FloatArray:
        """Return the mean number of connections of a pair; `state` has the logarithms of the parameters."""
        value, _ = kernel.shape(self.distances, float(np.exp(state[-1])), self.width)
        means: FloatArray = np.clip(np.exp(state[0]) * value, 0.0, np.inf if self.repeats else _LARGEST)
        return means

    def likelihood(self, kernel: Kernel, state: FloatArray) -> float:
        """Return the logarithm of the likelihood."""
        means = self.means(kernel, state)
        with np.errstate(divide="ignore"):
            made = (self.connections * np.log(np.where(self.connections > 0, means, 1.0))).sum()
        if self.repeats:
            return float(made - (self.pairs * means).sum())
        return float(made + ((self.pairs - self.connections) * np.log1p(-means)).sum())

    def derivatives(self, kernel: Kernel, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivative of `likelihood` by the logarithms of the parameters, and the Fisher information."""
        factor = float(np.exp(state[0]))
        value, slope = kernel.shape(self.distances, float(np.exp(state[-1])), self.width)
        means = self.means(kernel, state)
        # The derivative is 0 where the probability cannot increase, and where there is no probability.
        possible = (means > 0.0) & (means < (np.inf if self.repeats else _LARGEST))
        rows = np.where(possible, np.stack([factor * value, factor * slope][: len(state)]), 0.0)
        variance = np.where(possible, means if self.repeats else means * (1.0 - means), 1.0)
        score = rows @ ((self.connections - self.pairs * means) / variance)
        return score, (rows * (self.pairs / variance)) @ rows.T

    def pearson(self, kernel: Kernel, state: FloatArray) -> tuple[float, int]:
        """Return Pearson's statistic, and the number of groups of bins of which it is the sum."""
        means = self.means(kernel, state)
        expected = self.pairs * means
        spreads = expected if self.repeats else expected * (1.0 - means)
        statistic, groups = 0.0, 0
        observed = wanted = variance = 0.0
        for drawn, mean, spread in zip(self.connections, expected, spreads, strict=True):
            observed, wanted, variance = observed + drawn, wanted + mean, variance + spread
            if wanted >= _LEAST_EXPECTED and variance > 0.0:
                statistic += (observed - wanted) ** 2 / variance
                groups += 1
                observed = wanted = variance = 0.0
        return float(statistic), groups


def fit_kernel(kernel: Kernel, counts: DistanceCounts, unit: str, name: str) -> KernelFit:
    """Return the kernel with the greatest likelihood.

    Parameters
    ----------
    kernel
        The form.
    counts
        The data, without bins that have no pairs.
    unit
        Unit of the distances.
    name
        Name of the projection, for errors.

    Raises
    ------
    StateError
        When there are not more connections than parameters, or the likelihood has no maximum.
    """
    total = float(counts.connections.sum())
    if total <= len(kernel.parameters):
        raise StateError(
            f"connections of {name}",
            f"{total:g}",
            f"the fit of {counted(len(kernel.parameters), 'parameter')} needs more",
            "count those of more targets",
        )
    state = _start(kernel, counts)
    damping = 1e-3
    for _ in range(_MOST_ITERATIONS):
        score, information = counts.derivatives(kernel, state)
        damped = information + damping * np.diag(np.diag(information) + 1e-12)
        # A parameter changes by a factor of 10 at most, where the information is nearly singular.
        change = np.clip(np.linalg.lstsq(damped, score, rcond=None)[0], -2.3, 2.3)
        if counts.likelihood(kernel, state + change) >= counts.likelihood(kernel, state):
            state, damping = state + change, max(1e-12, 0.1 * damping)
            if np.abs(change).max() < _PRECISION:
                break
        else:
            damping *= 10.0
            if damping > _MOST_DAMPING:
                break
    _, information = counts.derivatives(kernel, state)
    values = np.exp(state)
    # A length far beyond the greatest distance is one without which the kernel is the same.
    is_flat = len(state) > 1 and values[1] > _LONGEST * float(counts.distances.max())
    if is_flat or not np.isfinite(information).all() or np.linalg.matrix_rank(information) < len(state):
        raise StateError(
            f"fit of the {kernel.name} kernel to {name}",
            bound="the likelihood of its parameters has no maximum",
            remedy="choose another kernel",
        )
    errors = np.sqrt(np.diag(np.linalg.inv(information))) * values
    chi_squared, groups = counts.pearson(kernel, state)
    return KernelFit(
        kernel=kernel.name,
        expression=kernel.expression,
        parameters=dict(zip(kernel.parameters, values.tolist(), strict=True)),
        errors=dict(zip(kernel.parameters, errors.tolist(), strict=True)),
        unit=unit,
        log_likelihood=counts.likelihood(kernel, state),
        chi_squared=chi_squared,
        degrees_of_freedom=groups - len(state),
    )


def kernel_of(name: object) -> Kernel:
    """Return the form of this name.

    Raises
    ------
    UnknownNameError, WrongTypeError
        When there is none.
    """
    check_choice("kernel to fit", name, list(KERNELS))
    return KERNELS[str(name)]


def _start(kernel: Kernel, counts: DistanceCounts) -> FloatArray:
    """Return the logarithms of the parameters that are likeliest among some lengths."""
    best, found = -np.inf, np.zeros(len(kernel.parameters))
    for length in float(counts.distances.max()) * _LENGTHS:
        value, _ = kernel.shape(counts.distances, float(length), counts.width)
        weight = float((counts.pairs * value).sum())
        if weight > 0.0:
            state = np.log([float(counts.connections.sum()) / weight, length][: len(kernel.parameters)])
            likelihood = counts.likelihood(kernel, state)
            if likelihood > best:
                best, found = likelihood, state
    return found
