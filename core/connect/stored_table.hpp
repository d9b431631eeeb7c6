#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/buffer.hpp"
#include "connect/table.hpp"

namespace ranvier::connect {

/// Delays of synapses relative to the least delay of their table, one byte each where that suffices.
using DelayStore = std::variant<Buffer<std::uint8_t>, Buffer<std::uint16_t>>;

/// Where rows begin, in as few bytes as their number of synapses allows.
class RowStarts {
   public:
    RowStarts() = default;
    /// Room for `rows` rows with `synapses` synapses in all.
    RowStarts(std::size_t rows, std::uint64_t synapses, std::pmr::memory_resource* memory) {
        if (synapses <= UINT32_MAX) {
            narrow_ = Buffer<std::uint32_t>(rows + 1, memory);
        } else {
            wide_ = Buffer<std::uint64_t>(rows + 1, memory);
        }
    }

    /// @param starts of all rows, and where the last one ends
    explicit RowStarts(Buffer<std::uint32_t> starts) : narrow_(std::move(starts)) {}
    explicit RowStarts(Buffer<std::uint64_t> starts) : wide_(std::move(starts)) {}

    std::uint64_t operator[](std::size_t row) const { return narrow_.empty() ? wide_[row] : narrow_[row]; }
    void set(std::size_t row, std::uint64_t begin) {
        if (narrow_.empty()) {
            wide_[row] = begin;
        } else {
            narrow_[row] = static_cast<std::uint32_t>(begin);
        }
    }
    void prefetch(std::size_t row) const {
        __builtin_prefetch(narrow_.empty() ? static_cast<const void*>(wide_.data() + row) : narrow_.data() + row, 0, 3);
    }
    /// Number of rows; 0 when there is nothing, as in unsorted tables.
    std::size_t rows() const { return narrow_.size() + wide_.size() == 0 ? 0 : narrow_.size() + wide_.size() - 1; }
    /// The row that a position lies in.
    std::uint32_t row_of(std::uint64_t position) const {
        std::size_t low = 0;
        std::size_t high = rows();
        // The last row that begins at or before the position.
        while (high - low > 1) {
            const std::size_t middle = (low + high) / 2;
            ((*this)[middle] <= position ? low : high) = middle;
        }
        return static_cast<std::uint32_t>(low);
    }

   private:
    Buffer<std::uint32_t> narrow_;
    Buffer<std::uint64_t> wide_;
};

/// How rows are numbered.
enum class RowNumbering : std::uint8_t {
    dense,  ///< every source that there could be has a row, if an empty one: a source's row is found by arithmetic
    compact,  ///< only sources that are there have a row
    unsorted,  ///< each synapse is a row, in the order in which they were drawn
};

/// The columns of a table, rows one after another, before anything is built on them.
template <class Target, class Weight>
struct TableColumns {
    RowMap row_map;
    RowNumbering numbering = RowNumbering::dense;
    RowStarts row_start;  ///< empty when unsorted
    /// Index in `row_map` of each row's source, unless rows are dense; empty once forgotten.
    Buffer<std::uint32_t> sources;
    Buffer<Target> targets;  ///< local indices
    Buffer<Weight> weights;
    DelayStore delays;  ///< empty when all delays are the same
    Buffer<std::uint16_t> tags;  ///< projections; empty when source and target tell the projection
    DelaySteps least_delay = 1;
    DelaySteps greatest_delay = 1;
};

namespace detail {

constexpr std::size_t cache_line = 64;

RANVIER_ALWAYS_INLINE void prefetch_span(const void* begin, std::size_t bytes) {
    const char* line = static_cast<const char*>(begin);
    const char* end = line + bytes;
    for (; line < end; line += cache_line) __builtin_prefetch(line, 0, 3);
}

template <class Target, class Weight>
RANVIER_ALWAYS_INLINE void add_run(const Target* __restrict targets, const Weight* __restrict weights,
                                   std::size_t count, double* inputs) {
    std::size_t i = 0;
    // Unrolled by hand: the compiler must assume that targets repeat, and would not.
    for (; i + 4 <= count; i += 4) {
        inputs[targets[i]] += static_cast<double>(weights[i]);
        inputs[targets[i + 1]] += static_cast<double>(weights[i + 1]);
        inputs[targets[i + 2]] += static_cast<double>(weights[i + 2]);
        inputs[targets[i + 3]] += static_cast<double>(weights[i + 3]);
    }
    for (; i < count; ++i) inputs[targets[i]] += static_cast<double>(weights[i]);
}

/// A spike whose synapses have not all been delivered.
struct ActiveSpike {
    std::uint64_t row_begin = 0;
    std::uint64_t offsets = 0;  ///< of the row's first entry in the table of offsets
    Step stamp = 0;
};

template <class Target, class Weight, class Offset>
struct RunArguments {
    const ActiveSpike* spikes;
    std::size_t count;
    const Offset* offsets;
    const Target* targets;
    const Weight* weights;
    Step begin;  ///< of the window of arrival
    Step end;
    Step least_delay;
    Step delays;  ///< number of different delays that a row has runs for
    InputRing inputs;
};

/// Adds, for each spike, the runs (source, delay) that arrive in the window.
///
/// Runs lie at random places in gigabytes, so that time is spent waiting for memory: the offsets of a row are fetched
/// `offsets_ahead` spikes before they are needed, its synapses `synapses_ahead` before.
template <class Target, class Weight, class Offset>
struct DeliverRuns {
    static constexpr std::size_t offsets_ahead = 16;
    static constexpr std::size_t synapses_ahead = 6;

