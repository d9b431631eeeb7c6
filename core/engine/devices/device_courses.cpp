#include "engine/devices/device_courses.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "ranvier/base/errors.hpp"

namespace ranvier::engine {

namespace {

using device::u32;
using device::u64;

/// Numbers that the host calculates at once, in all blocks: 64 MB.
constexpr u64 most_numbers = u64{1} << 23;
/// Steps through which groups are played at once.
constexpr Step most_played_steps = 1000;
constexpr u32 most_in_record = device::Record::stop - 1;

bool same_bits(double a, double b) { return std::bit_cast<u64>(a) == std::bit_cast<u64>(b); }

bool has_neurons(const ShardGroup& group) { return group.neurons != nullptr && is_played(group); }

}  // namespace

DeviceCourses::DeviceCourses(std::span<const std::unique_ptr<Shard>> shards, std::string device)
    : shards_(shards), device_(std::move(device)), stimuli_(shards.size()), blocks_(shards.size()) {
    for (const auto& shard : shards_) plays_ = plays_ || std::ranges::any_of(shard->groups(), has_neurons);
}

bool DeviceCourses::is_empty() const {
    return !plays_ && std::ranges::all_of(stimuli_, [](const auto& stimuli) { return stimuli.empty(); });
}

Step DeviceCourses::calculate(Step first, Step last) {
    first_ = first;
    last_ = fitting_end(first, plays_ ? std::min(last, first + most_played_steps - 1) : last);
    save();
    for (std::size_t s = 0; s < shards_.size(); ++s) {
        blocks_[s] = {};
        blocks_[s].count = static_cast<u32>(stimuli_[s].size());
        add_rows(s, first_, last_);
        play(s, first_, last_);
    }
    return last_;
}

void DeviceCourses::take_back(Step now) {
    if (now >= last_) return;
    restore();
    last_ = now;
    if (now < first_) return;
    for (std::size_t s = 0; s < shards_.size(); ++s) {
        for (const HostStimulus& each : stimuli_[s]) {
            models::Stimulus& stimulus = *shards_[s]->stimuli()[each.stimulus].stimulus;
            numbers_.assign(each.targets, -0.0);
            for (Step step = first_; stimulus.has_state() && step <= now; ++step) stimulus.add(step, numbers_.data());
        }
        for (const ShardGroup& group : shards_[s]->groups()) {
            if (has_neurons(group)) (void)advance(group, first_, now);
        }
    }
}

Step DeviceCourses::fitting_end(Step first, Step last) const {
    std::vector<u64> added(static_cast<std::size_t>(last - first + 1), 0);
    for (std::size_t s = 0; s < shards_.size(); ++s) {
        for (const HostStimulus& each : stimuli_[s]) {
            const models::Stimulus& stimulus = *shards_[s]->stimuli()[each.stimulus].stimulus;
            for (Step step = first; step <= last;) {
                added[static_cast<std::size_t>(step - first)] += stimulus.common_number(step) ? 1 : each.targets;
                const Step end = stimulus.steady_until(step);
                if (end >= last) break;
                step = end + 1;
            }
        }
    }
    u64 sum = added[0];
    Step end = first;
    while (end < last && sum + added[static_cast<std::size_t>(end - first) + 1] <= most_numbers) {
        ++end;
        sum += added[static_cast<std::size_t>(end - first)];
    }
    return end;
}

void DeviceCourses::add_rows(std::size_t s, Step first, Step last) {
    device::BlockCourses& block = blocks_[s];
    block.rows.resize(static_cast<std::size_t>(last - first + 1) * block.count);
    for (u32 course = 0; course < block.count; ++course) {
        const HostStimulus& each = stimuli_[s][course];
        models::Stimulus& stimulus = *shards_[s]->stimuli()[each.stimulus].stimulus;
        for (Step step = first; step <= last;) {
            const std::optional<double> common = stimulus.common_number(step);
            numbers_.assign(common ? 1 : each.targets, common.value_or(-0.0));
            if (!common) stimulus.add(step, numbers_.data());
            // Of spikes, there are often none.
            const bool is_common =
                std::ranges::all_of(numbers_, [&](double number) { return same_bits(number, numbers_.front()); });
            if (is_common) numbers_.resize(1);
            const u32 row = static_cast<u32>(block.values.size()) | (is_common ? device::common_row : 0);
            block.values.insert(block.values.end(), numbers_.begin(), numbers_.end());
            const Step end = std::min(last, stimulus.steady_until(step));
            for (; step <= end; ++step) {
                block.rows[static_cast<std::size_t>(step - first) * block.count + course] = row;
            }
        }
    }
}

void DeviceCourses::play(std::size_t s, Step first, Step last) {
    device::BlockCourses& block = blocks_[s];
    std::vector<std::pair<Step, u32>> played;
    u32 others = shards_[s]->layout().size();
    for (const ShardGroup& group : shards_[s]->groups()) {
        if (!has_neurons(group)) continue;
        others -= group.size;
        for (const models::GroupSpike& spike : advance(group, first, last)) {
            played.emplace_back(spike.step, group.offset + spike.neuron);
        }
    }
    if (!plays_) return;
    std::ranges::sort(played);
    auto next = played.begin();
    for (Step step = first; step <= last; ++step) {
        const auto begin = next;
        block.played_begin.push_back(static_cast<u32>(block.played.size()));
        for (; next != played.end() && next->first == step; ++next) {
            block.played.push_back(static_cast<device::u16>(next->second));
        }
        block.most_played = std::max(block.most_played, static_cast<u32>(next - begin));
    }
    block.played_begin.push_back(static_cast<u32>(block.played.size()));
    if (others + block.most_played <= most_in_record) return;
    take_back(first - 1);
    throw StateError({.object = "device",
                      .value = "'" + device_ + "'",
                      .bound = "a block has at most " + std::to_string(most_in_record) + " spikes in a step, and " +
                               std::to_string(shards_.size()) + " blocks would have " +
                               std::to_string(others + block.most_played),
                      .remedy = "give it more blocks by the option shards, or run on processors: device='cpu'"});
}

const std::pmr::vector<models::GroupSpike>& DeviceCourses::advance(const ShardGroup& group, Step first, Step last) {
    spikes_.clear();
    room_.resize(group.neurons->largest_output());
    // Those that read inputs clear them only.
    numbers_.assign(std::size_t{group.receptors} * group.size, -0.0);
    std::vector<models::StepRows> inputs;
    for (u32 receptor = 0; receptor < group.receptors; ++receptor) {
        inputs.push_back({.data = numbers_.data() + std::size_t{receptor} * group.size});
    }
    group.neurons->advance({.first = first,
                            .last = last,
                            .size = group.size,
                            .inputs = inputs,
                            .current = {},
                            .spikes = &spikes_,
                            .room = room_.data(),
                            .observed = {}});
    return spikes_;
}

template <class Visit>
void DeviceCourses::for_states(Step now, const Visit& visit) const {
    for (std::size_t s = 0; s < shards_.size(); ++s) {
        for (const HostStimulus& each : stimuli_[s]) {
            models::Stimulus& stimulus = *shards_[s]->stimuli()[each.stimulus].stimulus;
            if (!stimulus.has_state()) continue;
            visit(static_cast<u32>(each.targets),
                  [&](u32 target, StateColumns& columns) { stimulus.serialize_state(target, columns); });
        }
        for (const ShardGroup& group : shards_[s]->groups()) {
            if (!has_neurons(group)) continue;
            visit(group.size,
                  [&](u32 neuron, StateColumns& columns) { group.neurons->serialize_state(neuron, now, columns); });
        }
    }
}

void DeviceCourses::save() {
    saved_.clear();
    for_states(first_ - 1, [&](u32 owners, const auto& serialize) {
        StateColumns columns;
        for (u32 owner = 0; owner < owners; ++owner) serialize(owner, columns);
        saved_.push_back(std::move(columns).take());
    });
}

void DeviceCourses::restore() {
    auto next = saved_.begin();
    for_states(first_ - 1, [&](u32 owners, const auto& serialize) {
        Columns columns = std::move(*next++);
        if (columns.empty()) return;
        StateColumns loaded(std::move(columns));
        for (u32 owner = 0; owner < owners; ++owner) {
            loaded.seek(owner);
            serialize(owner, loaded);
        }
    });
}

}  // namespace ranvier::engine
