#include "engine/forecast/memory_samples.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/saturation.hpp"
#include "comm/exchange/destination_code.hpp"
#include "comm/mirror_communicator.hpp"
#include "comm/progress/progress_exchange.hpp"
#include "engine/option_choices.hpp"
#include "engine/record_layout.hpp"
#include "ranvier/base/hash.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::engine {

namespace {

/// Sends the spikes of a source to as many ranks as they would go to, evenly spread.
class SampledDestinations final : public comm::Destinations {
   public:
    SampledDestinations(const connect::ProcessLayout& layout, double entries_per_source, double address_limit)
        : layout_(layout), entries_(entries_per_source), limit_(std::max(1.0, address_limit)) {}

    void find(std::uint32_t shard, std::uint32_t local, Rank first, Rank last,
              std::vector<comm::Destination>& found) const override {
        const double ranks = layout_.placement().ranks();
        const SourceHash hash{shard, local};
        const auto count = static_cast<std::uint64_t>(entries_ + hash.unit(0));
        if (count == 0) return;
        // Entry i lies anywhere in the i-th of so many equal parts of all ranks.
        const double step = ranks / static_cast<double>(count);
        const auto begin = static_cast<std::uint64_t>(std::max(0.0, std::floor(first.value / step) - 1.0));
        for (std::uint64_t i = begin; i < count; ++i) {
            const double place = (static_cast<double>(i) + hash.unit(2 * i + 1)) * step;
            const Rank rank{static_cast<std::int32_t>(std::min(place, ranks - 1.0))};
            if (rank < first) continue;
            if (rank >= last) break;
            found.push_back({rank, static_cast<std::uint64_t>(hash.unit(2 * i + 2) * limit_)});
        }
    }
    std::vector<Rank> ranks() const override {
        const double sources = static_cast<double>(layout_.ids().size());
        const auto all = static_cast<double>(layout_.placement().ranks());
        // Those that any source reaches.
        const auto count = static_cast<std::int32_t>(std::ceil(all * -std::expm1(-sources * entries_ / all)));
        std::vector<Rank> ranks;
        ranks.reserve(static_cast<std::size_t>(count));
        for (std::int32_t rank = 0; rank < count; ++rank) ranks.push_back(Rank{rank});
        return ranks;
    }
    std::uint32_t sources(std::uint32_t shard) const override { return layout_.shard(shard).size(); }
    std::uint64_t address_limit() const override { return static_cast<std::uint64_t>(limit_) + 1; }

   private:
    struct SourceHash {
        std::uint32_t shard;
        std::uint32_t local;
        /// A number in [0, 1) for each index.
        double unit(std::uint64_t index) const {
            const std::uint64_t hash = mix(mix(std::uint64_t{shard} << 32 | local) ^ index);
            return static_cast<double>(hash >> 11) * 0x1p-53;
        }
    };

    const connect::ProcessLayout& layout_;
    double entries_;
    double limit_;
};

/// Spikes of neurons that lie anywhere, by shard, evenly spread over the steps of an epoch.
std::vector<std::vector<comm::EmittedSpike>> sample_outboxes(const connect::ProcessLayout& layout, std::uint64_t spikes,
                                                             std::uint32_t steps, std::uint64_t epoch) {
    std::vector<std::vector<comm::EmittedSpike>> outboxes(layout.shards().size());
    for (std::uint64_t i = 0; i < spikes; ++i) {
        const NeuronId source = layout.ids()[(i * 7919 + epoch) % layout.ids().size()];
        const std::uint32_t shard = layout.shard_of(source).value;
        const std::uint32_t local = layout.shard(shard).local_index(layout.population_of(source), source).value;
        outboxes[shard].push_back({source, local, static_cast<std::uint32_t>(i * steps / spikes)});
    }
    return outboxes;
}

}  // namespace

ExpectedPulses expected_pulses(const network::LoweredNetwork& network, const connect::Transmitter& transmitter,
                               double spikes_of_one, double steps) {
    const network::Network& description = network.network();
    std::set<Step> given;
    double others = 0.0;
    for (const PopulationId id : description.populations_of(transmitter.sources)) {
        const network::Population& population = description.population(id);
        const IdSequence modulators = description.part_of(id, transmitter.sources);
        if (!population.model->plays_spikes) {
            others += static_cast<double>(modulators.size());
            continue;
        }
        for (std::uint64_t i = 0; i < modulators.size(); ++i) {
            for (const Step step : population.spike_steps[modulators[i].value - population.first.value]) {
                if (static_cast<double>(step) <= steps) given.insert(step);
            }
        }
    }
    const auto alone = static_cast<double>(given.size());
    const double any = -std::expm1(-others * std::max(0.0, spikes_of_one));
    if (any > 0.0) return {.number = alone + any * std::max(0.0, steps - alone), .per_step = any};
    return {.number = alone, .per_step = given.empty() ? 0.0 : alone / static_cast<double>(*given.rbegin())};
}