    RANVIER_ALWAYS_INLINE static void run(const RunArguments<Target, Weight, Offset>* arguments) {
        const auto& a = *arguments;
        for (std::size_t i = 0; i < a.count + offsets_ahead; ++i) {
            if (i < a.count) {
                const Offset* row = a.offsets + a.spikes[i].offsets;
                __builtin_prefetch(row + first(a, i), 0, 3);
            }
            if (i >= offsets_ahead - synapses_ahead && i - (offsets_ahead - synapses_ahead) < a.count) {
                const std::size_t j = i - (offsets_ahead - synapses_ahead);
                const Offset* row = a.offsets + a.spikes[j].offsets;
                const std::size_t begin = row[first(a, j)];
                const std::size_t length = row[last(a, j)] - begin;
                prefetch_span(a.targets + a.spikes[j].row_begin + begin, length * sizeof(Target));
                prefetch_span(a.weights + a.spikes[j].row_begin + begin, length * sizeof(Weight));
            }
            if (i >= offsets_ahead) deliver(a, i - offsets_ahead);
        }
    }

   private:
    RANVIER_ALWAYS_INLINE static Step first(const RunArguments<Target, Weight, Offset>& a, std::size_t i) {
        const Step d = a.begin - a.spikes[i].stamp - a.least_delay;
        return d < 0 ? 0 : (d > a.delays ? a.delays : d);
    }
    RANVIER_ALWAYS_INLINE static Step last(const RunArguments<Target, Weight, Offset>& a, std::size_t i) {
        const Step d = a.end - a.spikes[i].stamp - a.least_delay;
        return d < 0 ? 0 : (d > a.delays ? a.delays : d);
    }
    RANVIER_ALWAYS_INLINE static void deliver(const RunArguments<Target, Weight, Offset>& a, std::size_t i) {
        const ActiveSpike spike = a.spikes[i];
        const Offset* row = a.offsets + spike.offsets;
        const Target* targets = a.targets + spike.row_begin;
        const Weight* weights = a.weights + spike.row_begin;
        const Step end = last(a, i);
        for (Step d = first(a, i); d < end; ++d) {
            const std::size_t begin = row[d];
            add_run(targets + begin, weights + begin, row[d + 1] - begin,
                    a.inputs.slot(spike.stamp + a.least_delay + d));
        }
    }
};

template <class Target, class Weight, class Delay>
struct RingArguments {
    const std::uint64_t* begins;
    const std::uint64_t* ends;
    std::size_t count;
    const Target* targets;
    const Weight* weights;
    const Delay* delays;
    Step base;  ///< step in which the least delay arrives
    InputRing inputs;
    std::size_t ahead;  ///< rows that are fetched before they are needed
};

/// Stands for the delays of synapses that all have the same one.
struct SameDelay {};

/// Adds all synapses of each row at once, each into the slot of its arrival.
template <class Target, class Weight, class Delay>
struct DeliverRing {
    static constexpr bool same_delay = std::is_same_v<Delay, SameDelay>;

