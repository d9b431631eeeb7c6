#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ranvier::parallel {

/// A double-ended queue: its owner pushes items and pops the newest, thieves take the oldest.
///
/// After D. Chase and Y. Lev, "Dynamic circular work-stealing deque" (SPAA 2005), with the memory orders required by N.
/// M. Lê et al., "Correct and efficient work-stealing for weak memory models" (PPoPP 2013), but on the operations
/// themselves instead of fences between them, so that the thread sanitizer understands them. Writes of the owner before
/// push() are visible to the thread that gets the item. push() is sequentially consistent: a worker that announces its
/// sleep and then checks for items, and a worker that pushes an item and then checks for sleepers, cannot miss each
/// other.
///
/// @tparam Item a pointer or a small number
template <class Item>
class StealingDeque {
   public:
    /// The result of an attempt to steal.
    enum class Outcome : std::uint8_t {
        taken,
        empty,
        lost,  ///< another thread was faster; there may be more
    };

    StealingDeque() {
        buffers_.push_back(std::make_unique<Buffer>(first_capacity));
        buffer_.store(buffers_.back().get(), std::memory_order_relaxed);
    }

    /// Called by the owner.
    void push(Item item) {
        const std::int64_t bottom = bottom_.load(std::memory_order_relaxed);
        const std::int64_t top = top_.load(std::memory_order_acquire);
        Buffer* buffer = buffer_.load(std::memory_order_relaxed);
        if (bottom - top >= buffer->capacity()) buffer = grow(*buffer, top, bottom);
        buffer->at(bottom).store(item, std::memory_order_relaxed);
        bottom_.store(bottom + 1, std::memory_order_seq_cst);
    }

    /// Called by the owner: pops the newest item. Returns whether there was one.
    bool pop(Item& item) {
        const std::int64_t bottom = bottom_.load(std::memory_order_relaxed) - 1;
        // Only the top moves concurrently, upwards: an empty queue stays empty for the owner.
        if (top_.load(std::memory_order_relaxed) > bottom) return false;
        Buffer& buffer = *buffer_.load(std::memory_order_relaxed);
        bottom_.store(bottom, std::memory_order_seq_cst);
        std::int64_t top = top_.load(std::memory_order_seq_cst);
        bool taken = top <= bottom;
        if (taken) item = buffer.at(bottom).load(std::memory_order_relaxed);
        if (top < bottom) return true;
        // The last item: thieves may compete for it.
        if (taken) taken = top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst);
        bottom_.store(bottom + 1, std::memory_order_release);
        return taken;
    }

    /// Called by thieves: takes the oldest item.
    Outcome steal(Item& item) {
        std::int64_t top = top_.load(std::memory_order_seq_cst);
        const std::int64_t bottom = bottom_.load(std::memory_order_seq_cst);
        if (top >= bottom) return Outcome::empty;
        item = buffer_.load(std::memory_order_acquire)->at(top).load(std::memory_order_relaxed);
        const bool taken = top_.compare_exchange_strong(top, top + 1, std::memory_order_seq_cst);
        return taken ? Outcome::taken : Outcome::lost;
    }

    /// Called by any thread; true at some moment of the call.
    bool is_empty() const {
        const std::int64_t top = top_.load(std::memory_order_seq_cst);
        return top >= bottom_.load(std::memory_order_seq_cst);
    }

    /// Removes all items, and frees the memory of earlier sizes. Not thread-safe.
    void clear() {
        top_.store(0, std::memory_order_relaxed);
        bottom_.store(0, std::memory_order_relaxed);
        buffers_.erase(buffers_.begin(), buffers_.end() - 1);
    }

   private:
    static constexpr std::int64_t first_capacity = 256;

    class Buffer {
       public:
        explicit Buffer(std::int64_t capacity)
            : mask_(capacity - 1), items_(std::make_unique<std::atomic<Item>[]>(static_cast<std::size_t>(capacity))) {}
        std::int64_t capacity() const { return mask_ + 1; }
        std::atomic<Item>& at(std::int64_t index) { return items_[static_cast<std::size_t>(index & mask_)]; }

       private:
        std::int64_t mask_;
        std::unique_ptr<std::atomic<Item>[]> items_;
    };

    /// Keeps the old buffer: thieves may still read it.
    Buffer* grow(Buffer& old, std::int64_t top, std::int64_t bottom) {
        buffers_.push_back(std::make_unique<Buffer>(2 * old.capacity()));
        Buffer& larger = *buffers_.back();
        for (std::int64_t index = top; index < bottom; ++index) {
            larger.at(index).store(old.at(index).load(std::memory_order_relaxed), std::memory_order_relaxed);
        }
        buffer_.store(&larger, std::memory_order_release);
        return &larger;
    }

    // On separate cache lines: thieves change one, the owner the other.
    alignas(64) std::atomic<std::int64_t> top_{0};
    alignas(64) std::atomic<std::int64_t> bottom_{0};
    std::atomic<Buffer*> buffer_{nullptr};
    std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace ranvier::parallel
