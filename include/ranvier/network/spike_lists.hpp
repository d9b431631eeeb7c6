#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "ranvier/base/ids.hpp"

namespace ranvier::network {

/// Times at which the units of a population play spikes, ms: one list for each of them.
using SpikeTimes = std::vector<std::vector<double>>;

/// Steps in which units of a population play spikes, one list for each unit. Copies of a description, one for each
/// simulation, share the immutable lists.
class SpikeLists {
   public:
    using Lists = std::vector<std::vector<Step>>;

    SpikeLists() = default;
    explicit(false) SpikeLists(Lists lists) : lists_(std::make_shared<const Lists>(std::move(lists))) {}

    const Lists& all() const {
        static const Lists none;
        return lists_ ? *lists_ : none;
    }
    bool empty() const { return all().empty(); }
    const std::vector<Step>& operator[](std::size_t unit) const { return (*lists_)[unit]; }

    /// Memory of the lists, with the overhead of the heap for each.
    std::uint64_t bytes() const {
        constexpr std::uint64_t of_heap = sizeof(std::size_t);
        std::uint64_t sum = 0;
        for (const std::vector<Step>& list : all()) {
            sum += sizeof(std::vector<Step>) + (list.empty() ? 0 : list.capacity() * sizeof(Step) + of_heap);
        }
        return sum;
    }

    friend bool operator==(const SpikeLists& a, const SpikeLists& b) { return a.all() == b.all(); }

   private:
    std::shared_ptr<const Lists> lists_;
};

}  // namespace ranvier::network
