// Whether what the rules draw has the distribution that they promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "rule_testing.hpp"
#include "statistics.hpp"

namespace TEST_FILE {

using namespace rule_testing;
using statistics::significance;

/// p-value that every allowed pair has the same number of synapses on average, by partner.
double partners_p_value(const RuleSpec& spec, const PairSpace& pairs) {
    const auto sampler = bind(spec, pairs);
    const Partners partners = draw_all(*sampler, pairs);
    const bool by_target = sampler->major() == RuleSampler::Major::target;
    const std::uint64_t size = by_target ? pairs.sources : pairs.targets;
    std::vector<double> counts(size);
    std::vector<double> expected(size);
    for (std::uint64_t major = 0; major < partners.size(); ++major) {
        const std::uint64_t excluded = allows_autapses(spec) ? size : self(*sampler, pairs, major);
        const double allowed = static_cast<double>(size - (excluded < size ? 1 : 0));
        for (const std::uint64_t partner : partners[major]) ++counts[partner];
        for (std::uint64_t partner = 0; partner < size; ++partner) {
            if (partner != excluded) expected[partner] += static_cast<double>(partners[major].size()) / allowed;
        }
    }
    return statistics::chi_square_p_value(counts, expected);
}

TEST(EveryRule, DrawsAllAllowedPartnersAlike) {
    for (const PairSpace& pairs : spaces(57, 400)) {
        for (const bool autapses : {true, false}) {
            for (const bool multapses : {true, false}) {
                // Few partners, nearly half of them, most of them.
                for (const std::uint64_t number : {5, 27, 45}) {
                    EXPECT_GT(partners_p_value(rule("fixed_indegree", number, autapses, multapses), pairs),
                              significance)
                        << number;
                    EXPECT_GT(partners_p_value(uniform_indegree(number / 2, number, autapses, multapses), pairs),
                              significance)
                        << number;
                    EXPECT_GT(partners_p_value(rule("fixed_outdegree", number, autapses, multapses), pairs),
                              significance)
                        << number;
                    EXPECT_GT(partners_p_value(rule("fixed_total_number", 400 * number, autapses, multapses), pairs),
                              significance)
                        << number;
                }
            }
            for (const double probability : {0.02, 0.5, 0.9}) {
                EXPECT_GT(partners_p_value(bernoulli(probability, autapses), pairs), significance) << probability;
            }
        }
    }
    // Few among very many, which are kept in a hash table.
    const PairSpace large{NeuronId{0}, 1000000, NeuronId{0}, 3000};
    for (const RuleSpec& spec : {rule("fixed_indegree", 30, false, false),
                                 rule("fixed_total_number", 90000, false, false), bernoulli(3e-5, false)}) {
        std::vector<double> counts(100);
        for (const auto& own : draw_all(spec, large)) {
            for (const std::uint64_t partner : own) ++counts[partner / 10000];
        }
        EXPECT_GT(statistics::uniform_p_value(counts), significance) << spec.name();
    }
}

TEST(EveryRule, HasNoBiasWhereNumbersDoNotDivide2ToThe32) {
    // Words times 3 * 2^30 / 2^32 give every third number twice as often, unless some words are rejected.
    const PairSpace pairs{NeuronId{0}, std::uint64_t{3} << 30, NeuronId{0}, 300};
    for (const bool multapses : {true, false}) {
        std::vector<double> counts(3);
        for (const auto& own : draw_all(rule("fixed_indegree", 100, true, multapses), pairs)) {
            for (const std::uint64_t partner : own) ++counts[partner % 3];
        }
        EXPECT_GT(statistics::uniform_p_value(counts), significance);
    }
}

/// Counts how often each outcome occurs over many seeds.
template <class Outcome>
std::map<std::string, double> outcomes(const RuleSpec& spec, const PairSpace& pairs, int seeds,
                                       const Outcome& outcome) {
    std::map<std::string, double> counts;
    for (int seed = 0; seed < seeds; ++seed) {
        ++counts[outcome(draw_all(spec, pairs, static_cast<std::uint64_t>(seed)))];
    }
    return counts;
}

/// How often each pair is connected, as text: "0112".
std::string matrix(const Partners& partners, std::uint64_t size) {
    std::string text(partners.size() * size, '0');
    for (std::size_t major = 0; major < partners.size(); ++major) {
        for (const std::uint64_t partner : partners[major]) ++text[major * size + partner];
    }
    return text;
}

double equal_p_value(const std::map<std::string, double>& counts, std::size_t possible) {
    if (counts.size() > possible) return 0.0;
    std::vector<double> values;
    for (const auto& entry : counts) values.push_back(entry.second);
    values.resize(possible);
    return statistics::uniform_p_value(values);
}

TEST(WithoutMultapses, EverySetOfPairsIsAsProbable) {
    constexpr int seeds = 20000;
    const auto as_matrix = [](std::uint64_t size) {
        return [size](const Partners& partners) { return matrix(partners, size); };
    };
    const PairSpace apart{NeuronId{0}, 3, NeuronId{3}, 2};
    const PairSpace same{NeuronId{0}, 3, NeuronId{0}, 3};
    const PairSpace overlapping{NeuronId{0}, 3, NeuronId{2}, 3};
    const auto total = [](std::uint64_t number, bool autapses) {
        return rule("fixed_total_number", number, autapses, false);
    };
    // Ways to choose 3, 2 and 5 of 6 pairs.
    EXPECT_GT(equal_p_value(outcomes(total(3, true), apart, seeds, as_matrix(3)), 20), significance);
    EXPECT_GT(equal_p_value(outcomes(total(2, true), apart, seeds, as_matrix(3)), 15), significance);
    EXPECT_GT(equal_p_value(outcomes(total(5, true), apart, seeds, as_matrix(3)), 6), significance);
    // Six pairs of a population with itself, and eight of nine where one neuron is in both.
    EXPECT_GT(equal_p_value(outcomes(total(3, false), same, seeds, as_matrix(3)), 20), significance);
    EXPECT_GT(equal_p_value(outcomes(total(4, false), overlapping, seeds, as_matrix(3)), 70), significance);
    // Neurons that draw independently: 6 and 4 ways to choose 2 and 3 of 4, and that for each of two.
    const PairSpace small{NeuronId{0}, 4, NeuronId{4}, 2};
    const PairSpace turned{NeuronId{0}, 2, NeuronId{2}, 4};
    EXPECT_GT(equal_p_value(outcomes(rule("fixed_indegree", 2, true, false), small, seeds, as_matrix(4)), 36),
              significance);
    EXPECT_GT(equal_p_value(outcomes(rule("fixed_indegree", 3, true, false), small, seeds, as_matrix(4)), 16),
              significance);
    EXPECT_GT(equal_p_value(outcomes(rule("fixed_outdegree", 2, true, false), turned, seeds, as_matrix(4)), 36),
              significance);
    EXPECT_GT(equal_p_value(outcomes(rule("fixed_indegree", 1, false, false), same, seeds, as_matrix(3)), 8),
              significance);
}

TEST(WithMultapses, EverySynapseFallsOnAnyPair) {
    // Two synapses on four pairs: 1/16 for twice the same pair, 1/8 for two different ones.
    const PairSpace pairs{NeuronId{0}, 2, NeuronId{2}, 2};
    constexpr int seeds = 40000;
    const auto counts = outcomes(rule("fixed_total_number", 2), pairs, seeds,
                                 [](const Partners& partners) { return matrix(partners, 2); });
    ASSERT_EQ(counts.size(), 10U);
    std::vector<double> found;
    std::vector<double> expected;
    for (const auto& [text, count] : counts) {
        found.push_back(count);
        expected.push_back(text.find('2') == std::string::npos ? seeds / 8.0 : seeds / 16.0);
    }
    EXPECT_GT(statistics::chi_square_p_value(found, expected), significance);
}

TEST(Bernoulli, ConnectsEveryPairIndependently) {
    const PairSpace pairs{NeuronId{0}, 3, NeuronId{3}, 2};
    constexpr int seeds = 30000;
    for (const double probability : {0.1, 0.3, 0.5, 0.9}) {
        const auto counts = outcomes(bernoulli(probability), pairs, seeds,
                                     [](const Partners& partners) { return matrix(partners, 3); });
        std::vector<double> found;
        std::vector<double> expected;
        for (int pattern = 0; pattern < 64; ++pattern) {
            std::string text(6, '0');
            double product = seeds;
            for (std::size_t i = 0; i < 6; ++i) {
                const bool connected = (pattern >> i & 1) != 0;
                text[i] = connected ? '1' : '0';
                product *= connected ? probability : 1.0 - probability;
            }
            const auto entry = counts.find(text);
            found.push_back(entry == counts.end() ? 0.0 : entry->second);
            expected.push_back(product);
        }
        EXPECT_GT(statistics::chi_square_p_value(found, expected), significance) << probability;
    }
}

/// p-value of degrees in many networks or of many neurons against a distribution of whole numbers.
template <class Probability>
double degrees_p_value(const std::vector<std::uint64_t>& degrees, const Probability& probability) {
    const std::uint64_t most = *std::ranges::max_element(degrees) + 100;
    std::vector<double> counts(most + 1);
    std::vector<double> expected(most + 1);
    for (const std::uint64_t degree : degrees) ++counts[degree];
    for (std::uint64_t k = 0; k <= most; ++k) {
        expected[k] = static_cast<double>(degrees.size()) * probability(static_cast<double>(k));
    }
    return statistics::chi_square_p_value(counts, expected);
}

TEST(UniformIndegree, HasUniformInDegrees) {
    const PairSpace pairs{NeuronId{0}, 500, NeuronId{0}, 20000};
    std::vector<double> degrees(21);
    std::vector<double> differences(21);  // between neighbours, modulo 21: uniform if the two are independent
    const Partners partners = draw_all(uniform_indegree(40, 60), pairs);
    for (std::size_t target = 0; target < partners.size(); ++target) {
        ++degrees[partners[target].size() - 40];
        if (target % 2 == 1) ++differences[(21 + partners[target].size() - partners[target - 1].size()) % 21];
    }
    EXPECT_GT(statistics::uniform_p_value(degrees), significance);
    EXPECT_GT(statistics::uniform_p_value(differences), significance);
}

TEST(Bernoulli, HasBinomialInDegrees) {
    const PairSpace pairs{NeuronId{0}, 300, NeuronId{300}, 20000};
    for (const double probability : {1e-3, 0.02, 0.3, 0.95}) {
        std::vector<std::uint64_t> degrees;
        for (const auto& own : draw_all(bernoulli(probability), pairs)) degrees.push_back(own.size());
        const double p =
            degrees_p_value(degrees, [&](double k) { return statistics::binomial_probability(300, probability, k); });
        EXPECT_GT(p, significance) << probability;
    }
}

TEST(FixedTotalNumber, HasBinomialInDegreesOfEveryTargetAndOfAnyTwo) {
    // 7 targets, one of which is also one of the 5 sources: without autapses it has fewer pairs.
    const PairSpace pairs{NeuronId{0}, 5, NeuronId{4}, 7};
    constexpr std::uint64_t number = 60;
    constexpr int seeds = 10000;
    for (const bool autapses : {true, false}) {
        std::vector<Partners> networks;
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            networks.push_back(draw_all(rule("fixed_total_number", number, autapses), pairs, seed));
        }
        const auto share = [&](std::size_t target) {
            if (autapses) return 5.0 / 35.0;
            return (target == 0 ? 4.0 : 5.0) / 34.0;
        };
        for (std::size_t a = 0; a < 7; ++a) {
            for (std::size_t b = a; b < 7; ++b) {
                std::vector<std::uint64_t> degrees;
                for (const Partners& network : networks) {
                    degrees.push_back(network[a].size() + (b > a ? network[b].size() : 0));
                }
                const double p = share(a) + (b > a ? share(b) : 0.0);
                EXPECT_GT(
                    degrees_p_value(degrees, [&](double k) { return statistics::binomial_probability(number, p, k); }),
                    significance)
                    << "targets " << a << " and " << b;
            }
        }
    }
}

