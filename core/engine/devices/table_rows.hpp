#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "connect/tables/network_plan.hpp"
#include "connect/tables/table_builder.hpp"
#include "device/backend/backend.hpp"

namespace ranvier::engine {

/// The row of a device for a row of a table that has synapses.
using RowOf = std::function<std::uint32_t(connect::KindIndex, RowIndex)>;

/// Copies the rows of the static tables of a shard as a device has them, into vectors whose memory is used again.
/// @param receptors of the block @param row_count of the block
/// @param with_synapses else only the begins of rows
void copy_table_rows(const connect::ShardTables& tables, const connect::NetworkPlan& network,
                     std::span<const device::Receptor> receptors, std::uint32_t row_count, const RowOf& row_of,
                     bool with_synapses, device::BlockRows& rows);

}  // namespace ranvier::engine
