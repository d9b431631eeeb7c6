#include "device/backend/row_packing.hpp"

#include <algorithm>
#include <bit>

namespace ranvier::device {

namespace {

/// More of a row are not added together with those of other rows by a warp.
constexpr u32 most_urgent = 16;

u32 rows_of_entry(u32 bits) { return RowTable::length_words * (32 / bits); }

UrgentSynapses order(BlockRows& rows, std::span<const ReceptorImage> images) {
    const std::vector<Receptor> receptors = numbered(images);
    UrgentSynapses urgent;
    for (std::size_t row = 0; row + 1 < rows.begin.size(); ++row) {
        const auto begin = rows.synapses.begin() + static_cast<std::ptrdiff_t>(rows.begin[row]);
        const auto end = rows.synapses.begin() + static_cast<std::ptrdiff_t>(rows.begin[row + 1]);
        const auto rest = std::partition(begin, end, [&](const Synapse& synapse) {
            return is_urgent(receptors.data(), static_cast<u32>(receptors.size()), synapse.cell);
        });
        urgent.all += static_cast<u64>(rest - begin);
        urgent.most = std::max(urgent.most, static_cast<u32>(rest - begin));
    }
    return urgent;
}

}  // namespace

std::size_t index_words(u32 rows, u32 length_bits) {
    if (length_bits == 0) return 2 * (rows + std::size_t{1});
    const std::size_t of_entry = rows_of_entry(length_bits);
    return (rows + of_entry - 1) / of_entry * RowTable::entry_words;
}

PackedRows index_rows(std::span<const u64> begin) {
    PackedRows packed;
    u64 longest = 0;
    for (std::size_t row = 0; row + 1 < begin.size(); ++row) longest = std::max(longest, begin[row + 1] - begin[row]);
    packed.length_bits = longest < 0x100 ? 8 : longest < 0x10000 ? 16 : 0;
    packed.words.assign(index_words(static_cast<u32>(begin.size() - 1), packed.length_bits), 0);
    for (std::size_t row = 0; packed.length_bits == 0 && row < begin.size(); ++row) {
        const u64 relative = begin[row] - begin.front();
        packed.words[2 * row] = static_cast<u32>(relative);
        packed.words[2 * row + 1] = static_cast<u32>(relative >> 32);
    }
    if (packed.length_bits == 0) return packed;
    const u32 of_word = 32 / packed.length_bits;
    const u32 of_entry = rows_of_entry(packed.length_bits);
    for (std::size_t row = 0; row + 1 < begin.size(); ++row) {
        u32* const entry = packed.words.data() + row / of_entry * RowTable::entry_words;
        const auto within = static_cast<u32>(row % of_entry);
        if (within == 0) entry[0] = static_cast<u32>(begin[row] - begin.front());
        const auto length = static_cast<u32>(begin[row + 1] - begin[row]);
        entry[1 + within / of_word] |= length << within % of_word * packed.length_bits;
    }
    return packed;
}

void split_rows(const UrgentSynapses& urgent, u64 synapses, PackedRows& packed) {
    packed.is_split = urgent.most <= most_urgent && 4 * urgent.all <= synapses;
    packed.urgent_bits = urgent.most <= 1 ? 0 : static_cast<u32>(std::bit_width(urgent.most - 1));
}

PackedRows pack_rows(BlockRows& rows, std::span<const ReceptorImage> receptors, bool may_split) {
    PackedRows packed = index_rows(rows.begin);
    if (may_split) split_rows(order(rows, receptors), rows.synapses.size(), packed);
    return packed;
}

void read_begins(std::span<const u32> words, u32 length_bits, u32 count, BlockRows& rows) {
    const RowTable table{words.data(), length_bits};
    rows.begin.assign(1, 0);
    for (u32 row = 0; row < count; ++row) rows.begin.push_back(u64{table.find(row).begin} + table.find(row).count);
}

}  // namespace ranvier::device