TEST(FixedTotalNumber, HasHypergeometricInDegreesWithoutMultapses) {
    const PairSpace pairs{NeuronId{0}, 30, NeuronId{25}, 9};
    constexpr double number = 140;
    constexpr int seeds = 10000;
    for (const bool autapses : {true, false}) {
        std::vector<Partners> networks;
        for (std::uint64_t seed = 0; seed < seeds; ++seed) {
            networks.push_back(draw_all(rule("fixed_total_number", 140, autapses, false), pairs, seed));
        }
        // Targets 0 to 4 are also sources 25 to 29.
        const double allowed = autapses ? 270 : 265;
        for (const std::size_t target : {0, 4, 5, 8}) {
            const double own = !autapses && target < 5 ? 29 : 30;
            std::vector<std::uint64_t> degrees;
            for (const Partners& network : networks) degrees.push_back(network[target].size());
            EXPECT_GT(degrees_p_value(degrees,
                                      [&](double k) {
                                          return statistics::hypergeometric_probability(own, allowed - own, number, k);
                                      }),
                      significance)
                << "target " << target;
        }
    }
}

TEST(FixedTotalNumber, HasBinomialInDegreesInALargeNetwork) {
    const PairSpace pairs{NeuronId{0}, 1000, NeuronId{0}, 20000};
    for (const std::uint64_t number : {6000, 100000, 4000000}) {
        std::vector<std::uint64_t> degrees;
        for (const auto& own : draw_all(rule("fixed_total_number", number), pairs)) degrees.push_back(own.size());
        const double p = degrees_p_value(degrees, [&](double k) {
            return statistics::binomial_probability(static_cast<double>(number), 1.0 / 20000, k);
        });
        EXPECT_GT(p, significance) << number;
    }
}