    RANVIER_ALWAYS_INLINE static void run(const RingArguments<Target, Weight, Delay>* arguments) {
        const auto& a = *arguments;
        for (std::size_t r = 0; r < a.count; ++r) {
            if (r + a.ahead < a.count) {
                const std::uint64_t next = a.begins[r + a.ahead];
                const std::size_t length = std::size_t(a.ends[r + a.ahead] - next);
                prefetch_span(a.targets + next, length * sizeof(Target));
                prefetch_span(a.weights + next, length * sizeof(Weight));
                if constexpr (!same_delay) prefetch_span(a.delays + next, length * sizeof(Delay));
            }
            if constexpr (same_delay) {
                const std::uint64_t begin = a.begins[r];
                add_run(a.targets + begin, a.weights + begin, std::size_t(a.ends[r] - begin), a.inputs.slot(a.base));
            } else {
                for (std::uint64_t i = a.begins[r]; i < a.ends[r]; ++i) {
                    a.inputs.slot(a.base + a.delays[i])[a.targets[i]] += static_cast<double>(a.weights[i]);
                }
            }
        }
    }
};

}  // namespace detail

/// What both layouts share: columns, queries, changes of weights.
template <class Target, class Weight>
class StoredTable : public SynapseTable {
   public:
    explicit StoredTable(TableColumns<Target, Weight> columns) : columns_(std::move(columns)) {}

    std::uint32_t rows() const override {
        if (columns_.numbering == RowNumbering::unsorted) return static_cast<std::uint32_t>(size());
        return static_cast<std::uint32_t>(columns_.row_start.rows());
    }
    bool has_sources() const override { return columns_.numbering == RowNumbering::dense || !columns_.sources.empty(); }
    void forget_sources() override { columns_.sources = {}; }
    NeuronId source(RowIndex row) const override {
        return columns_.row_map.source(
            columns_.numbering == RowNumbering::dense ? row : RowIndex{columns_.sources[row.value]});
    }
    void find_rows(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const override {
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
            const std::span<const std::uint32_t> all = columns_.sources.span();
            const auto found = std::lower_bound(all.begin(), all.end(), index.value);
            if (found == all.end() || *found != index.value) continue;
            rows.push_back(RowIndex{static_cast<std::uint32_t>(found - all.begin())});
        }
    }
    std::uint64_t size() const override { return columns_.targets.size(); }
    DelaySteps least_delay() const override { return columns_.least_delay; }
    DelaySteps greatest_delay() const override { return columns_.greatest_delay; }

    std::uint64_t row_begin(RowIndex row) const override {
        return columns_.numbering == RowNumbering::unsorted ? row.value : columns_.row_start[row.value];
    }
    std::uint64_t row_end(RowIndex row) const override {
        return columns_.numbering == RowNumbering::unsorted ? row.value + std::uint64_t{1}
                                                            : columns_.row_start[row.value + std::size_t{1}];
    }
    std::uint32_t target(std::uint64_t position) const override { return columns_.targets[position]; }
    double weight(std::uint64_t position) const override { return static_cast<double>(columns_.weights[position]); }
    bool has_tags() const override { return !columns_.tags.empty(); }
    std::uint32_t tag(std::uint64_t position) const override {
        return columns_.tags.empty() ? 0 : columns_.tags[position];
    }

   protected:
    /// A spike that may not have reached all of its targets.
    struct RecentSpike {
        std::uint32_t row = 0;
        Step stamp = 0;

        friend auto operator<=>(const RecentSpike&, const RecentSpike&) = default;
    };

    /// set_weights(), given the spikes that may still be on their way, in any order, and where delays are found. Inputs
    /// have been written for arrivals before `written_end`.
    template <class DelayOf>
    void change_weights(std::span<const std::uint64_t> positions, std::span<const double> weights,
                        std::vector<RecentSpike> recent, Step now, Step written_end, const InputRing& inputs,
                        DelayOf delay_of) {
        std::sort(recent.begin(), recent.end());
        for (std::size_t i = 0; i < positions.size(); ++i) {
            const std::uint64_t position = positions[i];
            const double change = weights[i] - weight(position);
            columns_.weights[position] = static_cast<Weight>(weights[i]);
            if (recent.empty() || change == 0.0) continue;
            const std::uint32_t row = columns_.numbering == RowNumbering::unsorted
                                          ? static_cast<std::uint32_t>(position)
                                          : columns_.row_start.row_of(position);
            const auto first = std::lower_bound(recent.begin(), recent.end(), RecentSpike{row, 0});
            for (auto spike = first; spike != recent.end() && spike->row == row; ++spike) {
                const Step arrival = spike->stamp + delay_of(RowIndex{row}, position);
                if (arrival > now && arrival < written_end) inputs.slot(arrival)[target(position)] += change;
            }
        }
    }

    TableColumns<Target, Weight> columns_;

