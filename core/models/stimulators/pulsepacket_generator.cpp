#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/math.hpp"
#include "models/stimulus_tools.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {
namespace pulsepacket_generator_parts {

enum Parameter : std::size_t { activity, sdev, start, stop };
enum Sequence : std::size_t { pulse_times };

constexpr double greatest_activity = 10000.0;
/// Upper limit of the spikes of overlapping packets in one step.
constexpr std::uint32_t most_of_one_source = 65535;

constexpr std::array parameters{
    whole({"activity", "", 0.0, {.lower = 0.0, .upper = greatest_activity}, "Number of spikes of each packet"}),
    ParameterInfo{"sdev", "ms", 0.0, {.lower = 0.0, .upper = 1e6}, "Standard deviation of spike times in a packet"},
    window_parameters::start,
    window_parameters::stop,
};
constexpr std::array sequences{
    SequenceInfo{"pulse_times", "ms", "Centres of the packets, ascending"},
};

/// Upper limit of the absolute value of a normal number drawn from 52 bits.
constexpr double reach_of_normal = 8.3;

class PulsepacketGenerator final : public Stimulus {
   public:
    explicit PulsepacketGenerator(const StimulusArguments& arguments)
        : key_(arguments.key),
          targets_(arguments.targets),
          resolution_(arguments.resolution),
          delay_(arguments.delay),
          weights_(arguments.weights.copy(arguments.memory)),
          activities_(arguments.parameters[activity].copy(arguments.memory)),
          deviations_(arguments.parameters[sdev].copy(arguments.memory)),
          windows_(stimulus_tools::windows(arguments.parameters[start], arguments.parameters[stop],
                                           arguments.resolution, arguments.memory)),
          centres_(arguments.sequences[pulse_times].begin(), arguments.sequences[pulse_times].end(), arguments.memory),
          numbers_(targets_.size(), 0, arguments.memory) {
        for (const double value : activities_.values) {
            if (value == std::floor(value)) continue;
            // Of a distribution, only its bounds have been checked.
            throw ValueOutOfBoundsError({.object = "activity",
                                         .value = to_text(value),
                                         .bound = "it must be a whole number",
                                         .remedy = "round it"});
        }
        for (const double value : deviations_.values) reach_ = std::max(reach_, reach_of_normal * value);
        reach_ += 2.0 * resolution_;
        make_room();
    }

    void add(Step step, double* out) override {
        const Step time = stimulus_tools::emission_of_spikes(step, delay_);
        if (time < 1) return;
        const double now = static_cast<double>(time) * resolution_;
        const auto first = std::ranges::lower_bound(centres_, now - reach_);
        const auto end = std::ranges::upper_bound(first, centres_.end(), now + reach_);
        keep(static_cast<std::size_t>(first - centres_.begin()), static_cast<std::size_t>(end - centres_.begin()));
        for_targets(time, [&](std::uint32_t i) { ++numbers_[i]; });
        for_targets(time, [&](std::uint32_t i) {
            const std::uint32_t number = std::exchange(numbers_[i], 0);
            if (number > 0 && windows_[windows_.size() == 1 ? 0 : i].contains_step_to(time)) {
                out[i] += weights_[i] * number;
            }
        });
    }

   private:
    struct Spike {
        Step step = 0;
        std::uint32_t target = 0;

        friend auto operator<=>(const Spike&, const Spike&) = default;
    };

    using Packet = std::pmr::vector<Spike>;

    /// Calls visit(target) for each spike of a step.
    template <class Visit>
    void for_targets(Step time, const Visit& visit) {
        for (const Packet& packet : packets_) {
            auto spike = std::ranges::lower_bound(packet, Spike{time, 0});
            for (; spike != packet.end() && spike->step == time; ++spike) visit(spike->target);
        }
    }

    /// Makes room for the spikes of as many packets as are active at once. Packets reuse the room in turn: its size
    /// is known, and reported, at the start.
    void make_room() {
        std::size_t most = 0;
        for (std::size_t begin = 0, end = 0; begin < centres_.size(); ++begin) {
            while (end < centres_.size() && centres_[end] <= centres_[begin] + 2.0 * reach_) ++end;
            most = std::max(most, end - begin);
        }
        double spikes = 0.0;
        for (std::size_t i = 0; i < targets_.size(); ++i) spikes += activities_[i];
        for (std::size_t i = 0; i < most; ++i) {
            room_.emplace_back(centres_.get_allocator().resource());
            room_.back().reserve(static_cast<std::size_t>(spikes));
        }
    }

