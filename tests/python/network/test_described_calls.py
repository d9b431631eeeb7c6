"""The arguments of `create`, `connect` and `stimulate` are listed once; calls, handles and `set` follow from this."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import _core
from ranvier.errors import ReadOnlyError
from ranvier.network.calls import Connect, Context, Create, DescribingCall, RecordSpikes, RecordState, Stimulate
from ranvier.network.network import contents_of
from ranvier.populations.populations import selection_of


def keywords_of(call: Callable[..., Any]) -> set[str]:
    return {each.name for each in inspect.signature(call).parameters.values() if each.kind is each.KEYWORD_ONLY}


@pytest.mark.parametrize(("method", "call"), [(rv.Network.connect, Connect), (rv.Network.stimulate, Stimulate)])
def test_the_signature_has_each_keyword_of_the_call(
    method: Callable[..., Any], call: type[DescribingCall[Any]]
) -> None:
    # The constants are those of texts in the other arguments.
    assert keywords_of(method) - {"constants"} == set(call.keywords())


def test_the_signature_of_create_has_each_keyword_of_the_call() -> None:
    assert keywords_of(rv.Network.create) - {"constants"} | {"name"} == set(Create.keywords())


def connected() -> tuple[rv.Network, rv.Projection, rv.Stimulus]:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", 3, name="cells")
    projection = net.connect(
        cells,
        cells[1:],
        rv.AllToAll(),
        weight=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
        delay=2.0,
        receptor="excitatory",
        weight_bound=9.0,
        synapse=rv.stdp_dopamine(dopamine=cells, W_max=10.0),
        site=0,
        name="all",
    )
    return net, projection, net.stimulate(cells, rv.dc_generator(amplitude=5.0), weight=2.0, delay=0.3, name="drive")


def test_handles_show_each_argument() -> None:
    net, projection, stimulus = connected()
    for made, call in ((projection, Connect), (stimulus, Stimulate)):
        shown = {each.name for each in fields(call)} - {"parameters", "sequences"}
        assert shown <= vars(made).keys()
    assert projection.sources.name == "cells"
    assert projection.targets.name == "cells[1:3]"
    assert projection.name == "all"
    assert np.array_equal(np.asarray(projection.weight), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert (projection.delay, projection.receptor, projection.weight_bound, projection.site) == (
        2.0,
        "excitatory",
        9.0,
        0,
    )
    assert projection.synapse == rv.stdp_dopamine(dopamine=net.populations[0], W_max=10.0)
    assert (stimulus.name, stimulus.weight, stimulus.delay, stimulus.receptor) == ("drive", 2.0, 0.3, None)
    assert dict(stimulus.values) == {"amplitude": 5.0}


def test_a_copy_shows_the_same() -> None:
    net, projection, stimulus = connected()
    net.set(projection, weight=4.0, receptor=None)
    copy = pickle.loads(pickle.dumps(net))
    assert copy == net
    assert copy.projections[0].weight == 4.0
    assert copy.projections[0].receptor is None
    assert repr(copy.projections[0].synapse) == repr(projection.synapse)
    assert copy.stimuli[0].delay == stimulus.delay


def test_set_changes_each_keyword_that_is_not_fixed() -> None:
    net, projection, stimulus = connected()
    others: dict[str, object] = {
        "weight": 2.5,
        "delay": 0.7,
        "receptor": "inhibitory",
        "weight_bound": 8.0,
        "synapse": rv.stdp(),
        "site": None,
    }
    assert others.keys() == set(Connect.keywords(changeable=True))
    for key, value in others.items():
        net.set(projection, **{key: value})
        assert getattr(projection, key) == value
    for key in Connect.fixed():
        with pytest.raises(ReadOnlyError, match=key):
            net.set(projection, **{key: getattr(projection, key)})
    cells = net.populations[0]
    given = {
        "model": "iaf_psc_alpha",
        "size": 4,
        "step": 0.2,
        "positions": [[0.0, 0.0]] * 3,
        "rotation": None,
        "name": "others",
    }
    assert given.keys() == set(Create.fixed())
    for key, value in given.items():
        with pytest.raises(ReadOnlyError, match=f"{key} of population cells: it cannot be changed.*create another one"):
            net.set(cells, **{key: value})
    for key in Stimulate.fixed():
        with pytest.raises(ReadOnlyError, match=key):
            net.set(stimulus, **{key: getattr(stimulus, key)})


def test_the_core_refuses_a_description_without_one_of_its_fields() -> None:
    net, projection, _ = connected()
    core = contents_of(net).core
    cells = selection_of(projection.sources)
    given = dict.fromkeys(Connect.keywords(), None) | {"weight": 1.0, "delay": 1.0, "synapse": "static_synapse"}
    call = Connect(cells, cells, rv.OneToOne(), **Connect.checked(given, Context(net)))
    described = call._to_core(contents_of(net))
    for key in described:
        with pytest.raises(TypeError, match=f"the field {key} is missing"):
            core.connect({name: value for name, value in described.items() if name != key})
        if key != "site":
            with pytest.raises(TypeError, match=f"the field {key} cannot have this type"):
                core.connect({**described, key: _core.Communicator})
    with pytest.raises(TypeError, match="do not exist"):
        core.connect({**described, "color": 1.0})
    assert len(net.projections) == 1


def test_the_core_refuses_descriptions_of_other_parts_without_one_of_their_fields() -> None:
    net, projection, _ = connected()
    contents = contents_of(net)
    cells = selection_of(projection.sources)
    for call, make in (
        (Create("iaf_psc_exp", 3, {"I_e": 5.0}), contents.core.create),
        (RecordSpikes((cells,), None, False), contents.core.record_spikes),
        (RecordState(cells, ("V_m",), 1.0, None, False), contents.core.record_state),
    ):
        described = call._to_core(contents)
        for key in described:
            with pytest.raises(TypeError, match=f"the field {key} is missing"):
                make({name: value for name, value in described.items() if name != key})
            with pytest.raises(TypeError, match=f"the field {key} cannot have this type"):
                make({**described, key: _core.Communicator})
        with pytest.raises(TypeError, match="do not exist"):
            make({**described, "color": 1.0})
        make(described)
    assert net._contents.core.unit_count == 6


def test_a_stimulus_without_a_delay_has_that_of_a_step() -> None:
    spikes = []
    for delay in (None, 0.1, 0.2):
        net = rv.Network(resolution=0.1)
        cells = net.create("iaf_psc_exp", 5)
        stimulus = net.stimulate(cells, rv.poisson_generator(rate=9000.0), weight=90.0, delay=delay)
        assert stimulus.delay == (0.1 if delay is None else delay)
        recorder = net.record_spikes(cells)
        sim = rv.Simulation(net, threads=1)
        sim.run(50.0)
        spikes.append(list(zip(sim.spikes(recorder).steps, sim.spikes(recorder).ids, strict=True)))
    default, one_step, two_steps = spikes
    assert default
    assert default == one_step
    assert default != two_steps