   private:
    /// find_rows() by one walk through all synapses, however many sources are looked for.
    void search_unsorted(std::span<const NeuronId> sources, std::pmr::vector<RowIndex>& rows) const {
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
};

/// The layout for dense networks: each row sorted by delay, and for each row where the run of each delay begins. What
/// arrives in the next few steps is added just before it is needed, so that all writes go to a few arrays that stay in
/// the cache.
template <class Target, class Weight, class Offset>
class RunTable final : public StoredTable<Target, Weight> {
   public:
    /// @param offsets for each row `delays + 1` positions relative to its beginning
    /// @param spike_memory for spikes that are on their way
    RunTable(TableColumns<Target, Weight> columns, Buffer<Offset> offsets, std::pmr::memory_resource* spike_memory)
        : StoredTable<Target, Weight>(std::move(columns)),
          offsets_(std::move(offsets)),
          delays_(this->columns_.greatest_delay - this->columns_.least_delay + 1),
          active_(spike_memory) {}

    std::string_view layout() const override { return "runs"; }
    DelaySteps reach() const override { return 0; }

    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step now, Step window_end,
                         const InputRing& inputs) override {
        const std::size_t before = active_.size();
        std::uint64_t events = 0;
        for (const RowIndex row : rows) {
            const std::uint64_t begin = this->row_begin(row);
            const std::uint64_t length = this->row_end(row) - begin;
            if (length == 0) continue;
            events += length;
            active_.push_back({begin, std::uint64_t{row.value} * (delays_ + 1), stamp});
        }
        if (window_end > now + 1) deliver_from(set, before, now + 1, window_end, inputs);
        return events;
    }

    void deliver(InstructionSet set, Step begin, Step end, const InputRing& inputs) override {
        while (head_ < active_.size() && active_[head_].stamp + this->columns_.greatest_delay < begin) ++head_;
        // Those that are done are dropped when they are the greater part, so that each is moved at most once.
        if (head_ > 64 && head_ > active_.size() / 2) {
            active_.erase(active_.begin(), active_.begin() + static_cast<std::ptrdiff_t>(head_));
            head_ = 0;
        }
        deliver_from(set, head_, begin, end, inputs);
    }

    void set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights, Step now,
                     Step window_end, const InputRing& inputs) override {
        std::vector<typename StoredTable<Target, Weight>::RecentSpike> recent;
        for (std::size_t i = head_; i < active_.size(); ++i) {
            recent.push_back({static_cast<std::uint32_t>(active_[i].offsets / (delays_ + 1)), active_[i].stamp});
        }
        const auto delay_of = [this](RowIndex row, std::uint64_t position) {
            const Offset* begin = offsets_.data() + std::uint64_t{row.value} * (delays_ + 1);
            const auto place = static_cast<Offset>(position - this->row_begin(row));
            return this->columns_.least_delay +
                   static_cast<DelaySteps>(std::upper_bound(begin, begin + delays_ + 1, place) - begin - 1);
        };
        this->change_weights(positions, weights, std::move(recent), now, window_end, inputs, delay_of);
    }

    void read(RowIndex row, std::uint64_t begin, std::uint64_t end, std::vector<SynapseView>& out) const override {
        const std::uint64_t start = this->row_begin(row);
        const Offset* offsets = offsets_.data() + std::uint64_t{row.value} * (delays_ + 1);
        DelaySteps delay = 0;
        for (std::uint64_t position = begin; position < end; ++position) {
            while (start + offsets[delay + 1] <= position) ++delay;
            out.push_back({position, this->target(position), this->columns_.least_delay + delay, this->weight(position),
                           this->tag(position)});
        }
    }

   private:
    void deliver_from(InstructionSet set, std::size_t first, Step begin, Step end, const InputRing& inputs) {
        if (first == active_.size()) return;
        const detail::RunArguments<Target, Weight, Offset> arguments{
            .spikes = active_.data() + first,
            .count = active_.size() - first,
            .offsets = offsets_.data(),
            .targets = this->columns_.targets.data(),
            .weights = this->columns_.weights.data(),
            .begin = begin,
            .end = end,
            .least_delay = this->columns_.least_delay,
            .delays = delays_,
            .inputs = inputs,
        };
        Dispatched<detail::DeliverRuns<Target, Weight, Offset>>::call(set, &arguments);
    }

    Buffer<Offset> offsets_;
    DelaySteps delays_;
    std::pmr::vector<detail::ActiveSpike> active_;
    std::size_t head_ = 0;
};

