#include "connect/tables/transmitter_table.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace ranvier::connect {

TransmitterTable::TransmitterTable(Transmitter transmitter, std::vector<ModulatedSynapses*> modulated)
    : transmitter_(std::move(transmitter)), modulated_(std::move(modulated)) {}

void TransmitterTable::find_rows(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const {
    for (const NeuronId source : sources) {
        if (const auto row = transmitter_.sources.find(source)) {
            rows.push_back(RowIndex{static_cast<std::uint32_t>(*row)});
        }
    }
}

std::uint64_t TransmitterTable::accept(InstructionSet /*set*/, Step stamp, std::span<const RowIndex> rows, Step /*now*/,
                                       Step /*window_end*/, const InputRing& /*inputs*/) {
    for (ModulatedSynapses* const synapses : modulated_) synapses->modulate(stamp + transmitter_.delay, rows.size());
    return 0;
}

void append_transmitters(ShardTables& tables, std::span<const SynapseDynamics* const> dynamics) {
    for (std::size_t kind = 0; kind < dynamics.size(); ++kind) {
        const SynapseDynamics* const of_kind = dynamics[kind];
        const auto before = dynamics.first(kind);
        if (of_kind == nullptr || of_kind->transmitter() == nullptr ||
            std::ranges::find(before, of_kind) != before.end())
            continue;
        std::vector<ModulatedSynapses*> modulated;
        for (std::size_t other = kind; other < dynamics.size(); ++other) {
            if (dynamics[other] != of_kind || !tables[other]) continue;
            modulated.push_back(tables[other]->learning()->modulated_synapses());
        }
        tables.push_back(modulated.empty()
                             ? nullptr
                             : std::make_unique<TransmitterTable>(*of_kind->transmitter(), std::move(modulated)));
    }
}

}  // namespace ranvier::connect
