#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "connect/tables/site_choice.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/instruction_set.hpp"
#include "ranvier/connect/placement/input_layout.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {
namespace TEST_FILE {

/// Every second of 11, 3 and 9 neurons.
ShardLayout shard() {
    const std::vector<PopulationRange> populations{{NeuronId{0}, 11}, {NeuronId{11}, 3}, {NeuronId{14}, 9}};
    return {ShardId{0}, IdSequence(NeuronId{0}, 2, 12), populations};
}

TEST(InputLayout, NumbersInputsAsNeuronsWhereEachHasOneSite) {
    const ShardLayout layout = shard();
    const InputLayout inputs(layout, {});
    EXPECT_FALSE(inputs.has_sites());
    EXPECT_EQ(inputs.size(), layout.size());
    for (std::uint32_t input = 0; input < inputs.size(); ++input) {
        EXPECT_EQ(inputs.site(input).neuron.value, input);
        EXPECT_EQ(inputs.site(input).site, 0U);
    }
    EXPECT_EQ(inputs.input(PopulationId{2}, layout.local_index(PopulationId{2}, NeuronId{16}), 0),
              layout.local_index(PopulationId{2}, NeuronId{16}).value);
}

TEST(InputLayout, FindsNeuronAndSiteOfEachInput) {
    const ShardLayout layout = shard();
    // The second population has no such receptor.
    const InputLayout inputs(layout, std::array<std::uint32_t, 3>{3, 0, 7});
    std::vector<std::uint32_t> neurons(inputs.size());
    inputs.copy_neurons(neurons);
    std::vector<std::uint32_t> seen;
    for (const std::uint32_t population : {0U, 2U}) {
        const ShardLayout::PopulationShare& share = layout.share(PopulationId{population});
        for (std::uint32_t i = 0; i < share.ids.size(); ++i) {
            const LocalIndex neuron{share.offset + i};
            for (std::uint32_t site = 0; site < inputs.sites(PopulationId{population}); ++site) {
                const std::uint32_t input = inputs.input(PopulationId{population}, neuron, site);
                ASSERT_LT(input, inputs.size());
                EXPECT_EQ(inputs.site(input).neuron, neuron);
                EXPECT_EQ(inputs.site(input).site, site);
                EXPECT_EQ(neurons[input], neuron.value);
                seen.push_back(input);
            }
        }
        EXPECT_EQ(inputs.first(PopulationId{population}) % ShardLayout::alignment, 0U);
    }
    std::ranges::sort(seen);
    EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
    EXPECT_EQ(seen.size(), 6U * 3 + 5U * 7);
}

TEST(InputLayout, RefusesMoreSitesThanCanBeNumbered) {
    const ShardLayout layout = shard();
    EXPECT_THROW(InputLayout(layout, std::array<std::uint32_t, 3>{1, 1, UINT32_MAX}), ValueOutOfBoundsError);
}

SiteChoice choice(SiteChoice::Rule rule, std::uint32_t sites) {
    return {std::move(rule), make_key(5, Purpose::site, 1), {{NeuronId{0}, 100, {sites, sites, {}, {}}}}};
}

TEST(SiteChoice, GivesTheSameToSynapsesAloneAndTogether) {
    const PairSpace pairs{NeuronId{0}, 100, NeuronId{0}, 100};
    const auto sampler = bind_rule({"fixed_indegree", {{"indegree", 50}}}, pairs, 1, ProjectionId{0});
    std::vector<double> listed(5000);
    for (std::size_t i = 0; i < listed.size(); ++i) listed[i] = static_cast<double>(i % 7);
    const std::vector<double> weights{0.0, 2.0, 0.0, 1.0, 1.0, 0.0, 0.0};
    const std::vector<SiteChoice::Rule> rules{SiteChoice::Uniform{}, std::uint32_t{4}, SharedArray(listed),
                                              cumulative(weights)};
    for (const SiteChoice::Rule& rule : rules) {
        const SiteChoice sites = choice(rule, 7);
        EXPECT_EQ(sites.sites(NeuronId{99}), 7U);
        for (const InstructionSet set : available_instruction_sets()) {
            std::vector<double> room(50);
            std::vector<std::uint32_t> found(50);
            sites.fill(set, *sampler, 42, 7, 50, room.data(), found.data());
            for (std::uint32_t i = 0; i < 50; ++i) {
                ASSERT_LT(found[i], 7U);
                EXPECT_EQ(found[i], sites.site(*sampler, 42, i, 7));
                EXPECT_TRUE(!std::holds_alternative<SiteChoice::Cumulative>(rule) || weights[found[i]] > 0.0);
            }
        }
    }
}

TEST(SiteChoice, ChoosesNoSiteBeyondTheLast) {
    constexpr double last = 1.0 - 0x1p-53;
    EXPECT_EQ(uniform_site(last, 3), 2U);
    EXPECT_EQ(uniform_site(last, UINT32_MAX), UINT32_MAX - 1);
    EXPECT_EQ(uniform_site(0.0, 3), 0U);
    const SiteChoice::Cumulative ends = cumulative(std::vector<double>{0.0, 0.1, 0.1, 0.1, 0.0});
    EXPECT_EQ(find_site(ends, last), 3U);
    EXPECT_EQ(find_site(ends, 0.0), 1U);
}

}  // namespace TEST_FILE
}  // namespace ranvier::connect
