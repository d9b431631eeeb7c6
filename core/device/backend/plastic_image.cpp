#include "device/backend/plastic_image.hpp"

#include "device/backend/packer.hpp"

namespace ranvier::device {

namespace {

class TablePacker {
   public:
    explicit TablePacker(u64 address) : packer_(address) {}

    Packer& packer() { return packer_; }

    template <class Element>
    const Element* array(const std::vector<Element>& elements) {
        return packer_.address<Element>(packer_.add<Element>(elements));
    }
    template <class Element>
    Element* room(std::size_t count) {
        return packer_.address<Element>(packer_.add_room<Element>(count));
    }
    template <class Real>
    DecayTable<Real> decay(const DecayFactors<Real>& factors) {
        if (factors.stretches.empty()) return {};
        return {.within = array(factors.within),
                .stretches = array(factors.stretches),
                .last = static_cast<u32>(factors.stretches.size() - 1)};
    }

    TableRows rows(const TableImage& image) {
        return {.rows = static_cast<u32>(image.rows()),
                .receptor = image.receptor,
                .rule = image.rule,
                .row_of = array(image.row_of),
                .begin = array(image.begin),
                .targets = array(image.targets),
                .delays = array(image.delays),
                .weights = packer_.address<float>(packer_.add<float>(image.weights)),
                .to_grid = 0x1.8p52 * image.quantum};
    }

    LearningTable learning(const LearningImage& image) {
        const std::size_t rows_of_table = image.of.rows();
        const std::size_t spikes = std::size_t{image.neurons} * image.room;
        LearningTable table;
        table.of = rows(image.of);
        table.pairing = image.pairing;
        table.presynaptic_accumulates = image.presynaptic_accumulates ? 1 : 0;
        table.postsynaptic_accumulates = image.postsynaptic_accumulates ? 1 : 0;
        table.parameter_count = static_cast<u32>(image.shared.size());
        for (std::size_t k = 0; k < image.shared.size(); ++k) {
            table.shared[k] = image.shared[k];
            if (!image.parameters[k].empty()) table.parameters[k] = array(image.parameters[k]);
        }
        const std::size_t synapses = image.of.weights.size();
        if (image.pairing == SpikePairing::presynaptic_centred && !image.is_timed) {
            table.synapse_traces = room<float>(synapses);
        }
        table.timed.is_used = image.is_timed ? 1 : 0;
        table.timed.resolution = image.resolution;
        for (std::size_t kind = 0; kind < TimedTraces::kinds; ++kind) {
            if (!image.time_constants[kind].empty()) {
                table.timed.time_constants[kind] = array(image.time_constants[kind]);
            }
            if (image.has_timed_trace[kind]) table.timed.values[kind] = room<float>(synapses);
        }
        table.last = room<i64>(rows_of_table);
        table.traces = room<double>(rows_of_table);
        table.last_before = room<i64>(rows_of_table);
        table.trace_before = room<float>(rows_of_table);
        if (image.has_same_side_presynaptic) {
            table.same_side = room<double>(rows_of_table);
            table.same_side_before = room<float>(rows_of_table);
        }
        if (image.modulation.is_used) table.modulation = modulation(image.modulation, synapses);
        if (!image.axonal.empty()) {
            table.axonal.steps = array(image.axonal);
            table.axonal.least = image.least_axonal;
            table.axonal.greatest = image.axonal.back();
            table.axonal.slots = table.axonal.greatest + 1;
            const std::size_t spikes_of_rows = table.axonal.slots * rows_of_table;
            table.axonal.stamps = room<i64>(spikes_of_rows);
            table.axonal.last = room<i64>(spikes_of_rows);
            table.axonal.traces = room<float>(spikes_of_rows);
            table.axonal.same_side = room<float>(spikes_of_rows);
        }
        table.row_decay = decay(image.row_decay);
        table.row_same_side_decay = decay(image.row_same_side_decay);
        table.presynaptic = decay(image.presynaptic);
        table.postsynaptic = decay(image.postsynaptic);
        table.first_neuron = image.first_neuron;
        table.neurons = image.neurons;
        table.room = image.room;
        table.most_new = image.most_new;
        table.counts = room<u32>(image.neurons);
        table.new_counts = room<u32>(image.neurons);
        table.steps = room<i64>(spikes);
        table.after = room<float>(spikes);
        table.last_traces = room<double>(image.neurons);
        if (image.has_same_side_postsynaptic) {
            table.before = room<float>(spikes);
            table.last_same_side = room<double>(image.neurons);
        }
        table.neuron_decay = decay(image.neuron_decay);
        table.neuron_same_side_decay = decay(image.neuron_same_side_decay);
        table.greatest = room<u32>(1);
        return table;
    }

