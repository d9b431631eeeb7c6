#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/ids.hpp"
#include "comm/exchange.hpp"

namespace ranvier::comm {

/// Spikes as small as they can be, for the methods that send every spike to every process: the place of the source on its
/// process and the lag, together in 2, 4 or 8 bytes (Hines, Kumar and Schürmann, 2011, "Comparison of neuronal spike
/// exchange methods on a Blue Gene/P supercomputer", where each of the two takes a byte).
class SpikePacking {
   public:
    SpikePacking(std::uint64_t most_sources, std::uint32_t most_lags)
        : lag_bits_(bits_for(most_lags)), bytes_(bytes_for(bits_for(most_sources) + lag_bits_)) {
        if (bits_for(most_sources) + lag_bits_ > 64) {
            throw ValueOutOfBoundsError({.object = "the number of sources on a process",
                                         .value = std::to_string(most_sources),
                                         .bound = "a source and a step of the epoch must fit 64 bits",
                                         .remedy = "use more processes, or a directed method of exchange"});
        }
    }

    std::size_t bytes() const { return bytes_; }

    void append(std::uint64_t place, std::uint32_t lag, std::vector<std::byte>& packed) const {
        const std::uint64_t word = place << lag_bits_ | lag;
        // The lower bytes of a word: all processes of a run are of one kind of machine, and that kind is little-endian.
        static_assert(std::endian::native == std::endian::little);
        const auto* const first = reinterpret_cast<const std::byte*>(&word);
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
    static std::size_t bytes_for(int bits) { return bits <= 16 ? 2 : bits <= 32 ? 4 : 8; }

    int lag_bits_;
    std::size_t bytes_;
};

/// The spikes of one epoch of all shards of a process, packed, and how much of them has been sent.
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
    /// Takes the spikes of one shard. Each worker does so for its own.
    void pack(std::uint32_t worker, std::span<const EmittedSpike> outbox) {
        std::vector<std::byte>& packed = workers_[worker].packed;
        for (const EmittedSpike& spike : outbox) packing_.append(place_of_(worker, spike.local), spike.lag, packed);
    }
    /// Number of spikes that were not taken yet.
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
    /// Appends spikes that came from a process, under their global ids.
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
    /// Apart from those of other workers, which write at the same time.
    struct alignas(64) Worker {
        std::vector<std::byte> packed;
    };

    SpikePacking packing_;
    std::function<NeuronId(Rank, std::uint64_t)> source_of_;
    std::function<std::uint64_t(std::uint32_t, std::uint32_t)> place_of_;
    std::vector<Worker> workers_;
    std::size_t worker_ = 0;  ///< whose spikes are next
    std::size_t taken_ = 0;   ///< bytes of them that were taken
};

}  // namespace ranvier::comm
