#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/base/ids.hpp"
#include "ranvier/comm/exchange/exchange.hpp"

namespace ranvier::comm {

/// Compact spikes: the name of the source and the lag, in as few whole bytes as the largest of both need. Where every
/// spike goes to every process, the name of a source is its index on its process: often 2 bytes (Hines, Kumar and
/// Schürmann, 2011, "Comparison of neuronal spike exchange methods on a Blue Gene/P supercomputer", where each of the
/// two takes one). Directed methods send the address of the source on the other process: 4 bytes for a few hundred
/// million of them.
class SpikePacking {
   public:
    static constexpr std::size_t least_bytes = 2;

    /// @param most_names one more than the largest name of a source
    SpikePacking(std::uint64_t most_names, std::uint32_t most_lags)
        : lag_bits_(bits_for(most_lags)), bytes_(bytes_for(bits_for(most_names) + lag_bits_)) {
        if (bits_for(most_names) + lag_bits_ > 64) {
            throw ValueOutOfBoundsError({.object = "the number of sources on a process",
                                         .value = std::to_string(most_names),
                                         .bound = "a source and a step of the epoch must fit in 64 bits",
                                         .remedy = "use more processes, or a directed method of exchange"});
        }
    }

    std::size_t bytes() const { return bytes_; }
    std::uint64_t word(std::uint64_t name, std::uint32_t lag) const { return name << lag_bits_ | lag; }
    /// Writes exactly the bytes of a word: the memory after it may belong to another thread.
    template <std::size_t bytes>
    static void store(std::byte* to, std::uint64_t word) {
        // The lower bytes: all processes of a run use the same, little-endian kind of machine.
        static_assert(std::endian::native == std::endian::little);
        std::memcpy(to, &word, bytes);
    }
    /// Calls action(std::integral_constant<std::size_t, bytes()>()), so that the word size is a compile-time constant
    /// of a loop.
    template <class Action>
    void with_bytes(Action action) const {
        switch (bytes_) {
            case 2:
                return action(std::integral_constant<std::size_t, 2>());
            case 3:
                return action(std::integral_constant<std::size_t, 3>());
            case 4:
                return action(std::integral_constant<std::size_t, 4>());
            case 5:
                return action(std::integral_constant<std::size_t, 5>());
            case 6:
                return action(std::integral_constant<std::size_t, 6>());
            case 7:
                return action(std::integral_constant<std::size_t, 7>());
            default:
                return action(std::integral_constant<std::size_t, 8>());
        }
    }
    /// @param first the last word must be followed by ArrivedSpikes::slack
    ArrivedSpikes arrived(const std::byte* first, std::size_t size) const {
        return {first, size, static_cast<std::uint32_t>(bytes_), static_cast<std::uint32_t>(lag_bits_)};
    }

    void append(std::uint64_t place, std::uint32_t lag, std::vector<std::byte>& packed) const {
        const std::uint64_t packed_word = word(place, lag);
        const auto* const first = reinterpret_cast<const std::byte*>(&packed_word);
        packed.insert(packed.end(), first, first + bytes_);
    }

    /// Calls visit(place, lag) for each spike.
    template <class Visit>
    void for_each(std::span<const std::byte> packed, Visit visit) const {
        const std::uint64_t lag_mask = (std::uint64_t{1} << lag_bits_) - 1;
        for (std::size_t i = 0; i + bytes_ <= packed.size(); i += bytes_) {
            std::uint64_t word = 0;
            std::memcpy(&word, packed.data() + i, bytes_);
            visit(word >> lag_bits_, static_cast<std::uint32_t>(word & lag_mask));
        }
    }

   private:
    static int bits_for(std::uint64_t values) { return values > 1 ? static_cast<int>(std::bit_width(values - 1)) : 0; }
    static std::size_t bytes_for(int bits) {
        const auto bytes = (static_cast<std::size_t>(bits) + 7) / 8;
        return bytes > least_bytes ? bytes : least_bytes;
    }

    int lag_bits_;
    std::size_t bytes_;
};

/// The packed spikes of one epoch of all shards of a process, and the part that has been sent.
class PackedOutboxes {
   public:
    explicit PackedOutboxes(const ExchangeArguments& arguments)
        : packing_(arguments.options.most_sources, arguments.options.most_lags),
          source_of_(arguments.source_of),
          place_of_(arguments.place_of),
          workers_(arguments.options.workers) {
        if (!source_of_ || !place_of_) throw InternalError("exchange of spikes: places of sources were not given");
    }

    const SpikePacking& packing() const { return packing_; }

    void clear() {
        for (Worker& worker : workers_) worker.packed.clear();
        worker_ = 0;
        taken_ = 0;
    }
    /// Packs the spikes of one shard; each worker packs those of its shard.
    void pack(std::uint32_t worker, std::span<const EmittedSpike> outbox) {
        std::vector<std::byte>& packed = workers_[worker].packed;
        for (const EmittedSpike& spike : outbox) packing_.append(place_of_(worker, spike.local), spike.lag, packed);
    }
    /// Number of spikes not yet taken.
    std::uint64_t left() const {
        std::uint64_t bytes = 0;
        for (std::size_t w = worker_; w < workers_.size(); ++w) bytes += workers_[w].packed.size();
        return (bytes - taken_) / packing_.bytes();
    }
    /// Copies the next spikes. @pre `to` has room for no more than are left
    void take(std::span<std::byte> to) {
        while (!to.empty()) {
            const std::span<const std::byte> packed = std::span(workers_[worker_].packed).subspan(taken_);
            const std::size_t bytes = packed.size() < to.size() ? packed.size() : to.size();
            if (bytes > 0) std::memcpy(to.data(), packed.data(), bytes);
            to = to.subspan(bytes);
            taken_ += bytes;
            if (bytes == packed.size() && worker_ + 1 < workers_.size()) {
                ++worker_;
                taken_ = 0;
            }
        }
    }
    /// Appends spikes received from a process, by their global ids.
    void unpack(Rank from, std::span<const std::byte> packed, std::vector<ArrivedSpike>& arrived) const {
        packing_.for_each(packed, [&](std::uint64_t place, std::uint32_t lag) {
            arrived.emplace_back(source_of_(from, place).value, lag);
        });
    }

    std::uint64_t bytes() const {
        std::uint64_t bytes = 0;
        for (const Worker& worker : workers_) bytes += worker.packed.capacity();
        return bytes;
    }

   private:
    /// Aligned to avoid false sharing: workers write concurrently.
    struct alignas(64) Worker {
        std::vector<std::byte> packed;
    };

    SpikePacking packing_;
    std::function<NeuronId(Rank, std::uint64_t)> source_of_;
    std::function<std::uint64_t(std::uint32_t, std::uint32_t)> place_of_;
    std::vector<Worker> workers_;
    std::size_t worker_ = 0;  ///< the worker whose spikes come next
    std::size_t taken_ = 0;  ///< bytes of its spikes that were taken
};

}  // namespace ranvier::comm
