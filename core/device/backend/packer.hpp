#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "device/kernel/machine.hpp"

namespace ranvier::device {

/// Arrays that follow each other in bytes, and their addresses.
class Packer {
   public:
    explicit Packer(u64 address) : address_(address) {}

    /// Appends an array, and returns its place.
    template <class Element>
    std::size_t add(std::span<const Element> elements) {
        const std::size_t place = add_room<Element>(elements.size());
        if (!elements.empty()) std::memcpy(bytes_.data() + place, elements.data(), elements.size_bytes());
        return place;
    }
    /// Appends an array of zeros.
    template <class Element>
    std::size_t add_room(std::size_t count) {
        // No element has more than 8 bytes.
        const std::size_t place = (bytes_.size() + 7) / 8 * 8;
        bytes_.resize(place + count * sizeof(Element));
        return place;
    }
    template <class Element>
    Element* address(std::size_t place) const {
        return reinterpret_cast<Element*>(static_cast<std::uintptr_t>(address_ + place));
    }
    template <class Element>
    void put(std::size_t place, const Element& element) {
        std::memcpy(bytes_.data() + place, &element, sizeof(Element));
    }
    std::vector<std::byte> finish() { return std::move(bytes_); }

   private:
    u64 address_;
    std::vector<std::byte> bytes_;
};

}  // namespace ranvier::device
