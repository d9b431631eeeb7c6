#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/models/neuron.hpp"
#include "ranvier/models/stimulator.hpp"

namespace ranvier::models {
namespace TEST_FILE {

template <class Models>
void expect_sorted_by_name(const Models& models) {
    for (std::size_t i = 1; i < models.size(); ++i) EXPECT_LT(models[i - 1]->name, models[i]->name);
}

void expect_sound(std::string_view model, std::span<const ParameterInfo> parameters) {
    std::set<std::string_view> names;
    for (const ParameterInfo& info : parameters) {
        const std::string where = std::string(model) + "." + std::string(info.name);
        EXPECT_FALSE(info.name.empty()) << where;
        EXPECT_FALSE(info.meaning.empty()) << where;
        EXPECT_TRUE(names.insert(info.name).second) << where << " is there twice";
        EXPECT_TRUE(info.bounds.contains(info.default_value)) << where;
        EXPECT_TRUE(std::isfinite(info.default_value) || info.may_be_infinite) << where;
    }
}

TEST(Registry, ListsModelsByName) {
    expect_sorted_by_name(neuron_models());
    expect_sorted_by_name(stimulator_models());
}

TEST(Registry, FindsModels) {
    for (const NeuronModel* model : neuron_models()) EXPECT_EQ(&find_neuron_model(model->name), model);
    for (const StimulatorModel* model : stimulator_models()) EXPECT_EQ(&find_stimulator_model(model->name), model);
}

TEST(Registry, NamesTheNearestModel) {
    try {
        find_neuron_model("iaf_psc_expo");
        FAIL() << "no error";
    } catch (const UnknownNameError& error) {
        EXPECT_NE(std::string(error.what()).find("iaf_psc_exp"), std::string::npos) << error.what();
    }
    EXPECT_THROW(find_stimulator_model("posson_generator"), UnknownNameError);
    EXPECT_THROW(find_neuron_model("ac_generator"), UnknownNameError);
}

TEST(Registry, StimulatorsThatEmitSpikesAreSourcesToo) {
    for (const StimulatorModel* stimulator : stimulator_models()) {
        if (!stimulator->emits_spikes()) continue;
        const NeuronModel& model = find_neuron_model(stimulator->name);
        EXPECT_TRUE(model.is_source) << model.name;
        EXPECT_EQ(model.stimulator, stimulator) << model.name;
        EXPECT_EQ(model.parameters.data(), stimulator->parameters.data()) << model.name;
        EXPECT_TRUE(model.receptors.empty()) << model.name;
        EXPECT_GT(model.most_spikes, 1u) << model.name;
    }
}

TEST(Descriptions, OfNeuronsAreSound) {
    for (const NeuronModel* model : neuron_models()) {
        expect_sound(model->name, model->parameters);
        EXPECT_FALSE(model->summary.empty());
        EXPECT_FALSE(model->equations.empty());
        std::vector<double> defaults;
        for (const ParameterInfo& info : model->parameters) defaults.push_back(info.default_value);
        EXPECT_EQ(model->conflict(defaults, std::nullopt), std::nullopt) << model->name;
        EXPECT_EQ(model->conflict(defaults, 0.1), std::nullopt) << model->name;
        EXPECT_FALSE(model->has_range_conflicts()) << model->name;
        EXPECT_EQ(model->fingerprint(), 0U) << model->name;
        for (const VariableInfo& variable : model->variables) {
            const bool known = std::any_of(model->parameters.begin(), model->parameters.end(),
                                           [&](const auto& p) { return p.name == variable.initial_parameter; });
            EXPECT_TRUE(variable.initial_parameter.empty() || known) << model->name << "." << variable.name;
        }
        if (model->plays_spikes) continue;
        EXPECT_FALSE(model->reference.empty()) << model->name;
        EXPECT_FALSE(model->receptors.empty()) << model->name;
        const std::set<std::string_view> receptors(model->receptors.begin(), model->receptors.end());
        EXPECT_EQ(receptors.size(), model->receptors.size()) << model->name << ": a receptor is there twice";
        EXPECT_TRUE(!model->sign_chooses_receptor || model->receptors.size() == 2) << model->name;
        EXPECT_EQ(model->most_spikes > 1, model->name == "parrot_neuron");
        const std::set<std::string_view> without_potential{"interval_fire", "ignore_and_fire", "parrot_neuron"};
        EXPECT_TRUE(without_potential.contains(model->name) || model->variables[0].name == "V_m") << model->name;
    }
}

TEST(Descriptions, OfStimulatorsAreSound) {
    for (const StimulatorModel* model : stimulator_models()) {
        expect_sound(model->name, model->parameters);
        EXPECT_FALSE(model->summary.empty());
        EXPECT_FALSE(model->equations.empty());
        ASSERT_NE(model->create, nullptr);
        ASSERT_NE(model->conflict, nullptr);
        std::vector<double> defaults;
        for (const ParameterInfo& info : model->parameters) defaults.push_back(info.default_value);
        const std::vector<std::vector<double>> empty(model->sequences.size());
        EXPECT_EQ(model->conflict(defaults, empty), std::nullopt) << model->name;
    }
}

TEST(Conflicts, OfNeuronParametersAreTold) {
    for (const std::string_view name : {"iaf_psc_exp", "iaf_psc_alpha", "iaf_psc_delta"}) {
        const NeuronModel& model = find_neuron_model(name);
        std::vector<double> values;
        std::size_t reset = 0;
        std::size_t limit = 0;
        for (std::size_t i = 0; i < model.parameters.size(); ++i) {
            values.push_back(model.parameters[i].default_value);
            if (model.parameters[i].name == "V_reset") reset = i;
            if (model.parameters[i].name == "V_min") limit = i;
        }
        auto wrong = values;
        wrong[reset] = -55.0;  // the default of V_th
        ASSERT_TRUE(model.conflict(wrong, std::nullopt).has_value()) << name;
        EXPECT_NE(model.conflict(wrong, std::nullopt)->find("V_reset"), std::string::npos);
        if (limit == 0) continue;
        wrong = values;
        wrong[limit] = -55.0;
        ASSERT_TRUE(model.conflict(wrong, std::nullopt).has_value()) << name;
        EXPECT_NE(model.conflict(wrong, std::nullopt)->find("V_min"), std::string::npos);
    }
}

}  // namespace TEST_FILE
}  // namespace ranvier::models