TEST(UnorderedBernoulli, DecidesEachPairOnce) {
    // Each of the pairs of four neurons independently: all sets of the six pairs by their probabilities.
    constexpr int seeds = 20000;
    const PairSpace pairs{NeuronId{0}, 4, NeuronId{0}, 4};
    const auto found =
        outcomes(unordered_bernoulli(0.3), pairs, seeds, [](const Partners& partners) { return matrix(partners, 4); });
    std::vector<double> counts;
    std::vector<double> expected;
    for (std::uint32_t set = 0; set < 64; ++set) {
        // Neurons on a ring: from the neuron before, and from the opposite one.
        constexpr std::array<std::array<std::size_t, 2>, 6> decided{{{0, 3}, {1, 0}, {2, 1}, {3, 2}, {0, 2}, {1, 3}}};
        std::string text(16, '0');
        for (std::size_t bit = 0; bit < 6; ++bit) {
            if ((set >> bit & 1) != 0) text[4 * decided[bit][0] + decided[bit][1]] = '1';
        }
        const int members = std::popcount(set);
        expected.push_back(seeds * std::pow(0.3, members) * std::pow(0.7, 6 - members));
        counts.push_back(found.contains(text) ? found.at(text) : 0.0);
    }
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), seeds);
    EXPECT_GT(statistics::chi_square_p_value(counts, expected), significance);
    // In a larger population, the pairs of each neuron and of each distance.
    const PairSpace large{NeuronId{0}, 2000, NeuronId{0}, 2000};
    std::vector<double> of_source(100);
    std::vector<double> of_distance(1000);
    const Partners partners = draw_all(unordered_bernoulli(0.01), large);
    for (std::uint64_t target = 0; target < 2000; ++target) {
        for (const std::uint64_t source : partners[target]) {
            ++of_source[source / 20];
            ++of_distance[(target + 2000 - source) % 2000 - 1];
        }
    }
    // 999 pairs of each neuron with those after it, and half of the pairs of opposite neurons.
    EXPECT_GT(statistics::chi_square_p_value(of_source, std::vector<double>(100, 0.01 * 20.0 * 999.5)), significance);
    std::vector<double> expected_of_distance(1000, 0.01 * 2000.0);
    expected_of_distance.back() = 0.01 * 1000.0;
    EXPECT_GT(statistics::chi_square_p_value(of_distance, expected_of_distance), significance);
}

