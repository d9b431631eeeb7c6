// The description of a network: what it stores, and which errors it throws.
#include "ranvier/network/network.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "error_fields.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/models/user_model.hpp"
#include "selections.hpp"

namespace TEST_FILE {

using namespace ranvier;
using namespace ranvier::network;
using Restriction = Distribution::Restriction;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Distribution normal(double mean, double spread, double lower = -infinity, double upper = infinity) {
    const bool bounded = lower != -infinity || upper != infinity;
    return {.kind = Distribution::Kind::normal,
            .first = mean,
            .second = spread,
            .restriction = bounded ? Restriction::redraw : Restriction::none,
            .lower = lower,
            .upper = upper};
}

connect::RuleSpec rule(std::string_view name) { return {name}; }
connect::RuleSpec rule(std::string_view name, std::string_view parameter, std::uint64_t number) {
    return {name, {{parameter, number}}};
}

/// Expects an error of a type whose message holds all of some texts, and that nothing was added to the network.
template <class ErrorType>
void expect_error(Network& network, const std::function<void()>& call, const std::vector<std::string>& texts) {
    const auto sizes = [&] {
        return std::vector<std::size_t>{network.populations().size(), network.projections().size(),
                                        network.stimuli().size(), network.spike_recorders().size(),
                                        network.state_recorders().size()};
    };
    const auto before = sizes();
    fields_of<ErrorType>(call, texts);
    EXPECT_EQ(sizes(), before) << "something was added although the call failed";
}

/// Two populations of neurons and one of spike generators.
struct NetworkTest : testing::Test {
    Network network{0.1, 42};
    PopulationId excitatory = network.create("iaf_psc_exp", 100, "excitatory", {});
    PopulationId inhibitory = network.create("iaf_psc_delta", 20, "inhibitory", {});
    std::vector<std::vector<double>> times{{1.0, 2.5, 2.5}, {}, {0.1}};
    PopulationId input = add_spike_generators(network, "input", times);

    Selection all(PopulationId id) const { return all_of(network, id); }

