#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <mutex>
#include <string_view>
#include <vector>

#include "ranvier/base/choice.hpp"
#include "ranvier/parallel/memory.hpp"

namespace ranvier::parallel {

/// The source of blocks that are too small for separate pages.
enum class SmallBlocks : std::uint8_t {
    heap,  ///< the program's heap, whose pages are on any node
    pool,  ///< a pool of the owner, on its node
};

/// Small blocks on pages of one owner, which are placed on the owner's node.
///
/// The heap reuses blocks of all threads, so that those of one thread are on pages of several nodes. A pool has pages
/// of its own, which std::pmr::unsynchronized_pool_resource divides into blocks, and keeps them until it ends.
/// Thread-safe; any thread may deallocate.
///
///     NodePool pool(account, account.purpose("pools"), {.node = current_node()});
///     NodeMemory memory(account, account.purpose("tree"), {.node = current_node(), .pool = &pool});
class NodePool final : public std::pmr::memory_resource {
   public:
    /// Blocks of more bytes come from the heap, or have separate pages.
    static constexpr std::size_t most_bytes = 1024;

    /// @param unused purpose under which the account counts those bytes of the pages that are in no block; a NodeMemory
    /// with this pool counts blocks under its own purpose
    /// @throws as NodeMemory
    NodePool(MemoryAccount& account, MemoryPurpose unused, NodeMemoryOptions options = {});
    /// @pre everything has been deallocated
    ~NodePool() override = default;
    NodePool(const NodePool&) = delete;
    NodePool& operator=(const NodePool&) = delete;

    /// Bytes of all pages.
    std::uint64_t bytes() const { return pages_.bytes(); }
    /// Actual location of the pages; see NodeMemory::pages().
    PagesByNode pages(std::size_t most_sampled = SIZE_MAX) const { return pages_.pages(most_sampled); }

   private:
    /// Passes on parts of large blocks, one after another, and frees them all at its end.
    class Pieces final : public std::pmr::memory_resource {
       public:
        explicit Pieces(NodeMemory& pages) : pages_(pages) {}
        ~Pieces() override;
        Pieces(const Pieces&) = delete;
        Pieces& operator=(const Pieces&) = delete;

       private:
        void* do_allocate(std::size_t bytes, std::size_t alignment) override;
        void do_deallocate(void* /*block*/, std::size_t /*bytes*/, std::size_t /*alignment*/) override {}
        bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

        struct Block {
            void* begin = nullptr;
            std::size_t bytes = 0;
        };
        NodeMemory& pages_;
        std::vector<Block> blocks_;
        std::byte* next_ = nullptr;
        std::size_t left_ = 0;
    };

    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    MemoryAccount& account_;
    MemoryPurpose unused_;
    std::uint32_t node_;
    NodeMemory pages_;
    Pieces pieces_{pages_};
    std::pmr::unsynchronized_pool_resource blocks_;
    std::mutex mutex_;
};

}  // namespace ranvier::parallel

namespace ranvier {

template <>
struct ChoiceNames<parallel::SmallBlocks> {
    static constexpr std::string_view kind = "source of small blocks";
    static constexpr std::array<std::string_view, 2> names{"heap", "pool"};
};

}  // namespace ranvier
