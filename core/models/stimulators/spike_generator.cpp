#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/models/registry.hpp"

namespace ranvier::models {

namespace {

/// Plays lists of spikes. All lists are in one array sorted by (step, unit), read from front to back.
class SpikeGenerator final : public NeuronGroup {
   public:
    explicit SpikeGenerator(const GroupArguments& arguments)
        : units_(arguments.ids.size()), playlist_(make_playlist(arguments.spike_steps, arguments.memory)) {}

    std::size_t update(const UpdateArguments& arguments) override {
        const std::pmr::vector<Spike>& spikes = playlist_.spikes;
        if (next_ > 0 && spikes[next_ - 1].step >= arguments.step) rewind(arguments.step);
        while (next_ < spikes.size() && spikes[next_].step < arguments.step) ++next_;
        std::size_t count = 0;
        for (; next_ < spikes.size() && spikes[next_].step == arguments.step; ++next_) {
            arguments.spikes[count++] = spikes[next_].unit;
        }
        return count;
    }

    Step silent_until(Step now) const override {
        const auto later = std::find_if(playlist_.spikes.begin() + static_cast<std::ptrdiff_t>(next_),
                                        playlist_.spikes.end(), [now](const Spike& s) { return s.step > now; });
        return later == playlist_.spikes.end() ? std::max(now, for_ever) : later->step - 1;
    }

    std::size_t largest_output() const override { return playlist_.largest_output; }

    // The model has no variables or parameters.
    bool is_finite() const override { return true; }
    void read(std::size_t, std::span<const std::uint32_t>, double*) const override {}
    void write(std::size_t, std::span<const std::uint32_t>, const double*) override {}
    void check(std::size_t, std::span<const std::uint32_t>, const double*) const override {}
    /// The spikes left to play follow from the lists and the step.
    void serialize_state(std::uint32_t, Step, StateColumns&) override {}
    std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues>) override {
        struct Nothing final : ParameterChange {
            void check(std::size_t, std::span<const std::uint32_t>, const double*) const override {}
            void apply() noexcept override {}
        };
        return std::make_unique<Nothing>();
    }

    std::unique_ptr<ParameterChange> prepare_spikes(std::span<const std::vector<Step>> spike_steps) override {
        return std::make_unique<Change>(*this, make_playlist(spike_steps, playlist_.spikes.get_allocator().resource()));
    }

   private:
    /// Later than any step of a simulation.
    static constexpr Step for_ever = Step{1} << 61;

    struct Spike {
        Step step;
        std::uint32_t unit;
    };
    struct Playlist {
        std::pmr::vector<Spike> spikes;
        std::size_t largest_output = 0;
    };

    class Change final : public ParameterChange {
       public:
        Change(SpikeGenerator& group, Playlist playlist) : group_(group), playlist_(std::move(playlist)) {}

        std::size_t largest_output() const override { return playlist_.largest_output; }
        void check(std::size_t, std::span<const std::uint32_t>, const double*) const override {}
        void apply() noexcept override {
            group_.playlist_.spikes.swap(playlist_.spikes);
            group_.playlist_.largest_output = playlist_.largest_output;
            group_.next_ = 0;
        }

       private:
        SpikeGenerator& group_;
        Playlist playlist_;
    };

    Playlist make_playlist(std::span<const std::vector<Step>> lists, std::pmr::memory_resource* memory) const {
        if (lists.size() != units_) throw InternalError("a spike generator needs one list of spikes per unit");
        Playlist playlist{.spikes = std::pmr::vector<Spike>(memory), .largest_output = units_};
        std::pmr::vector<Spike>& spikes = playlist.spikes;
        std::size_t total = 0;
        for (const auto& list : lists) total += list.size();
        spikes.reserve(total);
        for (std::size_t unit = 0; unit < units_; ++unit) {
            for (const Step step : lists[unit]) spikes.push_back({step, static_cast<std::uint32_t>(unit)});
        }
        std::sort(spikes.begin(), spikes.end(),
                  [](const Spike& a, const Spike& b) { return a.step != b.step ? a.step < b.step : a.unit < b.unit; });
        for (std::size_t begin = 0, end = 0; begin < spikes.size(); begin = end) {
            while (end < spikes.size() && spikes[end].step == spikes[begin].step) ++end;
            playlist.largest_output = std::max(playlist.largest_output, end - begin);
        }
        return playlist;
    }

    /// Searches the position of a step at or before the last one played.
    void rewind(Step step) {
        const auto first = std::lower_bound(playlist_.spikes.begin(), playlist_.spikes.end(), step,
                                            [](const Spike& spike, Step wanted) { return spike.step < wanted; });
        next_ = static_cast<std::size_t>(first - playlist_.spikes.begin());
    }

    std::size_t units_;
    Playlist playlist_;
    std::size_t next_ = 0;
};

constinit const PlainNeuronModel<SpikeGenerator> model({
    .name = "spike_generator",
    .summary = "Source that plays given spikes",
    .equations = "Unit i fires at each time of its list; for a time that occurs k times, it fires k times.",
    .reference = "",
    .parameters = {},
    .variables = {},
    .receptors = {},
    .weight_unit = "",
    .is_source = true,
    .plays_spikes = true,
});

}  // namespace

constinit const NeuronModel& spike_generator = model;

}  // namespace ranvier::models