/// The exact law of a target in a small world: how many of its sources are neighbors on the ring. Of the k neighbors,
/// those that are not rewired stay; the new sources are drawn from all other neurons, rewired neighbors included.
class NeighborsKept {
   public:
    NeighborsKept(std::uint64_t size, std::uint64_t degree, double rewiring) : law_(degree + 1) {
        const auto k = static_cast<double>(degree);
        const auto others = static_cast<double>(size - 1 - degree);
        for (double kept = 0.0; kept <= k; ++kept) {
            for (double again = 0.0; again <= k - kept; ++again) {
                law_[static_cast<std::size_t>(kept + again)] +=
                    statistics::binomial_probability(k, 1.0 - rewiring, kept) *
                    statistics::hypergeometric_probability(k - kept, others, k - kept, again);
            }
        }
    }
    const std::vector<double>& law() const { return law_; }
    /// Mean of a function of the number.
    template <class Function>
    double mean(const Function& function) const {
        double sum = 0.0;
        for (std::size_t i = 0; i < law_.size(); ++i) sum += law_[i] * function(static_cast<double>(i));
        return sum;
    }

   private:
    std::vector<double> law_;
};

bool are_neighbors(std::uint64_t a, std::uint64_t b, std::uint64_t size, std::uint64_t degree) {
    const std::uint64_t distance = a > b ? a - b : b - a;
    return std::min(distance, size - distance) <= degree / 2;
}

