#include "engine/devices/table_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "connect/tables/stored_synapses.hpp"

namespace ranvier::engine {

namespace {

/// Calls visit(row of the device, kind, row, length) for each row that has synapses. The rows of a table have one source each.
template <class Visit>
void visit_static_rows(const connect::ShardTables& tables, const connect::NetworkPlan& network, const RowOf& row_of,
                       const Visit& visit) {
    for (std::uint32_t i = 0; i < network.kinds.size(); ++i) {
        const connect::KindIndex kind{i};
        if (!tables[i] || network.dynamics_of(kind) != nullptr) continue;
        const connect::StoredSynapses& stored = *tables[i]->synapses();
        const std::uint32_t count = tables[i]->rows();
        for (std::uint32_t row = 0; row < count; ++row) {
            const std::uint64_t length = stored.row_end(RowIndex{row}) - stored.row_begin(RowIndex{row});
            if (length > 0) visit(row_of(kind, RowIndex{row}), kind, RowIndex{row}, length);
        }
    }
}

}  // namespace

void copy_table_rows(const connect::ShardTables& tables, const connect::NetworkPlan& network,
                     std::span<const device::Receptor> receptors, std::uint32_t row_count, const RowOf& row_of,
                     bool with_synapses, device::BlockRows& rows) {
    // While rows are filled, element n + 1 is the next place of row n.
    rows.begin.assign(row_count + std::size_t{2}, 0);
    std::uint64_t longest = 0;
    visit_static_rows(tables, network, row_of,
                      [&](std::uint32_t place, connect::KindIndex, RowIndex, std::uint64_t length) {
                          rows.begin[place + std::size_t{2}] += length;
                          longest = std::max(longest, length);
                      });
    for (std::size_t i = 2; i < rows.begin.size(); ++i) rows.begin[i] += rows.begin[i - 1];
    if (!with_synapses) {
        rows.begin.erase(rows.begin.begin());
        return;
    }
    rows.synapses.resize(rows.begin.back());
    std::vector<std::uint32_t> targets(longest);
    std::vector<DelaySteps> delays(longest);
    std::vector<std::uint64_t> positions(longest);
    std::vector<double> weights(longest);
    visit_static_rows(
        tables, network, row_of, [&](std::uint32_t place, connect::KindIndex kind, RowIndex row, std::uint64_t length) {
            const connect::StoredSynapses& stored = *tables[kind.value]->synapses();
            stored.copy_row(row, targets.data(), delays.data());
            std::iota(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(length),
                      stored.row_begin(row));
            stored.read_weights(std::span(positions).first(length), std::span(weights).first(length));
            const device::Receptor& receptor = receptors[network.receptor(kind)];
            device::u64& next = rows.begin[place + std::size_t{1}];
            for (std::uint64_t i = 0; i < length; ++i) {
                rows.synapses[next + i] = {receptor.cell(delays[i], targets[i]), static_cast<float>(weights[i])};
            }
            next += length;
        });
    rows.begin.pop_back();
}

}  // namespace ranvier::engine
