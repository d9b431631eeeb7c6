#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "ranvier/base/hash.hpp"

namespace ranvier {

/// The hash of a description: a sequence of numbers and texts.
class DescriptionHash {
   public:
    void whole(std::uint64_t number) { hash_.add(number); }
    void number(double value) { hash_.add(std::bit_cast<std::uint64_t>(value)); }
    void numbers(std::span<const double> values) {
        hash_.add(values.size());
        for (const double value : values) number(value);
    }
    void numbers(std::initializer_list<double> values) { numbers(std::span(values.begin(), values.size())); }
    void text(std::string_view letters) {
        hash_.add(letters.size());
        for (const char letter : letters) hash_.add(static_cast<unsigned char>(letter));
    }
    std::uint64_t value() const { return hash_.value(); }

   private:
    SequenceHash hash_;
};

}  // namespace ranvier
