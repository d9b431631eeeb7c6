#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/layout.hpp"

namespace ranvier::connect {

/// Numbering of the inputs of a shard's neurons at one receptor: tables use these numbers as targets of synapses.
///
/// Where each neuron has one site, inputs are numbered like neurons. Otherwise the sites of a neuron are consecutive,
/// as many as the neuron of its population with most sites has.
class InputLayout {
   public:
    /// @param shard must outlive the layout
    /// @param sites number per neuron for each population, 0 if it lacks the receptor; empty: one site everywhere
    InputLayout(const ShardLayout& shard, std::span<const std::uint32_t> sites);

    bool has_sites() const { return !parts_.empty(); }
    /// One more than the largest input number.
    std::uint32_t size() const { return size_; }
    const ShardLayout& shard() const { return *shard_; }

    /// The input of the first neuron of a population at its first site.
    std::uint32_t first(PopulationId population) const {
        return parts_.empty() ? shard_->share(population).offset : parts_[population.value].first;
    }
    /// Number of sites of each neuron.
    std::uint32_t sites(PopulationId population) const { return parts_.empty() ? 1 : parts_[population.value].sites; }
    /// @pre the neuron belongs to the population
    std::uint32_t input(PopulationId population, LocalIndex neuron, std::uint32_t site) const {
        const std::uint32_t place = neuron.value - shard_->share(population).offset;
        return first(population) + place * sites(population) + site;
    }

    struct Site {
        LocalIndex neuron;
        std::uint32_t site = 0;
    };
    /// @pre the input is that of a neuron
    Site site(std::uint32_t input) const;
    LocalIndex neuron(std::uint32_t input) const { return site(input).neuron; }
    /// The neuron of each input; 0 for inputs without a neuron.
    void copy_neurons(std::span<std::uint32_t> neurons) const;

   private:
    /// The part of a population.
    struct Part {
        std::uint32_t first = 0;
        std::uint32_t sites = 0;
    };

    const ShardLayout* shard_;
    std::uint32_t size_;
    std::vector<Part> parts_;
};

/// Whether 16-bit numbers suffice for so many inputs in tables.
constexpr bool has_narrow_targets(std::uint32_t inputs) { return inputs <= std::uint32_t{UINT16_MAX} + 1; }

}  // namespace ranvier::connect
