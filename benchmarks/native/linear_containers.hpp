#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

/// The linear containers of Magalhães et al. (2019): the header of a container and all of its elements are in one
/// contiguous piece of memory, and several containers follow each other. Their sizes are fixed at construction.
///
/// The paper attributes a part of its speed to them; `ranvier bench containers` compares them with those of the
/// standard library and of the engine (docs/design/stepping.md).
namespace ranvier::benchmarks {

/// Memory for consecutive containers; it must outlive them.
class LinearMemory {
   public:
    /// @throws std::bad_alloc
    explicit LinearMemory(std::size_t bytes) : words_((bytes + alignof(Word) - 1) / alignof(Word)) {}

    /// The next piece.
    /// @pre There is room for it.
    template <class T>
    T* take(std::size_t count) {
        static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(Word));
        const std::size_t words = (count * sizeof(T) + sizeof(Word) - 1) / sizeof(Word);
        assert(used_ + words <= words_.size());
        T* const begin = reinterpret_cast<T*>(words_.data() + used_);
        used_ += words;
        return begin;
    }
    /// Bytes of a piece, including its alignment.
    template <class T>
    static std::size_t bytes_of(std::size_t count) {
        return (count * sizeof(T) + sizeof(Word) - 1) / sizeof(Word) * sizeof(Word);
    }

   private:
    using Word = std::uint64_t;
    std::vector<Word> words_;
    std::size_t used_ = 0;
};

/// A vector: its length, then its elements.
template <class T>
class LinearVector {
   public:
    static std::size_t bytes(std::size_t size) {
        return LinearMemory::bytes_of<std::uint64_t>(1) + LinearMemory::bytes_of<T>(size);
    }
    LinearVector(LinearMemory& memory, std::size_t size, const T& value) : head_(memory.take<std::uint64_t>(1)) {
        *head_ = size;
        std::fill_n(memory.take<T>(size), size, value);
    }

    std::size_t size() const { return *head_; }
    T* begin() { return reinterpret_cast<T*>(head_ + 1); }
    T* end() { return begin() + size(); }
    T& operator[](std::size_t i) { return begin()[i]; }

   private:
    std::uint64_t* head_;
};

/// A map with ascending keys, each with one value: the number of keys, the keys, then the values in the same order.
/// So values can be iterated like those of a vector.
template <class Key, class Value>
class LinearMap {
   public:
    static std::size_t bytes(std::size_t size) {
        return LinearMemory::bytes_of<std::uint64_t>(1) + LinearMemory::bytes_of<Key>(size) +
               LinearMemory::bytes_of<Value>(size);
    }
    /// @param keys ascending
    LinearMap(LinearMemory& memory, std::span<const Key> keys, const Value& value)
        : size_(memory.take<std::uint64_t>(1)), keys_(memory.take<Key>(keys.size())) {
        *size_ = keys.size();
        std::ranges::copy(keys, keys_);
        values_ = memory.take<Value>(keys.size());
        std::fill_n(values_, keys.size(), value);
    }

    std::span<const Key> keys() const { return {keys_, *size_}; }
    std::span<Value> values() const { return {values_, *size_}; }
    /// The value of a key, by a binary search; null: there is no such key.
    Value* find(const Key& key) const {
        const auto found = std::ranges::lower_bound(keys(), key);
        if (found == keys().end() || *found != key) return nullptr;
        return values_ + (found - keys().begin());
    }

   private:
    std::uint64_t* size_;
    Key* keys_;
    Value* values_ = nullptr;
};

/// A queue of events sorted by time: for each key, such as a source, a circular array of its events, which are pushed
/// in the order of their times.
template <class Key, class Event>
class LinearQueue {
   public:
    static std::size_t bytes(std::size_t keys, std::size_t room) {
        return LinearMap<Key, Ring>::bytes(keys) + LinearMemory::bytes_of<Event>(keys * room);
    }
    /// @param keys ascending
    /// @param room maximum number of events of a key in the queue at the same time
    LinearQueue(LinearMemory& memory, std::span<const Key> keys, std::uint32_t room)
        : rings_(memory, keys, Ring{}), events_(memory.take<Event>(keys.size() * room)), room_(room) {}

    /// @pre There is room, and the last event of the key is not later.
    void push(const Key& key, const Event& event) {
        Ring* const ring = rings_.find(key);
        assert(ring != nullptr && ring->count < room_);
        const std::uint32_t place = (ring->first + ring->count) % room_;
        events_of(ring)[place] = event;
        ++ring->count;
    }
    /// Pops all events with `event.time <= last`, and appends them in the order of their times, those with equal
    /// times in the order of keys.
    void pop(decltype(Event::time) last, std::vector<Event>& out) {
        const std::size_t begin = out.size();
        for (Ring& ring : rings_.values()) {
            const Event* const events = events_of(&ring);
            while (ring.count > 0 && events[ring.first].time <= last) {
                out.push_back(events[ring.first]);
                ring.first = ring.first + 1 == room_ ? 0 : ring.first + 1;
                --ring.count;
            }
        }
        std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                         [](const Event& a, const Event& b) { return a.time < b.time; });
    }

   private:
    struct Ring {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };

    Event* events_of(const Ring* ring) const {
        return events_ + static_cast<std::size_t>(ring - rings_.values().data()) * room_;
    }

    LinearMap<Key, Ring> rings_;
    Event* events_;
    std::uint32_t room_;
};

}  // namespace ranvier::benchmarks
