#include <array>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "base/random.hpp"
#include "connect/plasticity/random_release_table.hpp"
#include "connect/tables/synapse_dynamics.hpp"
#include "models/registry.hpp"

namespace ranvier::models {

namespace {

constexpr std::array parameters{
    ParameterInfo{"p_transmit",
                  "",
                  1.0,
                  {.lower = 0.0, .upper = 1.0},
                  "Probability with which a synapse transmits a spike of its source"},
};

class Dynamics final : public connect::SynapseDynamics {
   public:
    explicit Dynamics(double probability) : probability_(probability) {}

    double least_weight() const override { return -std::numeric_limits<double>::infinity(); }
    double greatest_weight() const override { return std::numeric_limits<double>::infinity(); }
    double greatest_factor() const override { return 1.0; }
    void use_key(RandomKey key) override { key_ = key; }

    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint16_t, float> columns,
                                                      const connect::PlasticTableArguments& arguments) const override {
        return make(std::move(columns), arguments);
    }
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint32_t, float> columns,
                                                      const connect::PlasticTableArguments& arguments) const override {
        return make(std::move(columns), arguments);
    }
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint16_t, double> columns,
                                                      const connect::PlasticTableArguments& arguments) const override {
        return make(std::move(columns), arguments);
    }
    std::unique_ptr<connect::SynapseTable> make_table(connect::TableColumns<std::uint32_t, double> columns,
                                                      const connect::PlasticTableArguments& arguments) const override {
        return make(std::move(columns), arguments);
    }

   private:
    template <class Target, class Weight>
    std::unique_ptr<connect::SynapseTable> make(connect::TableColumns<Target, Weight> columns,
                                                const connect::PlasticTableArguments& arguments) const {
        using Table = connect::RandomReleaseTable<Target, Weight>;
        return std::make_unique<Table>(std::move(columns), probability_, key_, arguments);
    }

    double probability_;
    RandomKey key_;
};

std::unique_ptr<connect::SynapseDynamics> create(std::span<const double> values, double /*resolution*/) {
    return std::make_unique<Dynamics>(values[0]);
}

}  // namespace

constinit const SynapseModel bernoulli{
    .name = "bernoulli",
    .summary = "Synapse that transmits a spike with a fixed probability",
    .equations = R"(Each spike of the source adds the weight to the input of the target with the probability p_transmit.
Synapses draw independently of each other, and anew for each spike.)",
    .reference = "S. Lefort, C. Tomm, J.-C. F. Sarria and C. C. H. Petersen, Neuron 61, 301-316 (2009)",
    .parameters = parameters,
    .create = create,
    .keeps_weights = true,
    .is_random = true,
};

}  // namespace ranvier::models
