#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ranvier {

/// Immutable numbers in shared ownership: an array given by a user is in memory once, however many descriptions and
/// simulations use it. The owner may be any object, for example a Python array.
template <class Number>
class SharedNumbers {
   public:
    SharedNumbers() = default;
    /// @param data the first of `size` numbers; keeps them alive
    SharedNumbers(std::shared_ptr<const Number> data, std::size_t size) : data_(std::move(data)), size_(size) {}
    explicit(false) SharedNumbers(std::vector<Number> values) : size_(values.size()) {
        const auto owner = std::make_shared<const std::vector<Number>>(std::move(values));
        data_ = std::shared_ptr<const Number>(owner, owner->data());
    }

    /// Numbers of a mapped file: see map_array().
    static SharedNumbers in_file(std::shared_ptr<const Number> data, std::size_t size) {
        SharedNumbers numbers(std::move(data), size);
        numbers.is_in_file_ = true;
        return numbers;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const Number* data() const { return data_.get(); }
    const Number* begin() const { return data_.get(); }
    const Number* end() const { return data_.get() + size_; }
    const Number& operator[](std::size_t index) const { return data_.get()[index]; }
    /// Memory that the system cannot take back.
    std::size_t bytes() const { return is_in_file_ ? 0 : size_ * sizeof(Number); }

   private:
    std::shared_ptr<const Number> data_;
    std::size_t size_ = 0;
    bool is_in_file_ = false;
};

using SharedArray = SharedNumbers<double>;
using SharedIndices = SharedNumbers<std::uint64_t>;

}  // namespace ranvier
