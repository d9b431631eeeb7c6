#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace ranvier {

/// Numbers that nobody changes, one copy for all who hold them: what a user gave as an array lies in memory once, however
/// many descriptions and simulations use it. What owns the memory may be anything, as an array of Python.
class SharedArray {
   public:
    SharedArray() = default;
    /// @param data the first of `size` numbers, and what keeps them alive
    SharedArray(std::shared_ptr<const double> data, std::size_t size) : data_(std::move(data)), size_(size) {}
    explicit(false) SharedArray(std::vector<double> values) : size_(values.size()) {
        auto owner = std::make_shared<const std::vector<double>>(std::move(values));
        data_ = std::shared_ptr<const double>(owner, owner->data());
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const double* data() const { return data_.get(); }
    const double* begin() const { return data_.get(); }
    const double* end() const { return data_.get() + size_; }
    double operator[](std::size_t index) const { return data_.get()[index]; }
    std::size_t bytes() const { return size_ * sizeof(double); }

   private:
    std::shared_ptr<const double> data_;
    std::size_t size_ = 0;
};

}  // namespace ranvier
