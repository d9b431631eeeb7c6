# Written by `make stub`.
"""Connection rules: which source connects to which target.

Their classes are made from the registry of the core when they are first used. The connections that a rule draws depend
only on the seed of the network, the projection and the neurons, so they are the same for any number of threads. An
*autapse* connects a neuron to itself; *multapses* are several connections from one neuron to another.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy.typing as npt

from ranvier.equations.expression import Expression
from ranvier.network.rule_base import Rule
from ranvier.space.masks import Mask

__all__ = [
    "AllToAll",
    "Explicit",
    "ExplicitRows",
    "FixedIndegree",
    "FixedOutdegree",
    "FixedTotalNumber",
    "NearestNeighbors",
    "OneToOne",
    "PairwiseBernoulli",
    "PairwisePoisson",
    "SmallWorld",
    "UniformIndegree",
    "UnorderedBernoulli",
]

class AllToAll(Rule):
    """Every source connects to every target.

    Parameters
    ----------
    allow_autapses : default True; True or False
        Whether a neuron that is both a source and a target connects to itself.
    mask : a mask
        The targets around a source that may be connected; without one, all.
    probability : default 1.0; >= 0 and <= 1, or an expression of the pair
        Probability that a pair is connected.

    Arrays of weights or delays hold one number per pair, with the shape ``(targets, sources)`` or flattened. They also
    contain numbers for autapses that are not allowed; these are not used. With a mask or a probability, there are no
    arrays: the number of connections of a target is known only when they are drawn.
    """

    name: ClassVar[str]
    allow_autapses: bool
    mask: Mask | None
    probability: float | str | Expression
    def __init__(
        self,
        allow_autapses: bool = True,
        mask: Mask | None = None,
        probability: float | str | Expression = 1.0,
        **constants: float | str,
    ) -> None: ...

class Explicit(Rule):
    """A list of all connections, in coordinate form.

    Parameters
    ----------
    sources : whole numbers
        For each connection, the index of its source among the sources.
    targets : whole numbers
        For each connection, the index of its target among the targets.
    allow_autapses : default True; True or False
        Whether the list may connect a neuron to itself.
    allow_multapses : default True; True or False
        Whether the list may contain a pair more than once.
    mask : a mask
        The targets around a source that may be connected; without one, all.
    probability : default 1.0; >= 0 and <= 1, or an expression of the pair
        Probability that a pair of the list is connected.

    Arrays of weights or delays hold one number per connection of the list, in the same order, also for those that a
    mask or a probability leaves out.
    """

    name: ClassVar[str]
    sources: npt.ArrayLike
    targets: npt.ArrayLike
    allow_autapses: bool
    allow_multapses: bool
    mask: Mask | None
    probability: float | str | Expression
    def __init__(
        self,
        sources: npt.ArrayLike,
        targets: npt.ArrayLike,
        allow_autapses: bool = True,
        allow_multapses: bool = True,
        mask: Mask | None = None,
        probability: float | str | Expression = 1.0,
        **constants: float | str,
    ) -> None: ...

class ExplicitRows(Rule):
    """A list of all connections, in compressed form: the sources of each target, one target after another.

    Parameters
    ----------
    starts : whole numbers
        For each target, the position in `sources` of its first connection, and at the end the number of all
        connections: one more number than targets.
    sources : whole numbers
        For each connection, the index of its source among the sources, sorted by target.
    allow_autapses : default True; True or False
        Whether the rows may connect a neuron to itself.
    allow_multapses : default True; True or False
        Whether the rows may contain a pair more than once.

    This is the form of the matrices that are called compressed sparse rows, with the targets as rows. Arrays of weights
    or delays hold one number per connection, in the same order.
    """

    name: ClassVar[str]
    starts: npt.ArrayLike
    sources: npt.ArrayLike
    allow_autapses: bool
    allow_multapses: bool
    def __init__(
        self, starts: npt.ArrayLike, sources: npt.ArrayLike, allow_autapses: bool = True, allow_multapses: bool = True
    ) -> None: ...

class FixedIndegree(Rule):
    """Every target gets the same number of connections, from sources drawn uniformly.

    Parameters
    ----------
    indegree : a whole number >= 0
        Connections per target.
    allow_autapses : default True; True or False
        Whether a neuron may be drawn as its own source.
    allow_multapses : default True; True or False
        Whether a source may be drawn more than once for a target.
    mask : a mask
        The targets around a source that may be connected; without one, all.
    probability : default 1.0; >= 0 and <= 1, or an expression of the pair
        Probability that a pair is taken, in proportion to which partners are drawn.
    """

    name: ClassVar[str]
    indegree: int
    allow_autapses: bool
    allow_multapses: bool
    mask: Mask | None
    probability: float | str | Expression
    def __init__(
        self,
        indegree: int,
        allow_autapses: bool = True,
        allow_multapses: bool = True,
        mask: Mask | None = None,
        probability: float | str | Expression = 1.0,
        **constants: float | str,
    ) -> None: ...

class FixedOutdegree(Rule):
    """Every source gets the same number of connections, to targets drawn uniformly.

    Parameters
    ----------
    outdegree : a whole number >= 0
        Connections per source.
    allow_autapses : default True; True or False
        Whether a neuron may be drawn as its own target.
    allow_multapses : default True; True or False
        Whether a target may be drawn more than once for a source.
    mask : a mask
        The targets around a source that may be connected; without one, all.
    probability : default 1.0; >= 0 and <= 1, or an expression of the pair
        Probability that a pair is taken, in proportion to which partners are drawn.
    """

    name: ClassVar[str]
    outdegree: int
    allow_autapses: bool
    allow_multapses: bool
    mask: Mask | None
    probability: float | str | Expression
    def __init__(
        self,
        outdegree: int,
        allow_autapses: bool = True,
        allow_multapses: bool = True,
        mask: Mask | None = None,
        probability: float | str | Expression = 1.0,
        **constants: float | str,
    ) -> None: ...

class FixedTotalNumber(Rule):
    """A fixed total number of connections, between pairs of a source and a target that are drawn uniformly.

    Parameters
    ----------
    number : a whole number >= 0
        Total number of connections.
    allow_autapses : default True; True or False
        Whether a neuron may be paired with itself.
    allow_multapses : default True; True or False
        Whether a pair may be drawn more than once.
    mask : a mask
        The targets around a source that may be connected; without one, all.
    probability : default 1.0; >= 0 and <= 1, or an expression of the pair
        Probability that a pair is taken, in proportion to which pairs are drawn.

    With a mask or an expression, pairs are drawn in proportion to their probability. Each process then sums the
    probabilities of all pairs within the mask, and holds one number for each target. Without multapses, pairs may
    differ by the mask only.
    """

    name: ClassVar[str]
    number: int
    allow_autapses: bool
    allow_multapses: bool
    mask: Mask | None
    probability: float | str | Expression
    def __init__(
        self,
        number: int,
        allow_autapses: bool = True,
        allow_multapses: bool = True,
        mask: Mask | None = None,
        probability: float | str | Expression = 1.0,
        **constants: float | str,
    ) -> None: ...

class NearestNeighbors(Rule):
    """Every neuron gets connections from the neurons with the nearest ids, but not from itself.

    Parameters
    ----------
    indegree : a whole number >= 0
        Connections per target, half of them from the neurons before it and half from those after it: an even number,
        less than the number of neurons.
    mask : a mask
        The targets around a source that may be connected; without one, all.
    probability : default 1.0; >= 0 and <= 1, or an expression of the pair
        Probability that a neighbor is connected.

    The sources must be the targets: a population, or a part of it, that is connected to itself. Neurons are arranged in
    a ring: the last neuron is next to the first one.

    Arrays of weights or delays hold one number per connection, sorted by target. For each target, the sources are
    sorted from the farthest one before it to the farthest one after it. With a mask or a probability, there are no
    arrays: the number of connections of a target is known only when they are drawn.
    """

    name: ClassVar[str]
    indegree: int
    mask: Mask | None
    probability: float | str | Expression
    def __init__(
        self,
        indegree: int,
        mask: Mask | None = None,
        probability: float | str | Expression = 1.0,
        **constants: float | str,
    ) -> None: ...

class OneToOne(Rule):
    """The i-th source connects to the i-th target; there must be as many sources as targets.

    Parameters
    ----------
    allow_autapses : default True; True or False
        Whether a neuron may connect to itself.
    mask : a mask
        The targets around a source that may be connected; without one, all.
    probability : default 1.0; >= 0 and <= 1, or an expression of the pair
        Probability that a pair is connected.

    Arrays of weights or delays hold one number per pair, in the order of the neurons.
    """

    name: ClassVar[str]
    allow_autapses: bool
    mask: Mask | None
    probability: float | str | Expression
    def __init__(
        self,
        allow_autapses: bool = True,
        mask: Mask | None = None,
        probability: float | str | Expression = 1.0,
        **constants: float | str,
    ) -> None: ...

class PairwiseBernoulli(Rule):
    """Each pair of a source and a target is connected with a probability, independently of others.

    Parameters
    ----------
    probability : >= 0 and <= 1, or an expression of the pair
        Probability that a pair is connected.
    allow_autapses : default True; True or False
        Whether a neuron may connect to itself.
    mask : a mask
        The targets around a source that may be connected; without one, all.
    """

    name: ClassVar[str]
    probability: float | str | Expression
    allow_autapses: bool
    mask: Mask | None
    def __init__(
        self,
        probability: float | str | Expression,
        allow_autapses: bool = True,
        mask: Mask | None = None,
        **constants: float | str,
    ) -> None: ...

class PairwisePoisson(Rule):
    """Each pair of a source and a target gets a Poisson number of connections, independently of others.

    Parameters
    ----------
    mean : >= 0 and <= 1000, or an expression of the pair
        Mean number of connections of a pair.
    allow_autapses : default True; True or False
        Whether a neuron may connect to itself.
    mask : a mask
        The targets around a source that may be connected; without one, all.
    """

    name: ClassVar[str]
    mean: float | str | Expression
    allow_autapses: bool
    mask: Mask | None
    def __init__(
        self,
        mean: float | str | Expression,
        allow_autapses: bool = True,
        mask: Mask | None = None,
        **constants: float | str,
    ) -> None: ...

class SmallWorld(Rule):
    """Every neuron gets connections from its neighbors on a ring, some of which are rewired to any neuron.

    Parameters
    ----------
    indegree : a whole number >= 0
        Connections per target, half of them from the neurons before it and half from those after it unless they are
        rewired: an even number, less than the number of neurons.
    rewiring : >= 0 and <= 1
        Probability that the source of a connection is replaced.

    The sources must be the targets: a population, or a part of it, that is connected to itself. Neurons are arranged in
    a ring, as in NearestNeighbors. Each connection is rewired with the given probability, independently: its source is
    replaced. The new sources of a target are drawn without repetition, all with the same probability, from the neurons
    that are neither the target nor one of its remaining sources; so every target keeps its in-degree, and out-degrees
    vary. This is the directed form of D. J. Watts and S. H. Strogatz (1998), Collective dynamics of 'small-world'
    networks, Nature 393, 440-442, who rewire undirected edges.

    Arrays of weights or delays hold one number per connection, sorted by target and then as the neighbors of
    NearestNeighbors; a rewired connection keeps the place of the neighbor.
    """

    name: ClassVar[str]
    indegree: int
    rewiring: float
    def __init__(self, indegree: int, rewiring: float) -> None: ...

class UniformIndegree(Rule):
    """Every target gets a number of connections drawn uniformly, from sources drawn uniformly.

    Parameters
    ----------
    indegree_min : a whole number >= 0
        Smallest number of connections of a target.
    indegree_max : a whole number >= 0
        Largest number of connections of a target.
    allow_autapses : default True; True or False
        Whether a neuron may be drawn as its own source.
    allow_multapses : default True; True or False
        Whether a source may be drawn more than once for a target.
    mask : a mask
        The targets around a source that may be connected; without one, all.
    probability : default 1.0; >= 0 and <= 1, or an expression of the pair
        Probability that a pair is taken, in proportion to which partners are drawn.

    All whole numbers from indegree_min to indegree_max are equally probable.
    """

    name: ClassVar[str]
    indegree_min: int
    indegree_max: int
    allow_autapses: bool
    allow_multapses: bool
    mask: Mask | None
    probability: float | str | Expression
    def __init__(
        self,
        indegree_min: int,
        indegree_max: int,
        allow_autapses: bool = True,
        allow_multapses: bool = True,
        mask: Mask | None = None,
        probability: float | str | Expression = 1.0,
        **constants: float | str,
    ) -> None: ...

class UnorderedBernoulli(Rule):
    """Each unordered pair of neurons is connected with a probability, in one direction.

    Parameters
    ----------
    probability : >= 0 and <= 1, or an expression of the pair
        Probability that a pair is connected.
    mask : a mask
        The targets around a source that may be connected; without one, all.

    The sources must be the targets: a population, or a part of it, that is connected to itself. Each pair of different
    neurons is decided once. The neurons are arranged in a ring in the order of their ids; the connection is from the
    neuron that is nearer before the other one, so that all neurons have nearly as many pairs in each direction. A mask
    and an expression are of this connection, from the first to the second neuron, so they should be the same in both
    directions. A second projection with the rule Reversed makes the other direction, so that all pairs are symmetric.
    """

    name: ClassVar[str]
    probability: float | str | Expression
    mask: Mask | None
    def __init__(
        self, probability: float | str | Expression, mask: Mask | None = None, **constants: float | str
    ) -> None: ...

RULES: Mapping[str, type[Rule]]
