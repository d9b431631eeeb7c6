#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ranvier/base/ids.hpp"
#include "ranvier/connect/placement/layout.hpp"

namespace ranvier::connect {

/// How the inputs of the neurons of a shard at one receptor are numbered: what tables know as the targets of synapses.
///
/// Where each neuron has one site, inputs are numbered as neurons are. Else the sites of a neuron come one after another, as
/// many as the neuron of its population that has most.
class InputLayout {
   public:
    /// @param shard must outlive the layout
    /// @param sites of a neuron of each population, 0 where it has no such receptor; empty: one site everywhere
    InputLayout(const ShardLayout& shard, std::span<const std::uint32_t> sites);

    bool has_sites() const { return !parts_.empty(); }
    /// One more than the largest number of an input.
    std::uint32_t size() const { return size_; }
    const ShardLayout& shard() const { return *shard_; }

    /// The input of the first neuron of a population at its first site.
    std::uint32_t first(PopulationId population) const {
        return parts_.empty() ? shard_->share(population).offset : parts_[population.value].first;
    }
    /// Of each neuron.
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
    /// Of each input; of those that no neuron has, 0.
    void copy_neurons(std::span<std::uint32_t> neurons) const;

   private:
    /// Of a population.
    struct Part {
        std::uint32_t first = 0;
        std::uint32_t sites = 0;
    };

    const ShardLayout* shard_;
    std::uint32_t size_;
    std::vector<Part> parts_;
};

/// Whether tables number so many inputs in 16 bits.
constexpr bool has_narrow_targets(std::uint32_t inputs) { return inputs <= std::uint32_t{UINT16_MAX} + 1; }

}  // namespace ranvier::connect
