#include <algorithm>
#include <array>
#include <bit>

#include "connect/rules/partners.hpp"
#include "connect/rules/rule_checks.hpp"
#include "ranvier/base/hash.hpp"
#include "ranvier/base/random.hpp"
#include "ranvier/connect/rules/registry.hpp"

namespace ranvier::connect {

namespace {
namespace small_world_parts {

/// Numbers in a hash table that is emptied for each target: the replacements of one target.
class Replacements {
   public:
    explicit Replacements(std::uint64_t most) : slots_(std::bit_ceil(2 * most + 2), no_partner) {
        shift_ = 64 - std::countr_zero(slots_.size());
    }
    void clear() { std::ranges::fill(slots_, no_partner); }
    /// Returns whether the number is new.
    bool insert(std::uint64_t value) {
        std::uint64_t slot = (value * golden_ratio) >> shift_;
        for (; slots_[slot] != no_partner; slot = (slot + 1) & (slots_.size() - 1)) {
            if (slots_[slot] == value) return false;
        }
        slots_[slot] = value;
        return true;
    }

   private:
    std::vector<std::uint64_t> slots_;
    int shift_;
};

/// The ring of Watts and Strogatz (1998) with directed connections: each target draws for its own connections.
class SmallWorld final : public RuleSampler {
   public:
    SmallWorld(std::uint64_t size, std::uint32_t degree, double probability, RandomKey key)
        : size_(size), degree_(degree), probability_(probability), key_(key) {}

    Major major() const override { return Major::target; }

    void draw(InstructionSet, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const override {
        degrees.assign(count, degree_);
        partners.resize(count * degree_);
        Replacements drawn(degree_);
        std::vector<std::uint8_t> replaced(degree_);
        for (std::uint64_t i = 0; i < count; ++i) {
            draw_target(begin + i * stride, replaced, drawn, partners.data() + i * degree_);
        }
    }

    double expected_synapses() const override { return static_cast<double>(size_) * static_cast<double>(degree_); }
    std::optional<std::uint64_t> array_length() const override { return size_ * degree_; }
    std::uint64_t array_position(std::uint64_t major, std::uint64_t ordinal) const override {
        return major * degree_ + ordinal;
    }

   private:
    void draw_target(std::uint64_t target, std::vector<std::uint8_t>& replaced, Replacements& drawn,
                     std::uint64_t* sources) const {
        SequentialRandom random({key_, target});
        for (std::uint64_t k = 0; k < degree_; ++k) {
            replaced[k] = random.next_unit() < probability_ ? 1 : 0;
            sources[k] = neighbor(target, k);
        }
        if (std::ranges::find(replaced, 1) == replaced.end()) return;
        drawn.clear();
        for (std::uint64_t k = 0; k < degree_; ++k) {
            if (replaced[k] == 0) continue;
            do {
                sources[k] = random.next_below(size_ - 1);
                sources[k] += sources[k] >= target ? 1 : 0;
            } while (is_kept(target, sources[k], replaced) || !drawn.insert(sources[k]));
        }
    }

    /// The neighbor at a place: from the farthest one before the target to the farthest one after it.
    std::uint64_t neighbor(std::uint64_t target, std::uint64_t place) const {
        const std::uint64_t half = degree_ / 2;
        const std::uint64_t steps = place + (place < half ? 0 : 1);
        const std::uint64_t first = target >= half ? target - half : target + size_ - half;
        return first + steps < size_ ? first + steps : first + steps - size_;
    }

    /// Whether a source is a neighbor whose connection stays.
    bool is_kept(std::uint64_t target, std::uint64_t source, const std::vector<std::uint8_t>& replaced) const {
        const std::uint64_t half = degree_ / 2;
        const std::uint64_t after = source > target ? source - target : source + size_ - target;
        if (after <= half) return replaced[half + after - 1] == 0;
        const std::uint64_t before = size_ - after;
        return before <= half && replaced[half - before] == 0;
    }

    std::uint64_t size_;
    std::uint32_t degree_;
    double probability_;
    RandomKey key_;
};

constexpr std::array parameters{
    count_info("indegree",
               "connections per target, half of them from the neurons before it and half from those after it unless "
               "they are rewired: an even number, less than the number of neurons"),
    RuleParameterInfo{.name = "rewiring",
                      .bounds = {.lower = 0.0, .upper = 1.0},
                      .meaning = "probability that the source of a connection is replaced"},
};

std::unique_ptr<RuleSampler> bind(const RuleSpec& spec, const PairSpace& pairs, std::uint64_t seed,
                                  ProjectionId projection) {
    return std::make_unique<SmallWorld>(pairs.sources, checked_ring_degree(spec, pairs), spec.real("rewiring"),
                                        make_key(seed, Purpose::partner, projection.value));
}

}  // namespace small_world_parts
}  // namespace

const RuleInfo small_world_rule{
    .name = "small_world",
    .summary = "every neuron gets connections from its neighbors on a ring, some of which are rewired to any neuron",
    .notes =
        "The sources must be the targets: a population, or a part of it, that is connected to itself. Neurons are "
        "arranged in a ring, as in NearestNeighbors. Each connection is rewired with the given probability, "
        "independently: its source is replaced. The new sources of a target are drawn without repetition, all with "
        "the same probability, from the neurons that are neither the target nor one of its remaining sources; so "
        "every target keeps its in-degree, and out-degrees vary. This is the directed form of D. J. Watts and S. H. "
        "Strogatz (1998), Collective dynamics of 'small-world' networks, Nature 393, 440-442, who rewire undirected "
        "edges.\n\n"
        "Arrays of weights or delays hold one number per connection, sorted by target and then as the neighbors of "
        "NearestNeighbors; a rewired connection keeps the place of the neighbor.",
    .parameters = small_world_parts::parameters,
    .check = check_ring_degree,
    .bind = small_world_parts::bind,
};

}  // namespace ranvier::connect
