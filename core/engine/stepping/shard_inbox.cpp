#include "engine/stepping/shard_inbox.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace ranvier::engine {

namespace {

constexpr auto is_due_later = [](const auto& a, const auto& b) {
    return std::tie(a.due, a.stamp, a.row) > std::tie(b.due, b.stamp, b.row);
};

}  // namespace

ShardInbox::ShardInbox(Shard& shard) : shard_(shard), rows_(shard.memory()[Component::spikes]) {
    for (std::uint32_t kind = 0; kind < shard.synapses().tables().size(); ++kind) {
        const connect::SynapseTable* const table = shard.synapses().tables()[kind].get();
        if (table == nullptr) continue;
        const bool is_transmitter = table->synapses() == nullptr;
        if (!is_transmitter && table->learning() == nullptr) {
            direct_.emplace_back(kind);
            continue;
        }
        tables_.push_back({.kind = connect::KindIndex{kind},
                           .wait = is_transmitter ? static_cast<Step>(table->least_delay()) - 1 : 0,
                           .held = std::pmr::vector<Held>(shard.memory()[Component::spikes])});
    }
}

void ShardInbox::take(std::span<const StampedSpike> spikes, Step now) {
    while (!spikes.empty()) {
        const Step stamp = spikes.front().stamp;
        sources_.clear();
        while (!spikes.empty() && spikes.front().stamp == stamp) {
            sources_.push_back(spikes.front().source);
            spikes = spikes.subspan(1);
        }
        for (const connect::KindIndex kind : direct_) {
            rows_.clear();
            shard_.synapses().tables()[kind.value]->find_rows(sources_, rows_);
            if (!rows_.empty()) shard_.synapses().accept(stamp, kind, rows_, now);
        }
        for (Table& table : tables_) {
            rows_.clear();
            shard_.synapses().tables()[table.kind.value]->find_rows(sources_, rows_);
            for (const RowIndex row : rows_) {
                table.held.push_back({stamp + table.wait, stamp, row});
                std::ranges::push_heap(table.held, is_due_later);
            }
        }
    }
}

void ShardInbox::hand_over(Table& table, Step last, Step now) {
    while (!table.held.empty() && table.held.front().due <= last) {
        const Step stamp = table.held.front().stamp;
        rows_.clear();
        while (!table.held.empty() && table.held.front().due <= last && table.held.front().stamp == stamp) {
            rows_.push_back(table.held.front().row);
            std::ranges::pop_heap(table.held, is_due_later);
            table.held.pop_back();
        }
        shard_.synapses().accept(stamp, table.kind, rows_, now);
    }
}

void ShardInbox::hand_over(Step now) {
    for (Table& table : tables_) hand_over(table, now, now);
}

void ShardInbox::hand_over_all(Step now) {
    for (Table& table : tables_) hand_over(table, std::numeric_limits<Step>::max(), now);
}

Step ShardInbox::next_due() const {
    Step next = std::numeric_limits<Step>::max();
    for (const Table& table : tables_) {
        if (!table.held.empty()) next = std::min(next, table.held.front().due);
    }
    return next;
}

}  // namespace ranvier::engine