PresynapticEstimate estimate_presynaptic(const connect::ProcessLayout& layout, const connect::TableEstimate& tables) {
    const std::uint64_t limit = to_saturated(std::max(1.0, tables.address_limit));
    const auto address_bits = std::max(1U, static_cast<unsigned>(std::bit_width(limit - 1)));
    const comm::DestinationCode code(layout.placement().ranks(), address_bits);
    // All sources as if they had equally many destinations: the bytes of one are nearly linear in their number.
    const auto sources = static_cast<double>(std::max<std::uint64_t>(1, layout.ids().size()));
    const double mean = tables.addresses / sources;
    const auto whole = static_cast<std::uint64_t>(mean);
    const auto fewer = static_cast<double>(code.bytes(whole));
    const auto more = static_cast<double>(code.bytes(whole + 1));
    const double coded = sources * (fewer + (mean - static_cast<double>(whole)) * (more - fewer));
    const double plain = tables.addresses * code.plain_bits() / 8.0;
    // Block by block, so that a part of all stands there twice.
    constexpr double twice = 1.0 / 64.0;
    double places = 0.0;
    for (const connect::ShardLayout& shard : layout.shards()) {
        places += static_cast<double>(shard.size() * sizeof(const std::uint8_t*) + comm::DestinationCode::padding);
    }
    return {.final_bytes = coded + places, .peak_bytes = std::max(plain, coded) * (1.0 + twice) + places};
}

namespace {

/// Bytes of the buffers of one method.
struct MethodSample {
    double of_few_epochs = 0.0;
    double of_run = 0.0;  ///< when those sources have fired that do so in a run
};

/// Arguments of a method in a dry run with these processes.
comm::ExchangeArguments sampled_arguments(const connect::ProcessLayout& layout, const connect::TableEstimate& tables,
                                          const SimulationOptions& options, std::uint32_t steps) {
    const auto sources = static_cast<double>(std::max<std::uint64_t>(1, layout.ids().size()));
    return {
        .communicator = comm::make_mirror_communicator(layout.placement().ranks()),
        .destinations = std::make_shared<SampledDestinations>(layout, tables.addresses / sources, tables.address_limit),
        .source_of = [&](Rank rank, std::uint64_t place) { return layout.placement().id_at(rank, place); },
        .place_of =
            [&](std::uint32_t shard, std::uint32_t local) {
                return layout.placement().place_of(layout.shard(shard).id_of(LocalIndex{local}));
            },
        .options = {.buffer_bytes = options.spike_buffer,
                    .allgather_spikes = options.allgather_spikes,
                    .workers = static_cast<std::uint32_t>(layout.shards().size()),
                    .most_sources = layout.placement().places(),
                    .most_lags = steps,
                    .intervals = steps >= 2 ? options.intervals : 1,
                    .host_ranks = options.host_ranks}};
}

std::uint32_t whole_steps(double steps_per_epoch) { return static_cast<std::uint32_t>(std::max(1.0, steps_per_epoch)); }

/// @param burst relative to the mean; 0: as where neurons fire independently
/// @param fired part of the sources that fire at least once in a run
MethodSample sample_method(const comm::ExchangeInfo& method, const connect::ProcessLayout& layout,
                           const connect::TableEstimate& tables, const SimulationOptions& options,
                           double spikes_per_epoch, double steps_per_epoch, double burst, double fired) {
    const auto sources = static_cast<double>(std::max<std::uint64_t>(1, layout.ids().size()));
    const auto workers = static_cast<std::uint32_t>(layout.shards().size());
    const std::uint32_t steps = whole_steps(steps_per_epoch);
    // Epochs in which a little more happens than on average: buffers are as large as the largest epoch has made them, or
    // a smaller one whose spikes are gathered for more processes at a time.
    const auto most_of = [burst](double spikes) {
        return burst > 0.0 ? burst * spikes : spikes + 2.0 * std::sqrt(spikes);
    };
    if (method.on_host) {
        const double bytes = workers * shared_bytes(most_of(spikes_per_epoch / workers));
        return {bytes, bytes};
    }
    const std::unique_ptr<comm::SpikeExchange> exchange =
        method.make(sampled_arguments(layout, tables, options, steps));
    const double most = most_of(spikes_per_epoch);
    // Some methods use three buffers in turn.
    constexpr int epochs = 4;
    Step first_step = 1;
    for (int epoch = 0; epoch < epochs; ++epoch) {
        const auto spikes = static_cast<std::uint64_t>(std::ceil(most));
        const auto outboxes = sample_outboxes(layout, spikes, steps, static_cast<std::uint64_t>(epoch));
        const std::vector<std::span<const comm::EmittedSpike>> spans(outboxes.begin(), outboxes.end());
        exchange->begin(first_step);
        // While the first shard is updated, methods may send what it has emitted so far, and then hold less at the end.
        for (std::uint32_t lag = 0; lag < steps; ++lag) {
            const auto end = std::ranges::upper_bound(outboxes[0], lag, {}, &comm::EmittedSpike::lag);
            exchange->advance(0, {outboxes[0].begin(), end});
        }
        const auto round = [&] {
            for (std::uint32_t worker = 0; worker < workers; ++worker) exchange->collocate(worker, spans);
            exchange->transfer(epoch + 1 == epochs);
            for (std::uint32_t worker = 0; worker < workers; ++worker) {
                exchange->take(worker, [](const comm::SpikeExchange::Arrivals&) {});
            }
        };
        for (round(); exchange->more(); round()) exchange->next_round();
        first_step += steps;
    }
    const comm::ExchangeCounts counts = exchange->counts();
    const auto bytes = static_cast<double>(counts.buffer_bytes);
    if (counts.sources_set_up == 0) return {bytes, bytes};
    const double of_source = static_cast<double>(counts.bytes_of_sources) / static_cast<double>(counts.sources_set_up);
    const double more = fired * sources - static_cast<double>(counts.sources_set_up);
    return {bytes, bytes + of_source * more};
}

}  // namespace

