#include "connect/tables/stored_table.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

namespace ranvier::connect {

template <class Target, class Weight>
void StoredTable<Target, Weight>::find_rows(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const {
    if (columns_.numbering == RowNumbering::unsorted) {
        search_unsorted(sources, rows);
        return;
    }
    for (const NeuronId source : sources) {
        const RowIndex index = columns_.row_map.row(source);
        if (index == RowMap::none) continue;
        if (columns_.numbering == RowNumbering::dense) {
            if (row_begin(index) != row_end(index)) rows.push_back(index);
            continue;
        }
        if (columns_.numbering == RowNumbering::sparse) {
            if (const auto row = columns_.index.row(index.value)) rows.push_back(RowIndex{*row});
            continue;
        }
        const std::span<const std::uint32_t> all = columns_.sources.span();
        const auto found = std::lower_bound(all.begin(), all.end(), index.value);
        if (found == all.end() || *found != index.value) continue;
        rows.push_back(RowIndex{static_cast<std::uint32_t>(found - all.begin())});
    }
}

template <class Target, class Weight>
void StoredTable<Target, Weight>::search_unsorted(std::span<const NeuronId> sources,
                                                  std::pmr::vector<RowIndex>& rows) const {
    struct Wanted {
        std::uint32_t index;
        std::size_t turn;
    };
    std::vector<Wanted> wanted;
    for (std::size_t turn = 0; turn < sources.size(); ++turn) {
        const RowIndex index = columns_.row_map.row(sources[turn]);
        if (index != RowMap::none) wanted.push_back({index.value, turn});
    }
    const auto by_index = [](const Wanted& a, const Wanted& b) { return a.index < b.index; };
    std::sort(wanted.begin(), wanted.end(), by_index);
    std::vector<std::pair<std::size_t, std::uint32_t>> found;
    for (std::uint32_t row = 0; row < columns_.sources.size(); ++row) {
        const auto [first, last] =
            std::equal_range(wanted.begin(), wanted.end(), Wanted{columns_.sources[row], 0}, by_index);
        for (auto source = first; source != last; ++source) found.emplace_back(source->turn, row);
    }
    std::sort(found.begin(), found.end());
    for (const auto& [turn, row] : found) rows.push_back(RowIndex{row});
}

template <class Target, class Weight>
void StoredTable<Target, Weight>::read(RowIndex /*row*/, std::uint64_t begin, std::uint64_t end,
                                       std::vector<SynapseView>& out) const {
    const bool same_delay = columns_.least_delay == columns_.greatest_delay;
    std::visit(
        [&](const auto& delays) {
            for (std::uint64_t position = begin; position < end; ++position) {
                const DelaySteps delay = columns_.least_delay + (same_delay ? 0U : delays[position]);
                out.push_back({position, target(position), delay, tag(position)});
            }
        },
        columns_.delays);
}

template <class Target, class Weight>
void StoredTable<Target, Weight>::copy_row(RowIndex row, std::uint32_t* inputs, DelaySteps* delays) const {
    const std::uint64_t begin = row_begin(row);
    const std::uint64_t length = row_end(row) - begin;
    for (std::uint64_t i = 0; i < length; ++i) inputs[i] = input_of(columns_.targets[begin + i]);
    copy_delays(row, delays);
}

template <class Target, class Weight>
void StoredTable<Target, Weight>::copy_delays(RowIndex row, DelaySteps* delays) const {
    const std::uint64_t begin = row_begin(row);
    const std::uint64_t length = row_end(row) - begin;
    if (columns_.least_delay == columns_.greatest_delay) {
        std::fill_n(delays, length, columns_.least_delay);
        return;
    }
    std::visit(
        [&](const auto& stored) {
            for (std::uint64_t i = 0; i < length; ++i) delays[i] = columns_.least_delay + stored[begin + i];
        },
        columns_.delays);
}

template <class Target, class Weight>
void StoredTable<Target, Weight>::find_onto(std::span<const std::uint32_t> neurons, std::span<const std::uint64_t> ends,
                                            std::span<std::uint64_t> positions) const {
    if (neurons.empty()) return;
    constexpr std::uint32_t unwanted = UINT32_MAX;
    std::vector<std::uint32_t> places(std::size_t{std::ranges::max(neurons)} + 1, unwanted);
    std::vector<std::uint64_t> next(ends.size(), 0);
    for (std::uint32_t i = 0; i < neurons.size(); ++i) {
        places[neurons[i]] = i;
        next[i] = i == 0 ? 0 : ends[i - 1];
    }
    const std::span<const Target> targets = columns_.targets.span();
    for (std::uint64_t position = 0; position < targets.size(); ++position) {
        const std::uint32_t target = input_of(targets[position]);
        if (target >= places.size() || places[target] == unwanted) continue;
        positions[next[places[target]]++] = position;
    }
    if (columns_.numbering != RowNumbering::unsorted && columns_.tags.empty() &&
        columns_.least_delay == columns_.greatest_delay) {
        return;
    }
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
        order(positions.subspan(begin, ends[i] - begin));
    }
}

template <class Target, class Weight>
void StoredTable<Target, Weight>::order(std::span<std::uint64_t> positions) const {
    struct Place {
        std::uint32_t source;
        std::uint32_t tag;
        DelaySteps delay;
        std::uint64_t position;

        auto operator<=>(const Place&) const = default;
    };
    std::vector<Place> places;
    places.reserve(positions.size());
    for (const std::uint64_t position : positions) {
        const RowIndex row = row_of(position);
        const bool unsorted = columns_.numbering == RowNumbering::unsorted;
        places.push_back(
            {unsorted ? columns_.sources[position] : row.value, tag(position), delay_at(row, position), position});
    }
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < places.size(); ++i) positions[i] = places[i].position;
}

template class StoredTable<std::uint16_t, float>;
template class StoredTable<std::uint32_t, float>;
template class StoredTable<std::uint16_t, double>;
template class StoredTable<std::uint32_t, double>;

}  // namespace ranvier::connect
