#pragma once

#include <cstdint>
#include <vector>

#include "connect/space/partner_index.hpp"
#include "ranvier/connect/rules/rule.hpp"

namespace ranvier::connect {

/// A rule that draws partners as places in an index, ascending for each neuron.
class PlacedSampler : public RuleSampler {
   public:
    /// As draw(), with places instead of partners.
    virtual void draw_places(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
                             std::vector<std::uint32_t>& degrees, std::vector<std::uint32_t>& places) const = 0;
    virtual const PartnerIndex& index() const = 0;
    /// Whether the coordinates of the index are positions of neurons, not their numbers.
    virtual bool is_spatial() const = 0;

    void draw(InstructionSet set, std::uint64_t begin, std::uint64_t stride, std::uint64_t count,
              std::vector<std::uint32_t>& degrees, std::vector<std::uint64_t>& partners) const final {
        std::vector<std::uint32_t> places;
        draw_places(set, begin, stride, count, degrees, places);
        partners.resize(places.size());
        const PartnerIndex& of_places = index();
        for (std::size_t i = 0; i < places.size(); ++i) partners[i] = of_places.neuron(places[i]);
    }
};

}  // namespace ranvier::connect