    PopulationId create(NamedValues values, std::uint64_t size = 3) {
        return network.create("iaf_psc_exp", size, "", std::move(values));
    }
    ProjectionId connect(connect::RuleSpec spec, Values weight = 1.0, Values delay = 1.5, double bound = 0.0) {
        return add_projection(network, all(excitatory), all(inhibitory), std::move(spec), std::move(weight),
                              std::move(delay), "test", bound);
    }
    void stimulate(std::string_view model, NamedValues values, Sequences sequences = {}, Values weight = 1.0,
                   double delay = 1.0) {
        add_stimulus(network, all(excitatory), model, std::move(values), std::move(sequences), std::move(weight),
                     delay);
    }
};

TEST_F(NetworkTest, NumbersUnitsInTheOrderOfCreation) {
    EXPECT_EQ(network.population(excitatory).first, NeuronId{0});
    EXPECT_EQ(network.population(inhibitory).first, NeuronId{100});
    EXPECT_EQ(network.population(input).first, NeuronId{120});
    EXPECT_EQ(network.unit_count(), 123U);
    EXPECT_EQ(network.neuron_count(), 120U);
    EXPECT_EQ(network.population(input).spike_steps.all(), (std::vector<std::vector<Step>>{{10, 25, 25}, {}, {1}}));
    EXPECT_EQ(network.seed(), 42U);
    EXPECT_EQ(network.resolution(), 0.1);
}

TEST_F(NetworkTest, KeepsWhatItIsGiven) {
    const PopulationId id =
        create({{"tau_m", 20.0}, {"V_m", std::vector{-60.0, -61.0, -62.0}}, {"I_e", normal(0, 100)}});
    const Population& population = network.population(id);
    EXPECT_EQ(population.model->name, "iaf_psc_exp");
    EXPECT_EQ(population.size, 3U);
    EXPECT_EQ(std::get<double>(population.values.at("tau_m")), 20.0);
    EXPECT_EQ(std::get<SharedArray>(population.values.at("V_m"))[2], -62.0);
    EXPECT_EQ(std::get<Distribution>(population.values.at("I_e")).second, 100.0);
    EXPECT_FALSE(population.name.empty());

    const ProjectionId projection =
        connect(rule("fixed_indegree", "indegree", 10), normal(80, 8, 0.0), normal(1.5, 0.75, 0.05), 1e4);
    const Projection& kept = network.projections()[projection.value];
    EXPECT_EQ(kept.name, "test");
    EXPECT_EQ(kept.rule.count("indegree"), 10U);
    EXPECT_EQ(network.populations_of(kept.sources), std::vector{excitatory});
    EXPECT_EQ(kept.targets.size(), 20U);
    EXPECT_EQ(kept.weight_bound, 1e4);
    EXPECT_EQ(network.expected_synapses(), 200.0);

    stimulate("poisson_generator", {{"rate", 8000.0}}, {}, 87.8, 1.5);
    EXPECT_EQ(network.stimuli()[0].model->name, "poisson_generator");
    EXPECT_EQ(network.stimuli()[0].delay, 1.5);
    EXPECT_EQ(add_spike_recorder(network, {all(excitatory), {inhibitory, 5, 6}}), 0U);
    EXPECT_EQ(add_state_recorder(network, excitatory, {0, 5, 99}, {"V_m"}, 0.5), 0U);
    EXPECT_EQ(network.state_recorders()[0].steps, 5);
}

TEST_F(NetworkTest, SharesArraysWithItsCopies) {
    const std::vector<double> weights(2000, 1.0);
    connect(rule("all_to_all"), weights, std::vector<double>(2000, 1.5));
    create({{"V_m", std::vector{-60.0, -61.0, -62.0}}});
    const Network copy = network;
    const auto data = [](const Values& values) { return std::get<SharedArray>(values).data(); };
    EXPECT_EQ(data(copy.projections()[0].weight), data(network.projections()[0].weight));
    EXPECT_EQ(data(copy.projections()[0].delay), data(network.projections()[0].delay));
    const PopulationId played = input;
    ASSERT_EQ(network.population(played).spike_steps.all().size(), 3U);
    EXPECT_EQ(&copy.population(played).spike_steps.all(), &network.population(played).spike_steps.all());
    // Three lists, and a word for each block of the heap: one is empty.
    const std::uint64_t times_bytes = 4 * sizeof(Step) + 3 * sizeof(std::vector<Step>) + 2 * sizeof(std::size_t);
    EXPECT_EQ(network.array_bytes(), (2 * 2000 + 3) * sizeof(double) + times_bytes);
}

TEST_F(NetworkTest, TakesEmptyPopulations) {
    const PopulationId empty = network.create("iaf_psc_exp", 0, "empty", {{"tau_m", std::vector<double>{}}});
    add_projection(network, all(empty), all(excitatory), rule("all_to_all"), 1.0, 1.0);
    add_projection(network, all(excitatory), all(empty), rule("fixed_indegree", "indegree", 7), std::vector<double>{},
                   1.0);
    add_projection(network, all(empty), all(empty), rule("one_to_one"), 1.0, std::vector<double>{});
    add_stimulus(network, all(empty), "dc_generator", {{"amplitude", 1.0}}, {}, 1.0, 0.1);
    add_state_recorder(network, empty, {}, {"V_m"}, 0.1);
    EXPECT_EQ(network.expected_synapses(), 0.0);
}

TEST_F(NetworkTest, RefusesUnknownNames) {
    expect_error<UnknownNameError>(network, [&] { network.create("iaf_psc_ex", 1, "", {}); },
                                   {"'iaf_psc_ex'", "did you mean 'iaf_psc_exp'"});
    expect_error<UnknownNameError>(network, [&] { create({{"tau_n", 1.0}}); }, {"'tau_n'", "did you mean 'tau_m'"});
    expect_error<UnknownNameError>(network, [&] { connect(rule("all_2_all")); }, {"did you mean 'all_to_all'"});
    expect_error<UnknownNameError>(network, [&] { stimulate("poison_generator", {}); },
                                   {"did you mean 'poisson_generator'"});
    expect_error<UnknownNameError>(network, [&] { stimulate("poisson_generator", {{"rat", 1.0}}); },
                                   {"did you mean 'rate'"});
    expect_error<UnknownNameError>(network, [&] { stimulate("step_current_generator", {}, {{"time", {}}}); },
                                   {"did you mean 'times'"});
    expect_error<UnknownNameError>(network, [&] { add_state_recorder(network, excitatory, {0}, {"V"}, 1.0); },
                                   {"'V'", "V_m"});
    expect_error<UnknownNameError>(network, [&] { add_state_recorder(network, input, {0}, {"V_m"}, 1.0); },
                                   {"spike_generator"});
}

TEST_F(NetworkTest, RefusesSpecsWithoutAModel) {
    expect_error<ValueOutOfBoundsError>(network, [&] { network.create({.name = "new", .size = 1}); },
                                        {"model of a population", "registered_model"});
    expect_error<ValueOutOfBoundsError>(network, [&] { network.stimulate({.targets = IdSequence(NeuronId{0}, 1, 1)}); },
                                        {"stimulator of a stimulus", "find_stimulator_model"});
}

TEST_F(NetworkTest, RefusesNamesThatAreTaken) {
    expect_error<ValueOutOfBoundsError>(network, [&] { network.create("iaf_psc_exp", 1, "excitatory", {}); },
                                        {"'excitatory'", "another population has this name"});
    const PopulationId one = create({});
    const PopulationId two = create({});
    EXPECT_NE(network.population(one).name, network.population(two).name);
}

TEST_F(NetworkTest, RefusesParametersOutOfBounds) {
    const auto refused = [&](const char* name, Values value, std::vector<std::string> texts) {
        texts.emplace_back(name);
        expect_error<ValueOutOfBoundsError>(network, [&] { create({{name, value}}); }, texts);
    };
    refused("tau_m", 0.0, {"> 0"});
    refused("tau_m", -1.0, {"-1", "> 0"});
    refused("tau_m", nan, {"nan", "finite"});
    refused("tau_m", infinity, {"inf", "finite"});
    refused("V_m", nan, {"finite"});
    refused("V_m", infinity, {"finite"});
    refused("t_ref", -0.1, {">= 0"});
    refused("tau_m", std::vector{1.0, 2.0, -3.0}, {"element 2", "-3"});
    refused("V_m", std::vector{1.0, nan, -3.0}, {"element 1"});
    refused("tau_m", normal(10, 2), {"least value", "low="});
    refused("tau_m", normal(nan, 2), {"finite"});
    refused("V_m", normal(0, -2), {"width"});
    EXPECT_NO_THROW(create({{"tau_m", normal(10, 2, 1.0)}}));
    EXPECT_NO_THROW(create({{"V_m", normal(-60, 5)}}));
}

TEST_F(NetworkTest, RefusesArraysOfAnotherLength) {
    for (const char* name : {"tau_m", "V_m"}) {
        expect_error<ShapeError>(network, [&] { create({{name, std::vector{1.0, 2.0}}}); }, {name, "2", "3"});
    }
    expect_error<ShapeError>(network, [&] { stimulate("dc_generator", {{"amplitude", std::vector{1.0}}}); },
                             {"amplitude", "100"});
    expect_error<ShapeError>(network, [&] { stimulate("dc_generator", {}, {}, std::vector{1.0}); }, {"weight", "100"});
    expect_error<ShapeError>(network, [&] { add_state_recorder(network, excitatory, {0}, {}, 1.0); }, {"at least one"});
}

TEST_F(NetworkTest, RefusesParametersThatDoNotFitTogether) {
    expect_error<ValueOutOfBoundsError>(network, [&] { create({{"V_th", -60.0}, {"V_reset", -55.0}}); }, {"V_reset"});
    // Each alone against the default of the other.
    expect_error<ValueOutOfBoundsError>(network, [&] { create({{"V_reset", -50.0}}); }, {"V_reset"});
    expect_error<ValueOutOfBoundsError>(
        network,
        [&] { create({{"V_th", std::vector{-50.0, -50.0, -50.0}}, {"V_reset", std::vector{-65.0, -65.0, -50.0}}}); },
        {"element 2"});
    expect_error<ValueOutOfBoundsError>(network, [&] { create({{"V_th", normal(-50, 5)}, {"V_reset", -65.0}}); },
                                        {"low="});
    EXPECT_NO_THROW(create({{"V_th", normal(-50, 5, -64.0)}, {"V_reset", normal(-70, 1, -infinity, -65.0)}}));
    expect_error<ValueOutOfBoundsError>(network, [&] { stimulate("dc_generator", {{"start", 5.0}, {"stop", 1.0}}); },
                                        {"stop"});
}

TEST_F(NetworkTest, RefusesBadSpikeTimes) {
    const auto refused = [&]<class Error = ValueOutOfBoundsError>(std::vector<double> bad, const std::string& text,
                                                                  Error* = nullptr) {
        const std::vector<std::vector<double>> lists{{1.0}, bad};
        expect_error<Error>(network, [&] { add_spike_generators(network, "bad", lists); }, {"of unit 1", text});
    };
    refused({0.0}, "first step");
    refused({-1.0}, "first step");
    refused({nan}, "finite");
    refused({infinity}, "finite");
    refused({1.0, 1.05}, "multiple of the resolution", static_cast<GridError*>(nullptr));
    refused({2.0, 1.0}, "ascend");
    expect_error<ShapeError>(network, [&] { network.create("spike_generator", 3, "bad", {}); },
                             {"spike times of population 'bad'", "3 units"});
    expect_error<ShapeError>(
        network,
        [&] {
            network.create(
                {.name = "bad", .model = registered_model("iaf_psc_exp"), .size = 1, .spike_times = {{1.0}}});
        },
        {"spike times of population 'bad'", "0 units"});
    // 1e6 ms are far from exact as a multiple of 0.1, and yet on the grid.
    const std::vector<std::vector<double>> late{{0.1 * 3, 1e6 + 0.1}};
    const PopulationId id = add_spike_generators(network, "late", late);
    EXPECT_EQ(network.population(id).spike_steps[0], (std::vector<Step>{3, 10000001}));
}

TEST_F(NetworkTest, ReplacesThePopulationsThatAreSet) {
    PopulationSpec changed = network.population(excitatory);
    changed.values = {{"tau_m", 15.0}, {"V_m", -61.0}};
    network.set(excitatory, changed);
    EXPECT_EQ(std::get<double>(network.population(excitatory).values.at("tau_m")), 15.0);
    EXPECT_EQ(network.population(excitatory).first, NeuronId{0});
    PopulationSpec played = network.population(input);
    played.spike_times = {{3.0}, {4.0}, {}};
    network.set(input, played);
    EXPECT_EQ(network.population(input).spike_steps.all(), (SpikeLists::Lists{{30}, {40}, {}}));
    EXPECT_EQ(network.population(input).first, NeuronId{120});

    const std::vector<std::function<void(PopulationSpec&)>> fixed{
        [](PopulationSpec& spec) { spec.name = "other"; },
        [](PopulationSpec& spec) { spec.model = registered_model("iaf_psc_alpha"); },
        [](PopulationSpec& spec) { spec.size = 99; },
        [](PopulationSpec& spec) { spec.step = 0.2; },
    };
    for (const auto& change : fixed) {
        PopulationSpec other = changed;
        change(other);
        expect_error<ValueOutOfBoundsError>(network, [&] { network.set(excitatory, other); },
                                            {"'excitatory'", "fixed"});
    }
    PopulationSpec bad = changed;
    bad.values = {{"tau_m", -1.0}};
    expect_error<ValueOutOfBoundsError>(network, [&] { network.set(excitatory, bad); }, {"tau_m", "'excitatory'"});
    EXPECT_EQ(std::get<double>(network.population(excitatory).values.at("tau_m")), 15.0);
}

/// A model that describes each of three neurons.
struct ModelOfThree : models::UserModel {
    ModelOfThree() {
        name = "three";
        population_size = 3;
    }
    std::unique_ptr<models::NeuronGroup> create(const models::GroupArguments&) const override { return nullptr; }
};

TEST_F(NetworkTest, RefusesPopulationsThatTheirModelDoesNotFit) {
    const auto three = std::make_shared<const ModelOfThree>();
    EXPECT_NO_THROW(network.create({.name = "three", .model = three, .size = 3}));
    expect_error<ShapeError>(network, [&] { network.create({.name = "four", .model = three, .size = 4}); },
                             {"'four'", "3 neurons"});
    expect_error<ValueOutOfBoundsError>(network, [&] { network.create({.name = "none", .size = 4}); }, {"model"});
    expect_error<UnknownNameError>(
        network,
        [&] { network.create({.model = registered_model("iaf_psc_exp"), .size = 1, .sequences = {{"times", {1.0}}}}); },
        {"iaf_psc_exp", "times"});
}

TEST_F(NetworkTest, RefusesDelaysOffTheGridOrTooShortOrLong) {
    const auto refused = [&](Values delay, std::vector<std::string> texts) {
        expect_error<DelayError>(network, [&] { connect(rule("all_to_all"), 1.0, delay); }, texts);
    };
    refused(0.0, {"at least one step", "0.1 ms"});
    refused(0.05, {"at least one step"});
    refused(-1.0, {"at least one step"});
    refused(nan, {"finite"});
    refused(infinity, {"finite"});
    refused(6553.6, {"65535 steps"});
    std::vector<double> delays(2000, 1.0);
    for (const auto& [bad, text] :
         {std::pair(0.04, "less than one step"), std::pair(nan, "finite"), std::pair(6553.56, "65535 steps")}) {
        delays[1234] = bad;
        refused(delays, {"element 1234", text});
    }
    expect_error<GridError>(network, [&] { connect(rule("all_to_all"), 1.0, 0.15); }, {"0.15", "multiple of the"});
    // Those of single synapses are rounded, as drawn ones are.
    delays[1234] = 1.04;
    EXPECT_NO_THROW(connect(rule("all_to_all"), 1.0, delays));
    refused(normal(1.5, 0.75), {"least value", "low=", "half a step"});
    refused(normal(1.5, 0.75, 0.0499), {"0.0499", "low="});
    refused(normal(6500, 100, 0.1), {"greatest value", "high="});
    EXPECT_NO_THROW(connect(rule("all_to_all"), 1.0, 6553.5));
    EXPECT_NO_THROW(connect(rule("all_to_all"), 1.0, 0.1));
    EXPECT_NO_THROW(connect(rule("all_to_all"), 1.0, 0.1 + 0.2));
    EXPECT_NO_THROW(connect(rule("all_to_all"), 1.0, normal(1.5, 0.75, 0.05)));
    expect_error<GridError>(network, [&] { stimulate("dc_generator", {}, {}, 1.0, 0.15); }, {"delay"});
    for (const double delay : {0.0, 0.05, nan, 6553.6}) {
        expect_error<DelayError>(network, [&] { stimulate("dc_generator", {}, {}, 1.0, delay); }, {"delay"});
    }
    expect_error<ValueOutOfBoundsError>(network, [&] { connect(rule("all_to_all"), 1.0, normal(1.5, -1)); }, {"width"});
}

TEST_F(NetworkTest, ChecksArraysAgainstTheRule) {
    const auto both = [&](connect::RuleSpec spec, std::size_t length) {
        EXPECT_NO_THROW(connect(spec, std::vector<double>(length, 2.0), std::vector<double>(length, 1.0)))
            << spec.name();
        for (const std::size_t wrong : {length - 1, length + 1, std::size_t{1}}) {
            const std::vector<double> array(wrong, 1.0);
            const std::string found = std::to_string(wrong);
            expect_error<ShapeError>(network, [&] { connect(spec, array); }, {"weight", found, std::to_string(length)});
            expect_error<ShapeError>(network, [&] { connect(spec, 1.0, array); },
                                     {"delay", found, std::to_string(length)});
        }
    };
    both(rule("all_to_all"), 2000);
    both(rule("fixed_indegree", "indegree", 7), 140);
    both(rule("fixed_outdegree", "outdegree", 7), 700);
    const std::vector<std::uint64_t> sources{0, 99, 5};
    const std::vector<std::uint64_t> targets{0, 19, 5};
    both({"explicit", {{"sources", sources}, {"targets", targets}}}, 3);
    const connect::RuleSpec drawn("pairwise_bernoulli", {{"probability", 0.5}});
    for (const connect::RuleSpec& spec : {rule("fixed_total_number", "number", 10), drawn}) {
        expect_error<ShapeError>(network, [&] { connect(spec, std::vector<double>(10, 1.0)); }, {"distribution"});
        expect_error<ShapeError>(network, [&] { connect(spec, 1.0, std::vector<double>(10, 1.0)); }, {"distribution"});
    }
}

TEST_F(NetworkTest, RefusesBadWeights) {
    const auto refused = [&](Values weight, double bound, std::vector<std::string> texts) {
        expect_error<ValueOutOfBoundsError>(network, [&] { connect(rule("all_to_all"), weight, 1.0, bound); }, texts);
    };
    refused(nan, 0.0, {"weight", "finite"});
    refused(-infinity, 0.0, {"finite"});
    std::vector<double> weights(2000, 1.0);
    weights[7] = nan;
    refused(weights, 0.0, {"element 7"});
    refused(normal(1.0, -1.0), 0.0, {"width"});
    refused(2.0, 1.5, {"weight_bound", "up to 2"});
    refused(-2.0, 1.5, {"up to 2"});
    refused(normal(1.0, 1.0), 5.0, {"weight_bound", "high="});
    refused(1.0, -1.0, {"weight_bound", ">= 0"});
    refused(1.0, nan, {"weight_bound"});
    EXPECT_NO_THROW(connect(rule("all_to_all"), -2.0, 1.0, 2.0));
    // What would become infinite in single precision.
    refused(1e40, 0.0, {"weight", "at most"});
    refused(-1e40, 0.0, {"weight", "at most"});
    refused(1.0, 1e40, {"weight_bound", "at most"});
    EXPECT_NO_THROW(connect(rule("all_to_all"), 0.0, 1.0, 1e7));
    expect_error<ValueOutOfBoundsError>(network, [&] { stimulate("poisson_generator", {}, {}, 1e40, 1.0); },
                                        {"weight", "at most"});
}

TEST_F(NetworkTest, RefusesRulesThatCannotBeCarriedOut) {
    connect::RuleSpec spec("fixed_indegree", {{"indegree", 101}, {"allow_multapses", false}});
    expect_error<RuleError>(network, [&] { connect(spec); }, {"101", "100 allowed sources"});
    expect_error<RuleError>(network, [&] { connect(rule("one_to_one")); }, {"100", "20"});
    // Parts of one population that overlap in neurons 5 to 9: those cannot be their own sources.
    spec = {"fixed_indegree", {{"indegree", 10}, {"allow_multapses", false}, {"allow_autapses", false}}};
    expect_error<RuleError>(network,
                            [&] { add_projection(network, {excitatory, 0, 10}, {excitatory, 5, 15}, spec, 1.0, 1.0); },
                            {"9 allowed sources"});
    EXPECT_NO_THROW(add_projection(network, {excitatory, 0, 10}, {excitatory, 10, 20}, spec, 1.0, 1.0));
}

TEST_F(NetworkTest, RefusesIdsThatDoNotExistOrDoNotAscend) {
    const auto listed = [](std::vector<std::uint64_t> ids) {
        const std::uint64_t size = ids.size();
        return IdSequence(std::make_shared<const std::vector<std::uint64_t>>(std::move(ids)), 0, size);
    };
    const IdSequence neurons(NeuronId{0}, 1, 100);
    const auto refused = [&](const IdSequence& ids, const std::string& text) {
        const std::function<void()> calls[]{
            [&] { network.connect({.sources = ids, .targets = neurons, .rule = rule("all_to_all")}); },
            [&] { network.connect({.sources = neurons, .targets = ids, .rule = rule("all_to_all")}); },
            [&] { network.stimulate({.model = &models::find_stimulator_model("dc_generator"), .targets = ids}); },
            [&] { network.record_spikes({{neurons, ids}}); },
            [&] { network.record_state({.neurons = ids, .variables = {"V_m"}, .interval = 1.0}); },
        };
        for (const std::function<void()>& call : calls) expect_error<ValueOutOfBoundsError>(network, call, {text});
    };
    refused({NeuronId{0}, 1, 124}, "there are 123 units");
    refused({NeuronId{123}, 1, 1}, "there are 123 units");
    refused(listed({5, 123}), "there are 123 units");
    refused(listed({5, 4}), "ascend");
    refused(listed({5, 5}), "ascend");
    EXPECT_THROW(network.population(PopulationId{77}), ValueOutOfBoundsError);
}

TEST_F(NetworkTest, LetsNoInputGoToSpikeGenerators) {
    expect_error<ValueOutOfBoundsError>(
        network, [&] { add_projection(network, all(excitatory), all(input), rule("all_to_all"), 1.0, 1.0); },
        {"'input'", "takes no input"});
    expect_error<ValueOutOfBoundsError>(
        network, [&] { add_stimulus(network, all(input), "dc_generator", {}, {}, 1.0, 1.0); }, {"takes no input"});
    EXPECT_NO_THROW(add_projection(network, all(input), all(excitatory), rule("all_to_all"), 1.0, 1.0));
}

TEST_F(NetworkTest, RefusesBadStimuli) {
    const auto refused = [&](std::string_view model, NamedValues values, Sequences sequences, std::string text) {
        expect_error<ValueOutOfBoundsError>(network, [&] { stimulate(model, values, sequences); }, {text});
    };
    refused("poisson_generator", {{"rate", -1.0}}, {}, "rate");
    refused("poisson_generator", {{"rate", nan}}, {}, "finite");
    refused("poisson_generator", {{"rate", std::vector<double>(100, -1.0)}}, {}, "element 0");
    refused("dc_generator", {{"amplitude", infinity}}, {}, "finite");
    refused("step_current_generator", {}, {{"times", {1.0, 2.0}}, {"amplitudes", {1.0}}}, "amplitudes");
    refused("step_current_generator", {}, {{"times", {2.0, 1.0}}, {"amplitudes", {1.0, 1.0}}}, "later than");
    refused("step_current_generator", {}, {{"times", {1.0}}, {"amplitudes", {nan}}}, "finite");
    expect_error<GridError>(network, [&] { stimulate("dc_generator", {{"start", 0.05}}); }, {"resolution"});
    expect_error<GridError>(
        network, [&] { stimulate("step_current_generator", {}, {{"times", {1.0, 1.25}}, {"amplitudes", {1.0, 1.0}}}); },
        {"resolution"});
    EXPECT_NO_THROW(stimulate("dc_generator", {{"amplitude", 5.0}, {"stop", infinity}}));
    EXPECT_NO_THROW(stimulate("dc_generator", {{"amplitude", normal(5.0, 1.0)}}));
    EXPECT_NO_THROW(stimulate("step_current_generator", {}, {{"times", {1.0, 2.0}}, {"amplitudes", {1.0, -1.0}}}));
}

TEST_F(NetworkTest, SendsAStimulusToOneReceptor) {
    expect_error<ValueOutOfBoundsError>(
        network, [&] { stimulate("poisson_generator", {{"rate", 1.0}}, {}, normal(0.0, 1.0)); }, {"one sign"});
    EXPECT_NO_THROW(stimulate("poisson_generator", {{"rate", 1.0}}, {}, normal(5.0, 1.0, 0.0)));
    // A current has no receptor, and iaf_psc_delta only one.
    EXPECT_NO_THROW(stimulate("dc_generator", {{"amplitude", 1.0}}, {}, normal(0.0, 1.0)));
    EXPECT_NO_THROW(
        add_stimulus(network, all(inhibitory), "poisson_generator", {{"rate", 1.0}}, {}, normal(0.0, 1.0), 1.0));
}

TEST_F(NetworkTest, RefusesBadRecorders) {
    const auto refused = [&](std::vector<std::uint64_t> indices, std::vector<std::string> variables, double interval,
                             std::string text) {
        expect_error<ValueOutOfBoundsError>(
            network, [&] { add_state_recorder(network, excitatory, indices, variables, interval); }, {text});
    };
    refused({0, 200}, {"V_m"}, 1.0, "123 units");
    refused({3, 2}, {"V_m"}, 1.0, "ascend");
    refused({3, 3}, {"V_m"}, 1.0, "ascend");
    refused({0}, {"V_m", "V_m"}, 1.0, "twice");
    refused({0}, {"V_m"}, 0.0, "one step");
    refused({0}, {"V_m"}, -1.0, "one step");
    for (const double off_the_grid : {0.25, nan}) {
        expect_error<GridError>(network, [&] { add_state_recorder(network, excitatory, {0}, {"V_m"}, off_the_grid); },
                                {"multiple of the resolution"});
    }
}

TEST(NetworkResolution, MustBePositiveAndFinite) {
    for (const double bad : {0.0, -0.1, nan, infinity}) {
        EXPECT_THROW(Network{bad}, ValueOutOfBoundsError) << bad;
        Network network;
        EXPECT_THROW(network.set_resolution(bad), ValueOutOfBoundsError) << bad;
        EXPECT_EQ(network.resolution(), 0.1);
    }
}

TEST(NetworkResolution, CannotChangeOnceTimesAreOnItsGrid) {
    const std::vector<std::vector<double>> times{{1.0}};
    const std::vector<std::function<void(Network&)>> put_on_grid{
        [](Network& n) {
            add_projection(n, {PopulationId{0}, 0, 5}, {PopulationId{0}, 0, 5}, rule("all_to_all"), 1.0, 1.0);
        },
        [](Network& n) { add_stimulus(n, {PopulationId{0}, 0, 5}, "dc_generator", {}, {}, 1.0, 1.0); },
        [](Network& n) { add_state_recorder(n, PopulationId{0}, {0}, {"V_m"}, 1.0); },
        [&](Network& n) { add_spike_generators(n, "input", times); },
    };
    for (std::size_t i = 0; i < put_on_grid.size(); ++i) {
        Network network;
        network.create("iaf_psc_exp", 5, "neurons", {});
        add_spike_recorder(network, {{PopulationId{0}, 0, 5}});
        network.set_resolution(0.2);
        EXPECT_EQ(network.resolution(), 0.2);
        put_on_grid[i](network);
        EXPECT_THROW(network.set_resolution(0.1), StateError) << i;
        EXPECT_NO_THROW(network.set_resolution(0.2)) << i;
        EXPECT_EQ(network.resolution(), 0.2);
    }
}

TEST(NetworkToSteps, CountsMultiplesOfTheResolution) {
    const Network network(0.1);
    EXPECT_EQ(network.to_steps(0.0, "time"), 0);
    EXPECT_EQ(network.to_steps(0.3, "time"), 3);
    EXPECT_EQ(network.to_steps(1e9, "time"), 10000000000);
    EXPECT_EQ(network.to_steps(-0.5, "time"), -5);
    for (const double bad : {0.25, 1e-5, nan, infinity, 1e300}) {
        EXPECT_THROW(network.to_steps(bad, "time"), GridError) << bad;
    }
    const Network thirds(1.0 / 3.0);
    EXPECT_EQ(thirds.to_steps(7.0, "time"), 21);
}

}  // namespace TEST_FILE
