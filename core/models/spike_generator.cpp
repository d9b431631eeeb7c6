#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>
#include <vector>

#include "base/errors.hpp"
#include "models/registry.hpp"

namespace ranvier::models {

namespace {

/// Plays lists of spikes. All lists lie in one array in the order (step, unit), read from front to back.
class SpikeGenerator final : public NeuronGroup {
   public:
    explicit SpikeGenerator(const GroupArguments& arguments) : spikes_(arguments.memory) {
        if (arguments.spike_steps.size() != arguments.ids.size()) {
            throw InternalError("a spike generator needs one list of spikes per unit");
        }
        std::size_t total = 0;
        for (const auto& list : arguments.spike_steps) total += list.size();
        spikes_.reserve(total);
        for (std::size_t unit = 0; unit < arguments.ids.size(); ++unit) {
            for (const Step step : arguments.spike_steps[unit]) {
                spikes_.push_back({step, static_cast<std::uint32_t>(unit)});
            }
        }
        std::sort(spikes_.begin(), spikes_.end(),
                  [](const Spike& a, const Spike& b) { return a.step != b.step ? a.step < b.step : a.unit < b.unit; });
        largest_output_ = arguments.ids.size();
        for (std::size_t begin = 0, end = 0; begin < spikes_.size(); begin = end) {
            while (end < spikes_.size() && spikes_[end].step == spikes_[begin].step) ++end;
            largest_output_ = std::max(largest_output_, end - begin);
        }
    }

    std::size_t update(const UpdateArguments& arguments) override {
        if (next_ > 0 && spikes_[next_ - 1].step >= arguments.step) rewind(arguments.step);
        while (next_ < spikes_.size() && spikes_[next_].step < arguments.step) ++next_;
        std::size_t count = 0;
        for (; next_ < spikes_.size() && spikes_[next_].step == arguments.step; ++next_) {
            arguments.spikes[count++] = spikes_[next_].unit;
        }
        return count;
    }

    std::size_t largest_output() const override { return largest_output_; }

    // There are neither variables nor parameters.
    bool is_finite() const override { return true; }
    void read(std::size_t, std::span<const std::uint32_t>, double*) const override {}
    void write(std::size_t, std::span<const std::uint32_t>, const double*) override {}
    void check(std::size_t, std::span<const std::uint32_t>, const double*) const override {}
    std::unique_ptr<ParameterChange> prepare_parameters(std::span<const GroupValues>) override {
        struct Nothing final : ParameterChange {
            void apply() noexcept override {}
        };
        return std::make_unique<Nothing>();
    }

   private:
    struct Spike {
        Step step;
        std::uint32_t unit;
    };

    /// A step that was played already, or that lies before one that was: look it up.
    void rewind(Step step) {
        const auto first = std::lower_bound(spikes_.begin(), spikes_.end(), step,
                                            [](const Spike& spike, Step wanted) { return spike.step < wanted; });
        next_ = static_cast<std::size_t>(first - spikes_.begin());
    }

    std::pmr::vector<Spike> spikes_;
    std::size_t next_ = 0;
    std::size_t largest_output_ = 0;
};

std::unique_ptr<NeuronGroup> create(const GroupArguments& arguments) {
    return std::make_unique<SpikeGenerator>(arguments);
}

}  // namespace

constinit const NeuronModel spike_generator{
    .name = "spike_generator",
    .summary = "Source that plays given spikes",
    .equations = "Unit i fires at each time of its list; at a time that stands k times in it, it fires k times.",
    .reference = "",
    .parameters = {},
    .variables = {},
    .receptors = {},
    .weight_unit = "",
    .plays_spikes = true,
    .create = create,
    .conflict = nullptr,
};

}  // namespace ranvier::models
