# Written by `make stub`.
"""Ranvier: a simulator of spiking neuronal networks.

Describe a `Network`, build a `Simulation` of it, run the simulation, and read what its recorders have recorded.

>>> import ranvier as rv
>>> net = rv.Network(resolution=0.1, seed=1)
>>> exc = net.create(rv.iaf_psc_exp(), 800, name="exc")
>>> drive = net.stimulate(exc, rv.poisson_generator(rate=8000.0), weight=60.0)
>>> recurrent = net.connect(exc, exc, rv.FixedIndegree(80), weight=20.0, delay=rv.Normal(1.5, 0.5, low=0.1))
>>> spikes = net.record_spikes()
>>> sim = rv.Simulation(net)
>>> sim.run(1000.0)
>>> sim.spikes(spikes).mean_rates()
"""

from ranvier import base as base
from ranvier import cells as cells
from ranvier import channels as channels
from ranvier import command_line as command_line
from ranvier import commands as commands
from ranvier import compiled as compiled
from ranvier import equations as equations
from ranvier import errors as errors
from ranvier import figures as figures
from ranvier import forecast as forecast
from ranvier import models as models
from ranvier import mpi as mpi
from ranvier import nestml as nestml
from ranvier import network as network
from ranvier import networks as networks
from ranvier import plot as plot
from ranvier import populations as populations
from ranvier import processes as processes
from ranvier import recording as recording
from ranvier import simulation as simulation
from ranvier import space as space
from ranvier import state as state
from ranvier.base.distributions import Distribution as Distribution
from ranvier.base.distributions import Exponential as Exponential
from ranvier.base.distributions import LogNormal as LogNormal
from ranvier.base.distributions import Normal as Normal
from ranvier.base.distributions import Uniform as Uniform
from ranvier.base.formulas import Composite as Composite
from ranvier.base.formulas import Formula as Formula
from ranvier.base.formulas import clip as clip
from ranvier.base.formulas import cos as cos
from ranvier.base.formulas import exp as exp
from ranvier.base.formulas import log as log
from ranvier.base.formulas import maximum as maximum
from ranvier.base.formulas import minimum as minimum
from ranvier.base.formulas import redraw as redraw
from ranvier.base.formulas import sin as sin
from ranvier.base.formulas import sqrt as sqrt
from ranvier.cells.cell import Cell as Cell
from ranvier.cells.clamps import Clamp as Clamp
from ranvier.cells.clamps import current_clamp as current_clamp
from ranvier.cells.clamps import voltage_clamp as voltage_clamp
from ranvier.cells.compartments import d_lambda as d_lambda
from ranvier.cells.compartments import max_length as max_length
from ranvier.cells.locations import places_at_distance as places_at_distance
from ranvier.cells.locations import random_places as random_places
from ranvier.cells.models import ca_hva as ca_hva
from ranvier.cells.models import ca_lva as ca_lva
from ranvier.cells.models import calcium_pool as calcium_pool
from ranvier.cells.models import exp2syn as exp2syn
from ranvier.cells.models import expsyn as expsyn
from ranvier.cells.models import h_current as h_current
from ranvier.cells.models import hh as hh
from ranvier.cells.models import k_fast as k_fast
from ranvier.cells.models import k_persistent as k_persistent
from ranvier.cells.models import k_transient as k_transient
from ranvier.cells.models import m_current as m_current
from ranvier.cells.models import na_persistent as na_persistent
from ranvier.cells.models import na_transient as na_transient
from ranvier.cells.models import nmda as nmda
from ranvier.cells.models import pas as pas
from ranvier.cells.models import sk_current as sk_current
from ranvier.cells.morphology import Morphology as Morphology
from ranvier.cells.morphology import Section as Section
from ranvier.cells.per_cell import per_cell as per_cell
from ranvier.cells.places import Place as Place
from ranvier.cells.places import Region as Region
from ranvier.cells.places import at as at
from ranvier.cells.places import everywhere as everywhere
from ranvier.cells.places import sections as sections
from ranvier.cells.places import tagged as tagged
from ranvier.cells.places import within_distance as within_distance
from ranvier.cells.reading import read_morphology as read_morphology
from ranvier.channels.channel import ChannelMechanism as ChannelMechanism
from ranvier.channels.channel import EquationChannel as EquationChannel
from ranvier.channels.channel import channel as channel
from ranvier.channels.nmodl import read_nmodl as read_nmodl
from ranvier.channels.receptor import EquationReceptor as EquationReceptor
from ranvier.channels.receptor import ReceptorMechanism as ReceptorMechanism
from ranvier.equations.expression import Expression as Expression
from ranvier.equations.files import read_neuron as read_neuron
from ranvier.equations.model import EquationNeuron as EquationNeuron
from ranvier.equations.model import neuron as neuron
from ranvier.equations.models import aeif_cond_alpha as aeif_cond_alpha
from ranvier.equations.models import aeif_cond_alpha_multisynapse as aeif_cond_alpha_multisynapse
from ranvier.equations.models import aeif_cond_beta_multisynapse as aeif_cond_beta_multisynapse
from ranvier.equations.models import aeif_cond_exp as aeif_cond_exp
from ranvier.equations.models import aeif_psc_alpha as aeif_psc_alpha
from ranvier.equations.models import aeif_psc_delta as aeif_psc_delta
from ranvier.equations.models import aeif_psc_delta_clopath as aeif_psc_delta_clopath
from ranvier.equations.models import aeif_psc_exp as aeif_psc_exp
from ranvier.equations.models import amat2_psc_exp as amat2_psc_exp
from ranvier.equations.models import gif_cond_exp as gif_cond_exp
from ranvier.equations.models import gif_cond_exp_multisynapse as gif_cond_exp_multisynapse
from ranvier.equations.models import gif_psc_exp as gif_psc_exp
from ranvier.equations.models import gif_psc_exp_multisynapse as gif_psc_exp_multisynapse
from ranvier.equations.models import glif_cond as glif_cond
from ranvier.equations.models import glif_psc as glif_psc
from ranvier.equations.models import hh_cond_exp_traub as hh_cond_exp_traub
from ranvier.equations.models import hh_psc_alpha as hh_psc_alpha
from ranvier.equations.models import hh_psc_alpha_clopath as hh_psc_alpha_clopath
from ranvier.equations.models import iaf_cond_alpha as iaf_cond_alpha
from ranvier.equations.models import iaf_cond_beta as iaf_cond_beta
from ranvier.equations.models import iaf_cond_exp as iaf_cond_exp
from ranvier.equations.models import iaf_psc_alpha_multisynapse as iaf_psc_alpha_multisynapse
from ranvier.equations.models import iaf_psc_exp_multisynapse as iaf_psc_exp_multisynapse
from ranvier.equations.models import iaf_wang_2002 as iaf_wang_2002
from ranvier.equations.models import izhikevich as izhikevich
from ranvier.equations.models import mat2_psc_exp as mat2_psc_exp
from ranvier.equations.models import pp_psc_delta as pp_psc_delta
from ranvier.equations.parameters import parameter as parameter
from ranvier.equations.synapse import EquationSynapse as EquationSynapse
from ranvier.equations.synapse import synapse as synapse
from ranvier.models import ac_generator as ac_generator
from ranvier.models import bernoulli as bernoulli
from ranvier.models import clopath as clopath
from ranvier.models import dc_generator as dc_generator
from ranvier.models import gamma_generator as gamma_generator
from ranvier.models import iaf_cond_nmda as iaf_cond_nmda
from ranvier.models import iaf_psc_alpha as iaf_psc_alpha
from ranvier.models import iaf_psc_delta as iaf_psc_delta
from ranvier.models import iaf_psc_exp as iaf_psc_exp
from ranvier.models import ignore_and_fire as ignore_and_fire
from ranvier.models import inhomogeneous_gamma_generator as inhomogeneous_gamma_generator
from ranvier.models import inhomogeneous_poisson_generator as inhomogeneous_poisson_generator
from ranvier.models import interval_fire as interval_fire
from ranvier.models import mip_generator as mip_generator
from ranvier.models import noise_generator as noise_generator
from ranvier.models import parrot_neuron as parrot_neuron
from ranvier.models import poisson_generator as poisson_generator
from ranvier.models import pulsepacket_generator as pulsepacket_generator
from ranvier.models import quantal_stp as quantal_stp
from ranvier.models import saturating_nmda as saturating_nmda
from ranvier.models import sinusoidal_gamma_generator as sinusoidal_gamma_generator
from ranvier.models import sinusoidal_poisson_generator as sinusoidal_poisson_generator
from ranvier.models import static_synapse as static_synapse
from ranvier.models import stdp as stdp
from ranvier.models import stdp_dopamine as stdp_dopamine
from ranvier.models import stdp_nn_pre_centered as stdp_nn_pre_centered
from ranvier.models import stdp_nn_restr as stdp_nn_restr
from ranvier.models import stdp_nn_symm as stdp_nn_symm
from ranvier.models import stdp_pl as stdp_pl
from ranvier.models import stdp_triplet as stdp_triplet
from ranvier.models import step_current_generator as step_current_generator
from ranvier.models import tsodyks as tsodyks
from ranvier.models import tsodyks2 as tsodyks2
from ranvier.models import vogels_sprekeler as vogels_sprekeler
from ranvier.nestml.reading import read_nestml as read_nestml
from ranvier.network.connection_sets import ConnectionSet as ConnectionSet
from ranvier.network.edge_files import EdgeFile as EdgeFile
from ranvier.network.fields import AppliedField as AppliedField
from ranvier.network.fields import CellCoupling as CellCoupling
from ranvier.network.function_rules import FunctionRule as FunctionRule
from ranvier.network.function_rules import MadeRule as MadeRule
from ranvier.network.given_fields import OutsideField as OutsideField
from ranvier.network.given_fields import given_field as given_field
from ranvier.network.given_fields import point_source as point_source
from ranvier.network.given_fields import read_field as read_field
from ranvier.network.given_fields import sampled_field as sampled_field
from ranvier.network.given_fields import uniform_field as uniform_field
from ranvier.network.listed_rules import FromMatrix as FromMatrix
from ranvier.network.network import Network as Network
from ranvier.network.potential_kernels import PotentialKernel as PotentialKernel
from ranvier.network.projections import Projection as Projection
from ranvier.network.projections import Stimulus as Stimulus
from ranvier.network.recorders import CompartmentRecorder as CompartmentRecorder
from ranvier.network.recorders import DipoleRecorder as DipoleRecorder
from ranvier.network.recorders import ExtracellularRecorder as ExtracellularRecorder
from ranvier.network.recorders import LfpRecorder as LfpRecorder
from ranvier.network.recorders import SpikeRecorder as SpikeRecorder
from ranvier.network.recorders import StateRecorder as StateRecorder
from ranvier.network.recorders import WeightRecorder as WeightRecorder
from ranvier.network.reversed_rules import Reversed as Reversed
from ranvier.network.rule_base import Rule as Rule
from ranvier.network.rules import AllToAll as AllToAll
from ranvier.network.rules import Explicit as Explicit
from ranvier.network.rules import ExplicitRows as ExplicitRows
from ranvier.network.rules import FixedIndegree as FixedIndegree
from ranvier.network.rules import FixedOutdegree as FixedOutdegree
from ranvier.network.rules import FixedTotalNumber as FixedTotalNumber
from ranvier.network.rules import NearestNeighbors as NearestNeighbors
from ranvier.network.rules import OneToOne as OneToOne
from ranvier.network.rules import PairwiseBernoulli as PairwiseBernoulli
from ranvier.network.rules import PairwisePoisson as PairwisePoisson
from ranvier.network.rules import SmallWorld as SmallWorld
from ranvier.network.rules import UniformIndegree as UniformIndegree
from ranvier.network.rules import UnorderedBernoulli as UnorderedBernoulli
from ranvier.network.sites import SiteProbabilities as SiteProbabilities
from ranvier.network.templates import CellTemplate as CellTemplate
from ranvier.network.waveforms import Waveform as Waveform
from ranvier.network.waveforms import pulse_train as pulse_train
from ranvier.network.waveforms import sine_wave as sine_wave
from ranvier.network.waveforms import waveform as waveform
from ranvier.populations.distances import displacement as displacement
from ranvier.populations.distances import distance as distance
from ranvier.populations.populations import Population as Population
from ranvier.populations.populations import PopulationView as PopulationView
from ranvier.recording.activity import PopulationRate as PopulationRate
from ranvier.recording.activity import PowerSpectrum as PowerSpectrum
from ranvier.recording.correlations import CrossCorrelogram as CrossCorrelogram
from ranvier.recording.correlations import PeristimulusHistogram as PeristimulusHistogram
from ranvier.recording.data import CompartmentData as CompartmentData
from ranvier.recording.data import DipoleData as DipoleData
from ranvier.recording.data import ExtracellularData as ExtracellularData
from ranvier.recording.data import SpikeData as SpikeData
from ranvier.recording.data import StateData as StateData
from ranvier.recording.data import WeightData as WeightData
from ranvier.recording.potential_analysis import CurrentSourceDensity as CurrentSourceDensity
from ranvier.recording.potential_analysis import SpikeTriggeredAverage as SpikeTriggeredAverage
from ranvier.recording.reading import read_spikes as read_spikes
from ranvier.recording.reading import read_state as read_state
from ranvier.recording.reading import read_weights as read_weights
from ranvier.recording.segments import Segment as Segment
from ranvier.recording.spike_trains import read_spike_trains as read_spike_trains
from ranvier.simulation.connections import Connections as Connections
from ranvier.simulation.measurements import Counts as Counts
from ranvier.simulation.options import DryRun as DryRun
from ranvier.simulation.options import Processes as Processes
from ranvier.simulation.options import Tuning as Tuning
from ranvier.simulation.predictions import predict_memory as predict_memory
from ranvier.simulation.progress import ProgressReport as ProgressReport
from ranvier.simulation.simulation import Simulation as Simulation
from ranvier.simulation.trace import Trace as Trace
from ranvier.simulation.trace import TraceAccount as TraceAccount
from ranvier.simulation.unitary_potentials import unitary_potentials as unitary_potentials
from ranvier.space.boundary import BoundaryPlane as BoundaryPlane
from ranvier.space.contacts import laminar_probe as laminar_probe
from ranvier.space.histograms import DistanceHistogram as DistanceHistogram
from ranvier.space.kernels import KernelFit as KernelFit
from ranvier.space.layers import Layers as Layers
from ranvier.space.layers import layers as layers
from ranvier.space.masks import Mask as Mask
from ranvier.space.masks import ball as ball
from ranvier.space.masks import box as box
from ranvier.space.masks import circle as circle
from ranvier.space.masks import donut as donut
from ranvier.space.masks import ellipse as ellipse
from ranvier.space.masks import ellipsoid as ellipsoid
from ranvier.space.masks import grid_mask as grid_mask
from ranvier.space.masks import rectangle as rectangle
from ranvier.space.positions import GivenPositions as GivenPositions
from ranvier.space.positions import Grid as Grid
from ranvier.space.positions import Positions as Positions
from ranvier.space.positions import RandomPositions as RandomPositions
from ranvier.space.positions import grid as grid
from ranvier.space.positions import positions as positions
from ranvier.space.positions import random_positions as random_positions
from ranvier.space.rotations import Rotation as Rotation
from ranvier.space.rotations import random_rotation as random_rotation
from ranvier.space.rotations import rotation as rotation

