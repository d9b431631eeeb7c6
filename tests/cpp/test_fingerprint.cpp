// Each field of a description is compared between ranks and with saved states.
#include "engine/simulation/fingerprint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "network/network_parts.hpp"
#include "program_building.hpp"
#include "ranvier/base/errors.hpp"
#include "thread_communicator.hpp"

namespace TEST_FILE {

using namespace ranvier;
using namespace ranvier::engine;
using namespace ranvier::network;

using Lists = std::vector<std::vector<double>>;

/// A spec whose list of fields lacks one.
template <class Missing>
struct Incomplete {
    std::string name;
    double weight = 1.0;
    Missing missing = {};
};

}  // namespace TEST_FILE

template <class Missing>
inline constexpr auto ranvier::network::fields<TEST_FILE::Incomplete<Missing>> = std::tuple{
    field("name", &TEST_FILE::Incomplete<Missing>::name), field("weight", &TEST_FILE::Incomplete<Missing>::weight)};

namespace TEST_FILE {

/// An index plus a number.
ExpressionValues by_index(connect::PairQuantity index, double number) {
    program::Writer writer(1);
    const auto sum = writer.add(program::Operation::add, {0, writer.constant(number)});
    return {.function = std::make_shared<const connect::PairFunction>(
                writer.finish({sum}), std::vector<connect::PairQuantity>{index}, "a test")};
}

connect::Mask::Pointer disc(double radius) { return connect::Mask::ellipsoid(2, {}, {radius, radius, radius}); }
connect::RuleSpec within(connect::Mask::Pointer mask) {
    return {"fixed_indegree", {{"indegree", 2}, {"mask", std::move(mask)}}};
}

/// A tenth of an index: a probability.
std::shared_ptr<const connect::PairFunction> tenth_of(connect::PairQuantity index) {
    program::Writer writer(1);
    const auto tenth = writer.add(program::Operation::multiply, {0, writer.constant(0.1)});
    return std::make_shared<const connect::PairFunction>(writer.finish({tenth}),
                                                         std::vector<connect::PairQuantity>{index}, "a test");
}

/// What a network is made of. A test changes one value.
struct Choices {
    double resolution = 0.1;
    std::uint64_t seed = 1;
    std::string model = "iaf_psc_exp";
    std::uint64_t size = 4;
    std::string population = "neurons";
    NamedValues values = {{"tau_m", 10.0}, {"V_m", -60.0}};
    std::optional<double> step = std::nullopt;
    connect::Positions positions = {.form = connect::Positions::Random{.extent = {1.0, 1.0, 1.0}}};
    connect::Rotations rotations = {{{.kind = connect::Rotations::Kind::random}}};
    Lists spikes = {{1.0}, {2.0}};
    std::vector<double> rate_times = {0.1, 50.0};
    std::vector<double> rates = {10.0, 20.0};
    connect::RuleSpec rule = {"fixed_indegree", {{"indegree", 2}}};
    Values weight = 1.0;
    Values delay = 1.0;
    std::string projection = "projection";
    double weight_bound = 0.0;
    std::string receptor = "excitatory";
    std::string synapse = "stdp";
    NamedValues synapse_values = {{"tau_plus", 20.0}};
    std::string stimulator = "step_current_generator";
    NamedValues stimulus_values = {{"stop", 500.0}};
    std::vector<double> current_times = {0.5, 20.0};
    std::vector<double> currents = {100.0, 200.0};
    double stimulus_weight = 2.0;
    std::optional<double> stimulus_delay = 1.0;
    std::string stimulus = "drive";
    std::uint64_t stimulated = 4;
    std::uint64_t sources = 4;
    std::uint64_t targets = 4;
    std::uint64_t recorded = 4;
    std::uint64_t bin = 2;
    std::string purpose = "potentials";
    std::vector<std::string> variables = {"V_m"};
    double interval = 1.0;
};

IdSequence first_of(const Network& network, PopulationId population, std::uint64_t count) {
    return {network.population(population).first, 1, count};
}

Network make_network(const Choices& choices) {
    Network network(choices.resolution, choices.seed);
    const PopulationId neurons =
        network.create({.name = choices.population,
                        .model = registered_model(choices.model),
                        .size = choices.size,
                        .step = choices.step,
                        .values = choices.values,
                        .positions = std::make_shared<const connect::Positions>(choices.positions),
                        .rotations = std::make_shared<const connect::Rotations>(choices.rotations)});
    network.create({.name = "players",
                    .model = registered_model("spike_generator"),
                    .size = choices.spikes.size(),
                    .spike_times = choices.spikes});
    network.create({.name = "drawn",
                    .model = registered_model("inhomogeneous_poisson_generator"),
                    .size = 2,
                    .values = {{"stop", 900.0}},
                    .sequences = {{"times", choices.rate_times}, {"rates", choices.rates}}});
    network.connect({.name = choices.projection,
                     .sources = first_of(network, neurons, choices.sources),
                     .targets = first_of(network, neurons, choices.targets),
                     .rule = choices.rule,
                     .weight = choices.weight,
                     .delay = choices.delay,
                     .weight_bound = choices.weight_bound,
                     .receptor = choices.receptor,
                     .synapse = choices.synapse.empty()
                                    ? SynapseSpec{}
                                    : SynapseSpec{.model = &models::find_synapse_model(choices.synapse),
                                                  .parameters = choices.synapse_values}});
    network.stimulate({.name = choices.stimulus,
                       .model = &models::find_stimulator_model(choices.stimulator),
                       .targets = first_of(network, neurons, choices.stimulated),
                       .parameters = choices.stimulus_values,
                       .sequences = {{"times", choices.current_times}, {"amplitudes", choices.currents}},
                       .weight = choices.stimulus_weight,
                       .delay = choices.stimulus_delay});
    network.record_spikes({{first_of(network, neurons, choices.recorded)}});
    network.record_spikes({.neurons = {first_of(network, neurons, 4)}, .bin = choices.bin, .purpose = choices.purpose});
    network.record_state({.neurons = first_of(network, neurons, choices.recorded),
                          .variables = choices.variables,
                          .interval = choices.interval});
    return network;
}

struct Change {
    std::string name;
    std::function<void(Choices&)> make;
};

using Random = connect::Positions::Random;

/// Random positions, in a box or what is given.
connect::Positions random_in(connect::Positions frame, const Random& form = {.extent = {1.0, 1.0, 1.0}}) {
    frame.form = form;
    return frame;
}

const std::vector<Change>& changes() {
    const Distribution drawn{.kind = Distribution::Kind::uniform, .first = 1.0, .second = 3.0};
    static const std::vector<Change> all{
        {"resolution", [](Choices& c) { c.resolution = 0.05; }},
        {"seed", [](Choices& c) { c.seed = 2; }},
        {"model", [](Choices& c) { c.model = "iaf_psc_alpha"; }},
        {"size", [](Choices& c) { c.size = 5; }},
        {"name of population", [](Choices& c) { c.population = "others"; }},
        {"parameter", [](Choices& c) { c.values.at("tau_m") = 11.0; }},
        {"parameters of each neuron",
         [](Choices& c) { c.values.at("tau_m") = SharedArray(std::vector<double>{10.0, 10.0, 10.0, 10.5}); }},
        {"initial value", [](Choices& c) { c.values.at("V_m") = -61.0; }},
        {"drawn initial value", [drawn](Choices& c) { c.values.at("V_m") = drawn; }},
        {"step", [](Choices& c) { c.step = 0.5; }},
        {"dimensions", [](Choices& c) { c.positions = random_in({.dimensions = 3}); }},
        {"unit", [](Choices& c) { c.positions = random_in({.unit = connect::LengthUnit::micrometre}); }},
        {"period", [](Choices& c) { c.positions = random_in({.period = {1.0, 0.0}}); }},
        {"origin", [](Choices& c) { c.positions = random_in({.origin = {0.5, 0.0}}); }},
        {"shape of random positions",
         [](Choices& c) {
             c.positions = random_in({}, {.shape = Random::Shape::ellipsoid, .extent = {1.0, 1.0, 1.0}});
         }},
        {"lower end", [](Choices& c) { c.positions = random_in({}, {.lower = {1.0}, .extent = {1.0, 1.0, 1.0}}); }},
        {"extent", [](Choices& c) { c.positions = random_in({}, {.extent = {2.0, 1.0, 1.0}}); }},
        {"least distance",
         [](Choices& c) { c.positions = random_in({}, {.extent = {1.0, 1.0, 1.0}, .min_distance = 0.01}); }},
        {"rotations", [](Choices& c) { c.rotations.steps.emplace_back(c.rotations.steps[0]); }},
        {"kind of rotations", [](Choices& c) { c.rotations.steps[0].kind = connect::Rotations::Kind::any; }},
        {"axis of rotations", [](Choices& c) { c.rotations.steps[0].axis = {1.0, 0.0, 0.0}; }},
        {"angles of rotations", [](Choices& c) { c.rotations.steps[0].angles = std::vector<double>{0.5}; }},
        {"grid", [](Choices& c) { c.positions = {.form = connect::Positions::Grid{.shape = {2, 2, 1}}}; }},
        {"given positions",
         [](Choices& c) { c.positions = {.form = connect::Positions::Array{std::vector<double>(8, 1.0)}}; }},
        {"spike times", [](Choices& c) { c.spikes[1] = {2.1}; }},
        {"number of spikes", [](Choices& c) { c.spikes[1] = {2.0, 2.0}; }},
        {"sequence of sources", [](Choices& c) { c.rate_times[1] = 51.0; }},
        {"other sequence of sources", [](Choices& c) { c.rates[0] = 11.0; }},
        {"length of the sequences of sources",
         [](Choices& c) {
             c.rate_times.push_back(60.0);
             c.rates.push_back(0.0);
         }},
        {"sources", [](Choices& c) { c.sources = 3; }},
        {"targets", [](Choices& c) { c.targets = 3; }},
        {"rule", [](Choices& c) { c.rule = {"fixed_outdegree", {{"outdegree", 2}}}; }},
        {"number of the rule", [](Choices& c) { c.rule = {"fixed_indegree", {{"indegree", 1}}}; }},
        {"reversal", [](Choices& c) { c.rule = c.rule.reversed({.of = ProjectionId{0}}); }},
        {"projection of a reversal",
         [](Choices& c) { c.rule = c.rule.reversed({.of = ProjectionId{1}, .same_weights = true}); }},
        {"weights of a reversal",
         [](Choices& c) { c.rule = c.rule.reversed({.of = ProjectionId{0}, .same_weights = true}); }},
        {"delays of a reversal",
         [](Choices& c) { c.rule = c.rule.reversed({.of = ProjectionId{0}, .same_delays = true}); }},
        {"autapses", [](Choices& c) { c.rule = {"fixed_indegree", {{"indegree", 2}, {"allow_autapses", false}}}; }},
        {"multapses", [](Choices& c) { c.rule = {"fixed_indegree", {{"indegree", 2}, {"allow_multapses", false}}}; }},
        {"mask", [](Choices& c) { c.rule = within(disc(9.0)); }},
        {"probability of a rule",
         [](Choices& c) {
             c.rule = {"fixed_indegree",
                       {{"indegree", 2}, {"probability", tenth_of(connect::PairQuantity::source_index)}}};
         }},
        {"weight", [](Choices& c) { c.weight = 1.5; }},
        {"drawn weight", [drawn](Choices& c) { c.weight = drawn; }},
        {"weight by index", [](Choices& c) { c.weight = by_index(connect::PairQuantity::source_index, 1.0); }},
        {"weight by another index", [](Choices& c) { c.weight = by_index(connect::PairQuantity::target_index, 1.0); }},
        {"weight by an index with another number",
         [](Choices& c) { c.weight = by_index(connect::PairQuantity::source_index, 2.0); }},
        {"delay", [](Choices& c) { c.delay = 1.5; }},
        {"drawn delay", [drawn](Choices& c) { c.delay = drawn; }},
        {"name of projection", [](Choices& c) { c.projection = "other"; }},
        {"weight_bound", [](Choices& c) { c.weight_bound = 10.0; }},
        {"receptor", [](Choices& c) { c.receptor = "inhibitory"; }},
        {"synapse", [](Choices& c) { c.synapse = "stdp_nn_symm"; }},
        {"static synapse", [](Choices& c) { c.synapse = ""; }},
        {"parameter of synapses", [](Choices& c) { c.synapse_values.at("tau_plus") = 21.0; }},
        {"stimulus", [](Choices& c) { c.stimulus_values.at("stop") = 600.0; }},
        {"sequence of a stimulus", [](Choices& c) { c.current_times[1] = 21.0; }},
        {"other sequence of a stimulus", [](Choices& c) { c.currents[1] = 201.0; }},
        {"weight of a stimulus", [](Choices& c) { c.stimulus_weight = 2.5; }},
        {"delay of a stimulus", [](Choices& c) { c.stimulus_delay = 1.5; }},
        {"name of a stimulus", [](Choices& c) { c.stimulus = "other drive"; }},
        {"targets of a stimulus", [](Choices& c) { c.stimulated = 3; }},
        {"recorded neurons", [](Choices& c) { c.recorded = 3; }},
        {"bins of numbers of spikes", [](Choices& c) { c.bin = 3; }},
        {"purpose of numbers of spikes", [](Choices& c) { c.purpose = "other"; }},
        {"recorded variables", [](Choices& c) { c.variables = {"I_syn_ex"}; }},
        {"recording interval", [](Choices& c) { c.interval = 2.0; }},
    };
    return all;
}

Network changed_network(const Change& change) {
    Choices choices;
    change.make(choices);
    return make_network(choices);
}

std::vector<std::uint64_t> values_of(const Network& network) {
    std::vector<std::uint64_t> values;
    for (const NetworkPart& part :
         network_parts(network, models::Precision::double_precision, models::Precision::single_precision)) {
        values.push_back(part.value);
    }
    return values;
}

template <class... Missing>
constexpr bool no_list_is_complete() {
    return (!lists_all_members<Incomplete<Missing>>() && ...);
}

TEST(Fields, OfASpecAreAllListed) {
    // A member of any type that the list lacks is noticed when it is compiled.
    EXPECT_TRUE((no_list_is_complete<bool, int, double, std::string, std::uint64_t, std::optional<double>, Values,
                                     NamedValues, Sequences, SiteSpec, SynapseSpec, SpikeLists, SharedArray, IdSequence,
                                     connect::RuleSpec, std::vector<IdSequence>, std::vector<std::string>, SpikeTimes,
                                     std::shared_ptr<const models::NeuronModel>, std::shared_ptr<const void>>()));
    EXPECT_TRUE(lists_all_members<ProjectionSpec>());
}

TEST(Fingerprint, OfEqualDescriptionsIsEqual) {
    EXPECT_EQ(fingerprint(make_network({}), {}), fingerprint(make_network({}), {}));
    EXPECT_EQ(values_of(make_network({})), values_of(make_network({})));
}

TEST(Fingerprint, OfGivenTimesIsThatOfEqualDefaults) {
    Choices given;
    given.step = given.resolution;
    EXPECT_EQ(fingerprint(make_network(given), {}), fingerprint(make_network({}), {}));
    EXPECT_EQ(values_of(make_network(given)), values_of(make_network({})));
    Choices one_step;
    one_step.stimulus_delay = one_step.resolution;
    Choices shortest;
    shortest.stimulus_delay = std::nullopt;
    EXPECT_EQ(values_of(make_network(shortest)), values_of(make_network(one_step)));
    EXPECT_NE(values_of(make_network(shortest)), values_of(make_network({})));
    // Rounding errors of times are not differences.
    Choices rounded;
    rounded.interval = 0.1 + 0.7 + 0.2;
    rounded.spikes[1] = {0.1 + 0.1 + 1.8};
    EXPECT_EQ(values_of(make_network(rounded)), values_of(make_network({})));
}

TEST(Fingerprint, HasEachFieldOfADescription) {
    const auto before = fingerprint(make_network({}), {});
    for (const Change& change : changes()) {
        EXPECT_NE(fingerprint(changed_network(change), {}), before) << change.name;
    }
}

TEST(Fingerprint, HasMasksAndProbabilities) {
    using connect::Mask;
    const auto upright = Mask::box(2, {-9.0, -8.0, 0.0}, {9.0, 8.0, 0.0});
    const auto turned =
        Mask::box(2, {-9.0, -8.0, 0.0}, {9.0, 8.0, 0.0}, {{{0.6, 0.8, 0.0}, {-0.8, 0.6, 0.0}, {0.0, 0.0, 1.0}}});
    std::vector<connect::RuleSpec> rules;
    for (const Mask::Pointer& mask :
         {disc(9.0), disc(8.0), upright, turned, Mask::combined(Mask::Kind::either, disc(9.0), disc(8.0)),
          Mask::combined(Mask::Kind::both, disc(9.0), disc(8.0)),
          Mask::combined(Mask::Kind::either, disc(8.0), disc(9.0))}) {
        rules.push_back(within(mask));
    }
    for (const connect::RuleValue& probability : {connect::RuleValue(0.5), connect::RuleValue(0.25),
                                                  connect::RuleValue(tenth_of(connect::PairQuantity::source_index)),
                                                  connect::RuleValue(tenth_of(connect::PairQuantity::target_index))}) {
        rules.push_back({"pairwise_bernoulli", {{"probability", probability}}});
    }
    std::set<std::vector<std::uint64_t>> found;
    for (const connect::RuleSpec& rule : rules) {
        Choices choices;
        choices.rule = rule;
        choices.weight = 1.0;
        choices.delay = 1.0;
        found.insert(fingerprint(make_network(choices), {}));
    }
    EXPECT_EQ(found.size(), rules.size());
}

TEST(Fingerprint, PartsHaveEachFieldOfADescription) {
    const auto before = values_of(make_network({}));
    for (const Change& change : changes()) EXPECT_NE(values_of(changed_network(change)), before) << change.name;
}

TEST(Fingerprint, TellsRanksWhichPartDiffers) {
    const auto message = [](const Change& change) {
        std::string text;
        comm::run_processes(2, [&](const std::shared_ptr<comm::Communicator>& communicator) {
            const bool is_first = communicator->rank().value == 0;
            const Network network = is_first ? make_network({}) : changed_network(change);
            try {
                compare_descriptions(*communicator, network, {});
            } catch (const RemoteError& error) {
                if (is_first) text = error.what();
            }
        });
        return text;
    };
    for (const Change& change : changes()) EXPECT_NE(message(change), "") << change.name;
    const auto sequence = std::ranges::find(changes(), std::string("sequence of sources"), &Change::name);
    EXPECT_NE(message(*sequence).find("population 'drawn'"), std::string::npos) << message(*sequence);
}

TEST(Fingerprint, TellsRanksWhichOptionDiffers) {
    const auto message = [](const std::function<void(SimulationOptions&)>& change) {
        std::string text;
        comm::run_processes(2, [&](const std::shared_ptr<comm::Communicator>& communicator) {
            const bool is_first = communicator->rank().value == 0;
            const Network network = make_network({});
            SimulationOptions options;
            if (!is_first) change(options);
            try {
                compare_descriptions(*communicator, network, options);
            } catch (const RemoteError& error) {
                if (is_first) text = error.what();
            }
        });
        return text;
    };
    const auto first =
        message([](SimulationOptions& options) { options.precision = models::Precision::single_precision; });
    EXPECT_NE(first.find("option precision is not the same"), std::string::npos) << first;
    const auto last = message([](SimulationOptions& options) { options.wait_apart = true; });
    EXPECT_NE(last.find("option wait_apart is not the same"), std::string::npos) << last;
    EXPECT_EQ(message([](SimulationOptions& options) { options.threads = 2; }), "");
}

}  // namespace TEST_FILE