    /// Keeps exactly the packets [begin, end).
    void keep(std::size_t begin, std::size_t end) {
        if (begin < first_packet_ || begin > first_packet_ + packets_.size()) {
            while (!packets_.empty()) drop_first();
            first_packet_ = begin;
        }
        while (first_packet_ < begin) drop_first();
        for (; first_packet_ + packets_.size() > end; packets_.pop_back()) room_.push_back(std::move(packets_.back()));
        while (first_packet_ + packets_.size() < end) packets_.push_back(draw(first_packet_ + packets_.size()));
    }
    void drop_first() {
        room_.push_back(std::move(packets_.front()));
        packets_.pop_front();
        ++first_packet_;
    }

    Packet draw(std::size_t packet) {
        const RandomKey key = make_key(key_.low | std::uint64_t{key_.high} << 32, Purpose::poisson, packet);
        Packet spikes(centres_.get_allocator());
        // Rounding may put one packet more within reach than there is room for.
        if (!room_.empty()) {
            spikes = std::move(room_.back());
            room_.pop_back();
            spikes.clear();
        }
        for (std::size_t i = 0; i < targets_.size(); ++i) {
            SequentialRandom random({key, targets_[i].value});
            for (std::uint64_t drawn = 0; static_cast<double>(drawn) < activities_[i]; ++drawn) {
                const double shift = deviations_[i] * math::normal_quantile(random.next_unit());
                // A decimal time in ms and the resolution are both rounded to binary.
                const double step = std::ceil((centres_[packet] + shift) / resolution_ - 1e-6);
                if (step >= 1.0) spikes.push_back({static_cast<Step>(step), static_cast<std::uint32_t>(i)});
            }
        }
        std::ranges::sort(spikes);
        return spikes;
    }

    RandomKey key_;
    IdSequence targets_;
    double resolution_;
    DelaySteps delay_;
    GroupValues weights_;
    GroupValues activities_;
    GroupValues deviations_;
    std::pmr::vector<stimulus_tools::Window> windows_;
    std::pmr::vector<double> centres_;  ///< ms
    std::pmr::vector<std::uint32_t> numbers_;  ///< spikes of each target in a step; 0 between steps
    double reach_ = 0.0;                ///< ms from the centre of a packet to any of its spikes
    std::size_t first_packet_ = 0;
    std::deque<Packet> packets_;        ///< packets near the present step
    std::vector<Packet> room_;          ///< unused packets
};

std::unique_ptr<Stimulus> create(const StimulusArguments& arguments) {
    return std::make_unique<PulsepacketGenerator>(arguments);
}

std::optional<std::string> conflict(std::span<const double> p, std::span<const std::vector<double>> s) {
    if (auto reason = stimulus_tools::window_conflict(p[start], p[stop])) return reason;
    const std::vector<double>& times = s[pulse_times];
    for (std::size_t i = 0; i < times.size(); ++i) {
        const std::string index = "pulse_times[" + std::to_string(i) + "]";
        if (!(times[i] >= 0.0 && times[i] <= 1e12)) {
            return index + " is " + to_text(times[i]) + " ms, and must be >= 0 and at most 1e12";
        }
        if (i > 0 && times[i] <= times[i - 1]) {
            return index + ", " + to_text(times[i]) + " ms, must be later than the time before it, " +
                   to_text(times[i - 1]) + " ms";
        }
    }
    if (p[activity] != std::floor(p[activity])) {
        return "activity, " + to_text(p[activity]) + ", must be a whole number";
    }
    return std::nullopt;
}

}  // namespace pulsepacket_generator_parts
}  // namespace

constinit const StimulatorModel pulsepacket_generator{
    .name = "pulsepacket_generator",
    .summary = "Packets of spikes around given times, with independent times for each target",
    .equations =
        R"(Each packet has `activity` spikes, at pulse_times[i] + sdev X, with X standard normal, rounded up to the grid. Spikes
at or before 0 are lost. Of the others those in start < t <= stop are emitted; they arrive at t + delay.)",
    .reference = "M. Diesmann, M.-O. Gewaltig and A. Aertsen, Nature 402, 529-533 (1999)",
    .output = StimulatorOutput::spikes,
    .parameters = pulsepacket_generator_parts::parameters,
    .sequences = pulsepacket_generator_parts::sequences,
    .create = pulsepacket_generator_parts::create,
    .conflict = pulsepacket_generator_parts::conflict,
    .most_spikes = pulsepacket_generator_parts::most_of_one_source,
};

}  // namespace ranvier::models
