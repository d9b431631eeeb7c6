#include "connect/routing/row_addresses.hpp"

#include <algorithm>
#include <utility>

namespace ranvier::connect {

RowAddresses::RowAddresses(RowNumbering numbering, const NetworkPlan& network, std::vector<const ShardTables*> tables)
    : numbering_(numbering), tables_(std::move(tables)), kinds_(tables_.front()->size()) {
    if (are_sources()) {
        std::vector<RowMap::Range> ranges;
        for (const ProjectionPlan& plan : network.projections) {
            if (plan.pairs.targets == 0) continue;
            ranges.push_back({plan.pairs.first_source, plan.pairs.sources, 0});
            limit_ = std::max(limit_, plan.pairs.first_source.value + plan.pairs.sources);
        }
        for (const auto& dynamics : network.dynamics) {
            if (dynamics->transmitter() == nullptr) continue;
            const IdSequence& sources = dynamics->transmitter()->sources;
            ranges.push_back({sources[0], sources.back().value - sources[0].value + 1, 0});
            limit_ = std::max(limit_, sources.back().value + 1);
        }
        sources_ = RowMap(std::move(ranges));
        candidates_ = sources_.rows();
        return;
    }
    for (const ShardTables* shard : tables_) {
        for (const auto& table : *shard) {
            firsts_.push_back(limit_);
            if (table) limit_ += table->rows();
        }
    }
    candidates_ = limit_;
}

void RowAddresses::list(std::uint64_t begin, std::uint64_t end, std::vector<Entry>& entries) const {
    if (are_sources()) {
        list_sources(begin, end, entries);
        return;
    }
    const auto after = std::upper_bound(firsts_.begin(), firsts_.end(), begin);
    auto place = static_cast<std::size_t>(after - firsts_.begin());
    while (begin < end) {
        const std::size_t table_index = place - 1;
        const std::uint64_t stop = std::min(end, place < firsts_.size() ? firsts_[place] : limit_);
        if (begin < stop) {
            const SynapseTable& table = *(*tables_[table_index / kinds_])[table_index % kinds_];
            for (; begin < stop; ++begin) {
                const RowIndex row{static_cast<std::uint32_t>(begin - firsts_[table_index])};
                entries.push_back({table.source(row), begin});
            }
        }
        ++place;
    }
}

void RowAddresses::list_sources(std::uint64_t begin, std::uint64_t end, std::vector<Entry>& entries) const {
    std::pmr::vector<RowIndex> rows;
    for (std::uint64_t i = begin; i < end; ++i) {
        const NeuronId source = sources_.source(RowIndex{static_cast<std::uint32_t>(i)});
        rows.clear();
        for (const ShardTables* shard : tables_) {
            for (const auto& table : *shard) {
                if (table && rows.empty()) table->find_rows(std::span(&source, 1), rows);
            }
        }
        if (!rows.empty()) entries.push_back({source, source.value});
    }
}

}  // namespace ranvier::connect
