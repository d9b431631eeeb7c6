#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/ids.hpp"

namespace ranvier::comm {

/// What a group of processes must be able to do together. All methods but rank() and size() are collective.
template <class T>
concept CommunicatorImplementation = requires(const T& c, std::span<std::uint64_t> counts) {
    { c.rank() } -> std::same_as<Rank>;
    { c.size() } -> std::same_as<std::int32_t>;
    { c.barrier() };
    { c.sum(counts) };
    { c.least(counts) };
    { c.greatest(counts) };
};

/// One process alone: every collective is done at once.
struct LocalCommunicator {
    Rank rank() const { return Rank{0}; }
    std::int32_t size() const { return 1; }
    void barrier() const {}
    void sum(std::span<std::uint64_t>) const {}
    void least(std::span<std::uint64_t>) const {}
    void greatest(std::span<std::uint64_t>) const {}
};

/// A group of processes, as a value: copies refer to the same group. Which transport is behind it is chosen at run time.
class Communicator {
   public:
    /// One process alone.
    Communicator() : Communicator(LocalCommunicator{}) {}
    template <CommunicatorImplementation T>
    explicit Communicator(T implementation) : self_(std::make_shared<Model<T>>(std::move(implementation))) {}

    Rank rank() const { return self_->rank(); }
    std::int32_t size() const { return self_->size(); }
    /// @note Collective.
    void barrier() const { self_->barrier(); }
    /// Replaces each element by its sum (least, greatest) over all processes. @note Collective.
    void sum(std::span<std::uint64_t> values) const { self_->sum(values); }
    void least(std::span<std::uint64_t> values) const { self_->least(values); }
    void greatest(std::span<std::uint64_t> values) const { self_->greatest(values); }

   private:
    struct Interface {
        virtual ~Interface() = default;
        virtual Rank rank() const = 0;
        virtual std::int32_t size() const = 0;
        virtual void barrier() const = 0;
        virtual void sum(std::span<std::uint64_t> values) const = 0;
        virtual void least(std::span<std::uint64_t> values) const = 0;
        virtual void greatest(std::span<std::uint64_t> values) const = 0;
    };
    template <class T>
    struct Model final : Interface {
        explicit Model(T value) : implementation(std::move(value)) {}
        Rank rank() const override { return implementation.rank(); }
        std::int32_t size() const override { return implementation.size(); }
        void barrier() const override { implementation.barrier(); }
        void sum(std::span<std::uint64_t> values) const override { implementation.sum(values); }
        void least(std::span<std::uint64_t> values) const override { implementation.least(values); }
        void greatest(std::span<std::uint64_t> values) const override { implementation.greatest(values); }
        T implementation;
    };

    std::shared_ptr<const Interface> self_;
};

}  // namespace ranvier::comm
