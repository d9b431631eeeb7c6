#pragma once

#include <span>
#include <vector>

#include "device/backend/backend.hpp"
#include "device/kernel/construction.hpp"

/// Rows as kernels read them.
namespace ranvier::device {

/// Where the rows of a block are; see RowTable of the kernels.
struct PackedRows {
    u32 length_bits = 0;     ///< of the length of a row, 8 or 16; 0: rows are found by their begin
    std::vector<u32> words;  ///< RowTable::words
    bool is_split = false;   ///< urgent synapses come first
    u32 urgent_bits = 0;     ///< a row has at most 2^n of them
};

/// @param begin of each row, relative to the first row, and the end of the last one
PackedRows index_rows(std::span<const u64> begin);

/// Splits rows, whose urgent synapses come first, if few are so: then the others can be added while the next records are
/// under way.
void split_rows(const UrgentSynapses& urgent, u64 synapses, PackedRows& packed);

/// Moves the synapses of each row with a delay of one step to its begin, if rows may be split: where blocks exchange spikes in
/// each step.
PackedRows pack_rows(BlockRows& rows, std::span<const ReceptorImage> receptors, bool may_split);

/// Words of a table of rows.
std::size_t index_words(u32 rows, u32 length_bits);
/// The begins of rows, from a table.
void read_begins(std::span<const u32> words, u32 length_bits, u32 count, BlockRows& rows);

}  // namespace ranvier::device
