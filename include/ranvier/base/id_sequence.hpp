#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ranvier/base/ids.hpp"

namespace ranvier {

/// Ascending global ids of the neurons of one owner (a shard, say): an arithmetic progression, or a list where the
/// placement of neurons follows no rule. A value: copies share the list.
class IdSequence {
   public:
    using List = std::shared_ptr<const std::vector<std::uint64_t>>;

    IdSequence() = default;
    /// first, first + stride, ..., `size` of them. @pre stride >= 1
    IdSequence(NeuronId first, std::uint64_t stride, std::uint64_t size)
        : first_(first.value), stride_(stride), size_(size) {}
    /// Elements [begin, begin + size) of an ascending list.
    IdSequence(List list, std::uint64_t begin, std::uint64_t size)
        : list_(std::move(list)), first_(begin), size_(size) {}

    std::uint64_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    bool is_progression() const { return list_ == nullptr; }
    /// The stride of a progression.
    std::uint64_t stride() const { return stride_; }

    NeuronId operator[](std::uint64_t position) const {
        return NeuronId{list_ ? (*list_)[first_ + position] : first_ + position * stride_};
    }

    /// The ids of a list.
    std::span<const std::uint64_t> list() const { return std::span(*list_).subspan(first_, size_); }
    /// Ids [begin, begin + out.size()).
    void copy(std::uint64_t begin, std::span<std::uint64_t> out) const {
        if (list_) {
            std::ranges::copy(list().subspan(begin, out.size()), out.begin());
        } else {
            for (std::uint64_t i = 0; i < out.size(); ++i) out[i] = first_ + (begin + i) * stride_;
        }
    }

    /// The number of ids below `id`.
    std::uint64_t count_below(NeuronId id) const {
        if (list_) {
            const std::span<const std::uint64_t> ids = list();
            return static_cast<std::uint64_t>(std::lower_bound(ids.begin(), ids.end(), id.value) - ids.begin());
        }
        if (id.value <= first_) return 0;
        return std::min(size_, (id.value - first_ + stride_ - 1) / stride_);
    }
    /// The position of an id, or nothing.
    std::optional<std::uint64_t> find(NeuronId id) const {
        const std::uint64_t position = count_below(id);
        if (position == size_ || (*this)[position] != id) return std::nullopt;
        return position;
    }

    IdSequence subsequence(std::uint64_t begin, std::uint64_t size) const {
        if (list_) return {list_, first_ + begin, size};
        return {NeuronId{first_ + begin * stride_}, stride_, size};
    }
    /// The ids in [first, first + size).
    IdSequence within(NeuronId first, std::uint64_t size) const {
        const std::uint64_t begin = count_below(first);
        return subsequence(begin, count_below(NeuronId{first.value + size}) - begin);
    }
    /// The last id. @pre not empty
    NeuronId back() const { return (*this)[size_ - 1]; }
    /// Whether the ids follow each other without gaps.
    bool is_contiguous() const { return size_ == 0 || back().value - (*this)[0].value == size_ - 1; }
    /// The ids that are also in `others`.
    IdSequence among(const IdSequence& others) const {
        if (others.empty() || empty()) return subsequence(0, 0);
        const NeuronId first = others[0];
        IdSequence near = within(first, others.back().value - first.value + 1);
        if (others.is_contiguous()) return near;
        std::vector<std::uint64_t> chosen;
        for (std::uint64_t i = 0; i < near.size(); ++i) {
            if (others.find(near[i])) chosen.push_back(near[i].value);
        }
        const std::uint64_t size = chosen.size();
        return {std::make_shared<const std::vector<std::uint64_t>>(std::move(chosen)), 0, size};
    }
    /// Every `stride`-th id, from position `begin` on.
    IdSequence every(std::uint64_t begin, std::uint64_t stride) const {
        const std::uint64_t size = begin < size_ ? (size_ - begin - 1) / stride + 1 : 0;
        if (!list_) return {NeuronId{first_ + begin * stride_}, stride_ * stride, size};
        std::vector<std::uint64_t> chosen(size);
        for (std::uint64_t i = 0; i < size; ++i) chosen[i] = (*this)[begin + i * stride].value;
        return {std::make_shared<const std::vector<std::uint64_t>>(std::move(chosen)), 0, size};
    }

    /// Calls visit(position, first id, stride, count) for the progressions that make up the sequence, in order, so that
    /// values of a progression can be drawn at once.
    template <class Visit>
    void for_each_progression(Visit visit) const {
        if (!list_) {
            if (size_ > 0) visit(std::uint64_t{0}, NeuronId{first_}, stride_, size_);
            return;
        }
        for (std::uint64_t begin = 0; begin < size_;) {
            std::uint64_t end = begin + 1;
            const std::uint64_t step = end < size_ ? (*this)[end].value - (*this)[begin].value : 1;
            while (end < size_ && (*this)[end].value - (*this)[end - 1].value == step) ++end;
            visit(begin, (*this)[begin], step, end - begin);
            begin = end;
        }
    }

    /// Bytes of the list; copies share them.
    std::uint64_t bytes() const { return list_ ? list_->capacity() * sizeof(std::uint64_t) : 0; }

   private:
    List list_;
    std::uint64_t first_ = 0;  ///< id, or position in the list
    std::uint64_t stride_ = 1;
    std::uint64_t size_ = 0;
};

}  // namespace ranvier