ExchangeSample sample_exchange(const connect::ProcessLayout& layout, const connect::TableEstimate& tables,
                               const connect::BuildOptions& build, const SimulationOptions& options,
                               double spikes_per_epoch, double steps_per_epoch, const Activity& activity) {
    // Of 0 spikes in an endless run there are none.
    const double spikes_of_source = activity.rate > 0.0 ? activity.rate * activity.time / 1000.0 : 0.0;
    const double fired = -std::expm1(-spikes_of_source);
    const comm::ExchangeInfo& method = choose_exchange(options, layout.placement().ranks());
    check_host_ranks(options, *comm::make_mirror_communicator(layout.placement().ranks()));
    if (method.candidates.empty()) {
        return {.bytes = sample_method(method, layout, tables, options, spikes_per_epoch, steps_per_epoch,
                                       activity.most_in_epoch, fired)
                             .of_run};
    }
    const bool finds_sources = build.numbering != connect::RowNumbering::unsorted && build.keep_sources;
    SimulationOptions without_latency = options;
    without_latency.intervals = 1;
    double all = 0.0;
    double most = 0.0;
    double of_largest = 0.0;
    const comm::ExchangeArguments arguments =
        sampled_arguments(layout, tables, without_latency, whole_steps(steps_per_epoch));
    for (const comm::ExchangeInfo* const candidate : method.candidates) {
        if (!candidate->directed && !finds_sources) continue;
        if (candidate->can_win != nullptr && !candidate->can_win(arguments)) continue;
        // The burst may come while this one is tried.
        const MethodSample sample = sample_method(*candidate, layout, tables, without_latency, spikes_per_epoch,
                                                  steps_per_epoch, activity.most_in_epoch, fired);
        all += sample.of_few_epochs;
        if (sample.of_run <= most) continue;
        most = sample.of_run;
        of_largest = sample.of_few_epochs;
    }
    return {.bytes = most, .of_trial = all - of_largest};
}

double notification_bytes(const connect::ProcessLayout& layout, const connect::TableEstimate& tables,
                          const SimulationOptions& options, double spikes_of_one, double steps_per_epoch) {
    const double others = layout.placement().ranks() - 1.0;
    const auto shards = static_cast<double>(layout.shards().size());
    const comm::Notifications notifications = options.notifications;
    const bool packs = notifications == comm::Notifications::packed;
    double rows = 0.0;  // of a shard, from other processes; each process is as often a source as a target
    for (const connect::TableEstimate::Table& table : tables.tables) {
        if (table.used) rows = std::max(rows, table.rows * others / (others + 1.0));
    }
    // Of a source, at whatever shards of another process its synapses are: rows fall at random onto the pairs.
    const double reached = packs ? shards * others : shards * shards * others;
    const double outlets = -reached * std::expm1(-rows * shards / reached);
    const double sources = static_cast<double>(layout.ids().size()) / shards;
    const double waiting = spikes_of_one * std::min(sources, rows * shards / std::max(1.0, outlets)) * steps_per_epoch;
    const comm::ProgressExchange::Expectation expectation{
        .groups = shards,
        .outlets = outlets,
        .partners = std::min(others, std::max(outlets, 3.0)),
        .waiting_spikes = connect::largest_list(waiting, waiting, 0.0)};
    return comm::ProgressExchange::expected_bytes(expectation, notifications);
}

}  // namespace ranvier::engine
