#include "geometry.hpp"
#include "simulation.hpp"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ranvier::bindings {

namespace {

using engine::ConnectionData;
using engine::ConnectionQuery;
using engine::Simulation;

using OptionalIds = std::optional<InputArray<std::int64_t>>;

engine::Gather to_gather(std::string_view name) {
    if (name == "everywhere") return engine::Gather::everywhere;
    if (name == "root") return engine::Gather::root;
    return engine::Gather::local;
}

auto local_ids(const Simulation& self, std::uint64_t first, std::uint64_t size) {
    const IdSequence ids = self.local_ids().within(NeuronId{first}, size);
    std::vector<std::uint64_t> list;
    if (!ids.is_progression()) list.assign(ids.list().begin(), ids.list().end());
    const std::uint64_t begin = ids.empty() ? first : ids[0].value;
    return std::tuple(begin, ids.is_progression() ? ids.stride() : 0, ids.size(),
                      to_array<std::int64_t>(std::move(list)));
}

void set_coupling(Simulation& self, std::size_t field, const InputTriples& begin, const InputTriples& end,
                  const InputArray<double>& radius) {
    const std::vector<fmm::LinePiece> lines = pieces_of(begin, end, radius);
    const engine::Poll poll = bindings::make_poll(nullptr);
    const Unlocked unlocked;
    self.set_coupling(field, lines, poll);
}

ConnectionQuery make_query(const OptionalIds& sources, const OptionalIds& targets,
                           std::optional<std::uint32_t> projection, std::optional<std::string> receptor,
                           const OptionalIds& sites) {
    ConnectionQuery query;
    if (sources) query.sources = to_vector<std::uint64_t>(*sources);
    if (targets) query.targets = to_vector<std::uint64_t>(*targets);
    if (projection) query.projection = ProjectionId(*projection);
    query.receptor = std::move(receptor);
    if (sites) query.sites = to_vector<std::uint64_t>(*sites);
    return query;
}

auto connections(const Simulation& simulation, const OptionalIds& sources, const OptionalIds& targets,
                 std::optional<std::uint32_t> projection, std::optional<std::string> receptor,
                 const OptionalIds& sites) {
    const ConnectionQuery query = make_query(sources, targets, projection, std::move(receptor), sites);
    ConnectionData data;
    const engine::Poll poll = bindings::make_poll(nullptr);
    {
        const Unlocked unlocked;
        simulation.prepare_connections(query, poll);
        data = simulation.connections(query);
    }
    return std::tuple(to_array<std::int64_t>(std::move(data.sources)), to_array<std::int64_t>(std::move(data.targets)),
                      to_array<std::uint32_t>(std::move(data.delays)),
                      to_array<std::uint32_t>(std::move(data.projections)),
                      to_array<std::uint32_t>(std::move(data.sites)), to_array<std::uint64_t>(std::move(data.handles)));
}

}  // namespace

void bind_recordings(nb::class_<Simulation>& simulation) {
    simulation
        .def(
            "take_spikes",
            [](Simulation& self, network::RecorderIndex recorder, std::string_view gather) {
                engine::SpikeData data;
                {
                    const Unlocked unlocked;
                    data = self.take_spikes(recorder, to_gather(gather));
                }
                return std::pair(to_array<std::int64_t>(std::move(data.steps)),
                                 to_array<std::int64_t>(std::move(data.neurons)));
            },
            nb::arg("recorder"), nb::arg("gather"),
            "Steps and neurons of the spikes recorded since the last call: everywhere, at the root, or local.")
        .def("local_ids", local_ids, nb::arg("first"), nb::arg("size"),
             "Ids of this process among `size` from `first` on: the first, the stride and the number of them; with "
             "stride 0 "
             "they are listed in the array.")
        .def(
            "take_state",
            [](Simulation& self, network::RecorderIndex recorder, std::string_view gather) {
                engine::StateData data;
                {
                    const Unlocked unlocked;
                    data = self.take_state(recorder, to_gather(gather));
                }
                return std::tuple(to_array<std::int64_t>(std::move(data.steps)),
                                  to_array<double>(std::move(data.values)),
                                  to_array<std::int64_t>(std::move(data.places)));
            },
            nb::arg("recorder"), nb::arg("gather"),
            "Steps, values (by sample, variable, neuron) recorded since the last call, and the indices of their "
            "neurons "
            "in the recorder.")
        .def(
            "take_counts",
            [](Simulation& self, network::RecorderIndex recorder, std::string_view gather) {
                engine::CountData data;
                {
                    const Unlocked unlocked;
                    data = self.take_counts(recorder, to_gather(gather));
                }
                return std::pair(to_array<std::int64_t>(std::move(data.steps)),
                                 to_array<std::int64_t>(std::move(data.counts)));
            },
            nb::arg("recorder"), nb::arg("gather"),
            "Steps at the ends of bins, and numbers of spikes (by bin, set of neurons) since the last call.")
        .def(
            "set_readout",
            [](Simulation& self, network::RecorderIndex recorder, std::uint64_t neuron,
               const InputArray<double>& weights) { self.set_readout(recorder, NeuronId{neuron}, to_span(weights)); },
            nb::arg("recorder"), nb::arg("neuron"), nb::arg("weights"),
            "Set the weights of a neuron in a readout, by compartment and output.")
        .def("set_readout_exponent", &Simulation::set_readout_exponent, nb::arg("recorder"), nb::arg("exponent"),
             "Set the power of 2 that no weight of a readout exceeds.")
        .def(
            "set_field",
            [](Simulation& self, std::size_t field, std::uint64_t neuron, const InputArray<double>& potentials) {
                self.set_field(field, NeuronId{neuron}, to_span(potentials));
            },
            nb::arg("field"), nb::arg("neuron"), nb::arg("potentials"),
            "Set the distributions of given potentials at a neuron, mV, by distribution and compartment.")
        .def("set_coupling", set_coupling, nb::arg("field"), nb::arg("begin"), nb::arg("end"), nb::arg("radius"),
             "Prepare the coupling of the cells of a field, from the lines of their compartments, um: of all cells, or "
             "by the "
             "fast multipole method of those of this process. All processes must call it.")
        .def_prop_ro("recorded_bytes", &Simulation::recorded_bytes);
}