__all__ = [
    "AllToAll",
    "AppliedField",
    "BoundaryPlane",
    "Cell",
    "CellCoupling",
    "CellTemplate",
    "ChannelMechanism",
    "Clamp",
    "CompartmentData",
    "CompartmentRecorder",
    "Composite",
    "ConnectionSet",
    "Connections",
    "Counts",
    "CrossCorrelogram",
    "CurrentSourceDensity",
    "DipoleData",
    "DipoleRecorder",
    "DistanceHistogram",
    "Distribution",
    "DryRun",
    "EdgeFile",
    "EquationChannel",
    "EquationNeuron",
    "EquationReceptor",
    "EquationSynapse",
    "Explicit",
    "ExplicitRows",
    "Exponential",
    "Expression",
    "ExtracellularData",
    "ExtracellularRecorder",
    "FixedIndegree",
    "FixedOutdegree",
    "FixedTotalNumber",
    "Formula",
    "FromMatrix",
    "FunctionRule",
    "GivenPositions",
    "Grid",
    "KernelFit",
    "Layers",
    "LfpRecorder",
    "LogNormal",
    "MadeRule",
    "Mask",
    "Morphology",
    "NearestNeighbors",
    "Network",
    "Normal",
    "OneToOne",
    "OutsideField",
    "PairwiseBernoulli",
    "PairwisePoisson",
    "PeristimulusHistogram",
    "Place",
    "Population",
    "PopulationRate",
    "PopulationView",
    "Positions",
    "PotentialKernel",
    "PowerSpectrum",
    "Processes",
    "ProgressReport",
    "Projection",
    "RandomPositions",
    "ReceptorMechanism",
    "Region",
    "Reversed",
    "Rotation",
    "Rule",
    "Section",
    "Segment",
    "Simulation",
    "SiteProbabilities",
    "SmallWorld",
    "SpikeData",
    "SpikeRecorder",
    "SpikeTriggeredAverage",
    "StateData",
    "StateRecorder",
    "Stimulus",
    "Trace",
    "TraceAccount",
    "Tuning",
    "Uniform",
    "UniformIndegree",
    "UnorderedBernoulli",
    "Waveform",
    "WeightData",
    "WeightRecorder",
    "__source_revision__",
    "__version__",
    "ac_generator",
    "aeif_cond_alpha",
    "aeif_cond_alpha_multisynapse",
    "aeif_cond_beta_multisynapse",
    "aeif_cond_exp",
    "aeif_psc_alpha",
    "aeif_psc_delta",
    "aeif_psc_delta_clopath",
    "aeif_psc_exp",
    "amat2_psc_exp",
    "at",
    "ball",
    "bernoulli",
    "box",
    "ca_hva",
    "ca_lva",
    "calcium_pool",
    "channel",
    "circle",
    "clip",
    "clopath",
    "cos",
    "current_clamp",
    "d_lambda",
    "dc_generator",
    "displacement",
    "distance",
    "donut",
    "ellipse",
    "ellipsoid",
    "errors",
    "everywhere",
    "exp",
    "exp2syn",
    "expsyn",
    "gamma_generator",
    "gif_cond_exp",
    "gif_cond_exp_multisynapse",
    "gif_psc_exp",
    "gif_psc_exp_multisynapse",
    "given_field",
    "glif_cond",
    "glif_psc",
    "grid",
    "grid_mask",
    "h_current",
    "hh",
    "hh_cond_exp_traub",
    "hh_psc_alpha",
    "hh_psc_alpha_clopath",
    "iaf_cond_alpha",
    "iaf_cond_beta",
    "iaf_cond_exp",
    "iaf_cond_nmda",
    "iaf_psc_alpha",
    "iaf_psc_alpha_multisynapse",
    "iaf_psc_delta",
    "iaf_psc_exp",
    "iaf_psc_exp_multisynapse",
    "iaf_wang_2002",
    "ignore_and_fire",
    "inhomogeneous_gamma_generator",
    "inhomogeneous_poisson_generator",
    "interval_fire",
    "izhikevich",
    "k_fast",
    "k_persistent",
    "k_transient",
    "laminar_probe",
    "layers",
    "log",
    "m_current",
    "mat2_psc_exp",
    "max_length",
    "maximum",
    "minimum",
    "mip_generator",
    "na_persistent",
    "na_transient",
    "networks",
    "neuron",
    "nmda",
    "noise_generator",
    "parameter",
    "parrot_neuron",
    "pas",
    "per_cell",
    "places_at_distance",
    "plot",
    "point_source",
    "poisson_generator",
    "positions",
    "pp_psc_delta",
    "predict_memory",
    "pulse_train",
    "pulsepacket_generator",
    "quantal_stp",
    "random_places",
    "random_positions",
    "random_rotation",
    "read_field",
    "read_morphology",
    "read_nestml",
    "read_neuron",
    "read_nmodl",
    "read_spike_trains",
    "read_spikes",
    "read_state",
    "read_weights",
    "rectangle",
    "redraw",
    "rotation",
    "sampled_field",
    "saturating_nmda",
    "sections",
    "sin",
    "sine_wave",
    "sinusoidal_gamma_generator",
    "sinusoidal_poisson_generator",
    "sk_current",
    "sqrt",
    "static_synapse",
    "stdp",
    "stdp_dopamine",
    "stdp_nn_pre_centered",
    "stdp_nn_restr",
    "stdp_nn_symm",
    "stdp_pl",
    "stdp_triplet",
    "step_current_generator",
    "synapse",
    "tagged",
    "tsodyks",
    "tsodyks2",
    "uniform_field",
    "unitary_potentials",
    "vogels_sprekeler",
    "voltage_clamp",
    "waveform",
    "within_distance",
]

__version__: str
__source_revision__: str
