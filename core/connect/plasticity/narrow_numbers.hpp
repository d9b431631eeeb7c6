#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include "ranvier/base/buffer.hpp"
#include "ranvier/connect/tables/synapse_dynamics.hpp"

namespace ranvier::connect {

/// A whole number for each synapse, in as few bytes as the greatest needs: none where all are 0.
class NarrowNumbers {
   public:
    NarrowNumbers() = default;
    NarrowNumbers(std::size_t size, std::uint32_t greatest, std::pmr::memory_resource* memory) {
        const std::size_t bytes = narrow_bytes(greatest);
        if (bytes == sizeof(std::uint8_t)) {
            bytes_ = Buffer<std::uint8_t>(size, memory);
        } else if (bytes == sizeof(std::uint16_t)) {
            pairs_ = Buffer<std::uint16_t>(size, memory);
        } else if (bytes > 0) {
            words_ = Buffer<std::uint32_t>(size, memory);
        }
    }

    std::uint32_t operator[](std::size_t place) const {
        if (!bytes_.empty()) return bytes_[place];
        if (!pairs_.empty()) return pairs_[place];
        return words_.empty() ? 0 : words_[place];
    }
    /// @pre number is at most the greatest one
    void set(std::size_t place, std::uint32_t number) {
        if (!bytes_.empty()) {
            bytes_[place] = static_cast<std::uint8_t>(number);
        } else if (!pairs_.empty()) {
            pairs_[place] = static_cast<std::uint16_t>(number);
        } else if (!words_.empty()) {
            words_[place] = number;
        }
    }
    void fill(std::uint32_t number) {
        std::fill_n(bytes_.data(), bytes_.size(), static_cast<std::uint8_t>(number));
        std::fill_n(pairs_.data(), pairs_.size(), static_cast<std::uint16_t>(number));
        std::fill_n(words_.data(), words_.size(), number);
    }

   private:
    Buffer<std::uint8_t> bytes_;
    Buffer<std::uint16_t> pairs_;
    Buffer<std::uint32_t> words_;
};

}  // namespace ranvier::connect