void bind_connections(nb::class_<Simulation>& simulation) {
    simulation
        .def(
            "count_connections",
            [](const Simulation& self, const OptionalIds& sources, const OptionalIds& targets,
               std::optional<std::uint32_t> projection, std::optional<std::string> receptor, const OptionalIds& sites) {
                const ConnectionQuery query = make_query(sources, targets, projection, std::move(receptor), sites);
                const engine::Poll poll = bindings::make_poll(nullptr);
                const Unlocked unlocked;
                self.prepare_connections(query, poll);
                return self.count_connections(query);
            },
            nb::arg("sources").none(), nb::arg("targets").none(), nb::arg("projection").none(),
            nb::arg("receptor").none(), nb::arg("sites").none())
        .def("connections", connections, nb::arg("sources").none(), nb::arg("targets").none(),
             nb::arg("projection").none(), nb::arg("receptor").none(), nb::arg("sites").none(),
             "Sources, targets, delays (steps), projections, sites, handles.")
        .def(
            "weights",
            [](const Simulation& self, const InputArray<std::uint64_t>& handles) {
                std::vector<double> weights;
                {
                    const Unlocked unlocked;
                    weights = self.weights(to_span(handles));
                }
                return to_array<double>(std::move(weights));
            },
            nb::arg("handles"))
        .def(
            "receptors",
            [](const Simulation& self, const InputArray<std::uint64_t>& handles) {
                return to_array<std::uint32_t>(self.receptors(to_span(handles)));
            },
            nb::arg("handles"), "The receptors of synapses, as indices in the targets' models.")
        .def(
            "stored_here",
            [](const Simulation& self, const InputArray<std::uint64_t>& handles) {
                std::vector<std::uint64_t> indices;
                {
                    const Unlocked unlocked;
                    indices = self.stored_here(to_span(handles));
                }
                return to_array<std::int64_t>(std::move(indices));
            },
            nb::arg("handles"), "The indices of those of some synapses that are stored on this process.")
        .def(
            "set_weights",
            [](Simulation& self, const InputArray<std::uint64_t>& handles, const InputArray<double>& weights) {
                const Unlocked unlocked;
                self.set_weights(to_span(handles), to_span(weights));
            },
            nb::arg("handles"), nb::arg("weights"));
}

void bind_synapse_parameters(nb::class_<Simulation>& simulation) {
    simulation
        .def(
            "synapse_parameters",
            [](const Simulation& self, const InputArray<std::uint64_t>& handles, const std::string& name) {
                std::vector<double> values;
                {
                    const Unlocked unlocked;
                    values = self.synapse_parameters(to_span(handles), name);
                }
                return to_array<double>(std::move(values));
            },
            nb::arg("handles"), nb::arg("name"))
        .def(
            "set_synapse_parameters",
            [](Simulation& self, const InputArray<std::uint64_t>& handles,
               const std::map<std::string, InputArray<double>>& values) {
                engine::GivenParameters given;
                for (const auto& [name, array] : values) given.emplace(name, to_span(array));
                const Unlocked unlocked;
                self.set_synapse_parameters(to_span(handles), given);
            },
            nb::arg("handles"), nb::arg("values"), "Values of each synapse, by the names of parameters.");
}

}  // namespace ranvier::bindings