    Modulation modulation(const ModulationImage& image, std::size_t synapses) {
        Modulation made = image.constants;
        made.is_used = 1;
        made.eligibility_decay = decay(image.eligibility_decay);
        made.concentration_decay = decay(image.concentration_decay);
        made.falling_gains = array(image.falling_gains);
        made.constant_gains = array(image.constant_gains);
        made.eligibility = room<float>(synapses);
        made.remainders = room<float>(synapses);
        made.sources = array(image.sources);
        made.spikes = room<u32>(made.slots);
        made.pulse_count = room<u32>(1);
        made.steps = room<i64>(made.room);
        made.after = room<double>(made.room);
        return made;
    }

    FactorTable factors(const FactorImage& image) {
        FactorTable table;
        const std::size_t rows_of_table = image.of.rows();
        table.of = rows(image.of);
        table.states = image.states;
        if (!image.has_synapse_states) table.values = room<double>(rows_of_table * image.states);
        table.last = room<i64>(rows_of_table);
        table.factors = room<double>(image.has_synapse_states ? 0 : rows_of_table);
        if (!image.has_synapse_releases) return table;
        SynapseReleases& each = table.each;
        each.is_used = 1;
        each.parameter_count = static_cast<u32>(image.shared.size());
        for (std::size_t k = 0; k < image.shared.size(); ++k) {
            each.shared[k] = image.shared[k];
            if (!image.parameters[k].empty()) each.parameters[k] = array(image.parameters[k]);
        }
        each.synapses = image.of.weights.size();
        if (image.has_synapse_states) each.values = room<float>(each.synapses * image.states);
        if (image.has_counts) each.counts = room<u32>(each.synapses);
        each.last_before = room<i64>(rows_of_table);
        if (!image.has_synapse_states) each.values_before = room<double>(rows_of_table * image.states);
        if (image.blocks == 0) return table;
        each.blocks = image.blocks;
        each.key_low = image.key_low;
        each.key_high = image.key_high;
        each.sources = array(image.sources);
        each.targets = array(image.targets);
        if (!image.numbers.empty()) each.numbers = array(image.numbers);
        each.keys = room<u64>(rows_of_table);
        each.repeated = room<u32>(rows_of_table);
        return table;
    }

   private:
    Packer packer_;
};

}  // namespace

PackedTables pack_tables(const TablesImage& image, u64 address) {
    PackedTables packed;
    TablePacker tables(address);
    Packer& packer = tables.packer();
    const std::size_t learning = packer.add_room<LearningTable>(image.learning.size());
    const std::size_t factors = packer.add_room<FactorTable>(image.factors.size());
    packed.learning_tables = packer.address<LearningTable>(learning);
    packed.factor_tables = packer.address<FactorTable>(factors);
    packed.settled = tables.room<i64>(1);
    for (const LearningImage& each : image.learning) packed.learning.push_back(tables.learning(each));
    for (const FactorImage& each : image.factors) packed.factors.push_back(tables.factors(each));
    for (std::size_t t = 0; t < packed.learning.size(); ++t) {
        packer.put(learning + t * sizeof(LearningTable), packed.learning[t]);
    }
    for (std::size_t t = 0; t < packed.factors.size(); ++t) {
        packer.put(factors + t * sizeof(FactorTable), packed.factors[t]);
    }
    packed.bytes = packer.finish();
    return packed;
}

}  // namespace ranvier::device