TEST(SmallWorld, RewiresTheStatedShareToAnyNeuron) {
    constexpr std::uint64_t size = 4000;
    const PairSpace pairs{NeuronId{0}, size, NeuronId{0}, size};
    for (const auto& [degree, rewiring] : {std::pair(10, 0.1), std::pair(24, 0.5), std::pair(4, 1.0)}) {
        const auto k = static_cast<std::uint64_t>(degree);
        const NeighborsKept kept(size, k, rewiring);
        std::vector<double> counts(k + 1);
        std::vector<double> distances(100);  // of the others, which are uniform
        const Partners partners = draw_all(small_world(k, rewiring), pairs);
        for (std::uint64_t target = 0; target < size; ++target) {
            std::size_t near = 0;
            for (const std::uint64_t source : partners[target]) {
                const std::uint64_t after = (source + size - target) % size;
                if (are_neighbors(source, target, size, k)) {
                    ++near;
                } else {
                    ++distances[(after - k / 2 - 1) * 100 / (size - 1 - k)];
                }
            }
            ++counts[near];
        }
        std::vector<double> expected = kept.law();
        for (double& count : expected) count *= static_cast<double>(size);
        EXPECT_GT(statistics::chi_square_p_value(counts, expected), significance) << degree;
        EXPECT_GT(statistics::uniform_p_value(distances), significance) << degree;
    }
}

TEST(SmallWorld, HasOutdegreesAndClusteringOfTheExactLaw) {
    constexpr std::uint64_t size = 40;
    constexpr std::uint64_t degree = 6;
    constexpr int seeds = 4000;
    const PairSpace pairs{NeuronId{0}, size, NeuronId{0}, size};
    constexpr double k = degree;
    constexpr double others = size - 1 - degree;
    for (const double rewiring : {0.1, 0.4, 1.0}) {
        const NeighborsKept kept(size, degree, rewiring);
        const double near = kept.mean([](double n) { return n; }) / k;
        const double far = (1.0 - near) * k / others;
        // Targets draw independently, so the out-degree is a sum of k and `others` independent events.
        std::vector<double> outdegrees(size);
        for (double i = 0.0; i <= k; ++i) {
            for (double j = 0.0; j <= others; ++j) {
                outdegrees[static_cast<std::size_t>(i + j)] += seeds * statistics::binomial_probability(k, near, i) *
                                                               statistics::binomial_probability(others, far, j);
            }
        }
        // Probability that a pair of sources of a target is connected.
        const double both = kept.mean([](double n) { return n * (n - 1.0); }) / (k * (k - 1.0));
        const double one = kept.mean([](double n) { return n * (k - n); }) / (k * others);
        const double none = kept.mean([](double n) { return (k - n) * (k - n - 1.0); }) / (others * (others - 1.0));
        double triangles = 0.0;
        for (std::uint64_t a = 1; a < size; ++a) {
            for (std::uint64_t b = 1; b < size; ++b) {
                if (a == b) continue;
                const int neighbors = are_neighbors(a, 0, size, degree) + are_neighbors(b, 0, size, degree);
                triangles += (neighbors == 2   ? both
                              : neighbors == 1 ? one
                                               : none) *
                             (are_neighbors(a, b, size, degree) ? near : far);
            }
        }
        const double clustering = triangles / (k * (k - 1.0));

        std::vector<double> counts(size);
        double sum = 0.0;
        double squares = 0.0;
        for (int seed = 0; seed < seeds; ++seed) {
            const Partners partners = draw_all(small_world(degree, rewiring), pairs, static_cast<std::uint64_t>(seed));
            std::size_t outdegree = 0;
            double found = 0.0;
            for (const auto& own : partners) {
                outdegree += static_cast<std::size_t>(std::ranges::count(own, std::uint64_t{0}));
                for (const std::uint64_t b : own) {
                    for (const std::uint64_t a : own) found += std::ranges::count(partners[b], a) > 0 ? 1.0 : 0.0;
                }
            }
            ++counts[outdegree];
            found /= size * k * (k - 1.0);
            sum += found;
            squares += found * found;
        }
        EXPECT_GT(statistics::chi_square_p_value(counts, outdegrees), significance) << rewiring;
        const double mean = sum / seeds;
        const double error = std::sqrt((squares / seeds - mean * mean) / seeds);
        EXPECT_LT(std::abs(mean - clustering), 5.0 * error) << rewiring;
    }
    // The ring itself: 3 (k - 2) / (4 (k - 1)), by Watts and Strogatz.
    double found = 0.0;
    const Partners ring = draw_all(small_world(degree, 0.0), pairs);
    for (const auto& own : ring) {
        for (const std::uint64_t b : own) {
            for (const std::uint64_t a : own) found += std::ranges::count(ring[b], a) > 0 ? 1.0 : 0.0;
        }
    }
    EXPECT_DOUBLE_EQ(found / (size * k * (k - 1.0)), 3.0 * (k - 2.0) / (4.0 * (k - 1.0)));
}

}  // namespace TEST_FILE