/// The layout for sparse networks and long delays, where a run (source, delay) would have hardly a synapse: the delay is
/// stored with each synapse, and a row is added at once, when its source fires, into a ring of inputs as long as the
/// longest delay.
template <class Target, class Weight>
class RingTable final : public StoredTable<Target, Weight> {
   public:
    /// @param spike_memory for spikes that are on their way
    RingTable(TableColumns<Target, Weight> columns, std::pmr::memory_resource* spike_memory)
        : StoredTable<Target, Weight>(std::move(columns)),
          begins_(spike_memory),
          ends_(spike_memory),
          recent_(spike_memory) {}

    std::string_view layout() const override { return "ring"; }
    DelaySteps reach() const override { return this->columns_.greatest_delay; }

    std::uint64_t accept(InstructionSet set, Step stamp, std::span<const RowIndex> rows, Step now, Step /*window_end*/,
                         const InputRing& inputs) override {
        begins_.clear();
        ends_.clear();
        std::uint64_t events = 0;
        constexpr std::size_t starts_ahead = 24;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i + starts_ahead < rows.size()) this->columns_.row_start.prefetch(rows[i + starts_ahead].value);
            const RowIndex row = rows[i];
            begins_.push_back(this->row_begin(row));
            ends_.push_back(this->row_end(row));
            events += ends_.back() - begins_.back();
            recent_.push_back({row.value, stamp});
        }
        forget(now);
        if (same_delay()) {
            add_rows<detail::SameDelay>(set, stamp, nullptr, inputs);
        } else {
            std::visit([&]<class Delay>(const Buffer<Delay>& delays) { add_rows(set, stamp, delays.data(), inputs); },
                       this->columns_.delays);
        }
        return events;
    }
    void deliver(InstructionSet, Step, Step, const InputRing&) override {}

    void set_weights(std::span<const std::uint64_t> positions, std::span<const double> weights, Step now,
                     Step /*window_end*/, const InputRing& inputs) override {
        std::visit(
            [&](const auto& delays) {
                const auto delay_of = [&](RowIndex, std::uint64_t position) {
                    return this->columns_.least_delay + (same_delay() ? 0U : delays[position]);
                };
                constexpr Step all = std::numeric_limits<Step>::max();
                this->change_weights(positions, weights, {recent_.begin(), recent_.end()}, now, all, inputs, delay_of);
            },
            this->columns_.delays);
    }

    void read(RowIndex, std::uint64_t begin, std::uint64_t end, std::vector<SynapseView>& out) const override {
        std::visit(
            [&](const auto& delays) {
                for (std::uint64_t position = begin; position < end; ++position) {
                    const DelaySteps delay = this->columns_.least_delay + (same_delay() ? 0U : delays[position]);
                    out.push_back(
                        {position, this->target(position), delay, this->weight(position), this->tag(position)});
                }
            },
            this->columns_.delays);
    }

   private:
    bool same_delay() const { return this->columns_.least_delay == this->columns_.greatest_delay; }

    template <class Delay>
    void add_rows(InstructionSet set, Step stamp, const Delay* delays, const InputRing& inputs) const {
        const detail::RingArguments<Target, Weight, Delay> arguments{
            .begins = begins_.data(),
            .ends = ends_.data(),
            .count = begins_.size(),
            .targets = this->columns_.targets.data(),
            .weights = this->columns_.weights.data(),
            .delays = delays,
            .base = stamp + this->columns_.least_delay,
            .inputs = inputs,
            // Short rows are soon done, so that more of them must be under way to hide the wait for memory.
            .ahead = this->size() < std::uint64_t{16} * this->rows() ? std::size_t{24} : std::size_t{4},
        };
        Dispatched<detail::DeliverRing<Target, Weight, Delay>>::call(set, &arguments);
    }

    /// Drops the spikes that have reached all of their targets, when they are the greater part.
    void forget(Step now) {
        while (head_ < recent_.size() && recent_[head_].stamp + this->columns_.greatest_delay <= now) ++head_;
        if (head_ <= 64 || head_ <= recent_.size() / 2) return;
        recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(head_));
        head_ = 0;
    }

    std::pmr::vector<std::uint64_t> begins_;
    std::pmr::vector<std::uint64_t> ends_;
    /// Only for changes of weights: their spikes have been added already.
    std::pmr::vector<typename StoredTable<Target, Weight>::RecentSpike> recent_;
    std::size_t head_ = 0;
};

}  // namespace ranvier::connect
