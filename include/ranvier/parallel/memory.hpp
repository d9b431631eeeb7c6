#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Memory near its owner, with accounting.
///
/// An account counts bytes by NUMA node and by purpose. A NodeMemory is the memory of one owner, a worker thread say,
/// for one purpose: all code based on std::pmr can allocate from it without depending on nodes or accounts.
///
///     MemoryAccount account({"tree", "messages"}, node_count());
///     NodeMemory memory(account, account.purpose("tree"), {.node = current_node()});
///     std::pmr::vector<double> values(&memory);
///
/// Node numbers are those of the system.
namespace ranvier::parallel {

/// The purpose of memory: an index into the purposes of an account.
enum class MemoryPurpose : std::uint32_t {};

/// The node number of memory without a node: the scheduler moves its owner between nodes.
inline constexpr std::uint32_t any_node = UINT32_MAX;

/// Current and peak bytes by node and purpose. Thread-safe.
class MemoryAccount {
   public:
    /// @param nodes counted separately: 0, 1, ..., nodes - 1, in addition to `any_node`
    MemoryAccount(std::vector<std::string> purposes, std::uint32_t nodes);

    std::uint32_t nodes() const { return nodes_; }
    const std::vector<std::string>& purposes() const { return purposes_; }
    /// @throws UnknownNameError
    MemoryPurpose purpose(std::string_view name) const;
    /// @throws ValueOutOfBoundsError for a node that is not counted
    void check_node(std::uint32_t node) const;

    /// @pre node and purpose belong to the account
    void add(std::uint32_t node, MemoryPurpose purpose, std::uint64_t bytes) noexcept;
    /// @pre so many bytes have been added
    void remove(std::uint32_t node, MemoryPurpose purpose, std::uint64_t bytes) noexcept;
    /// Sets the current bytes of an owner whose allocations cannot be counted. @pre nothing else adds to this node and
    /// purpose
    void set(std::uint32_t node, MemoryPurpose purpose, std::uint64_t bytes) noexcept;

    struct Entry {
        std::uint32_t node = any_node;
        MemoryPurpose purpose{};
        std::uint64_t bytes = 0;  ///< current
        std::uint64_t most = 0;  ///< peak

        friend bool operator==(const Entry&, const Entry&) = default;
    };
    /// The entries that were ever in use, by node, then by purpose; `any_node` comes last.
    std::vector<Entry> entries() const;
    /// Current bytes on all nodes.
    std::uint64_t bytes(MemoryPurpose purpose) const;
    /// Current and peak bytes of all purposes on all nodes.
    std::uint64_t bytes() const { return all_.now.load(std::memory_order_relaxed); }
    std::uint64_t most_bytes() const { return all_.most.load(std::memory_order_relaxed); }

   private:
    struct Counter {
        std::atomic<std::uint64_t> now{0};
        std::atomic<std::uint64_t> most{0};

        void add(std::uint64_t bytes) noexcept;
    };
    Counter& counter(std::uint32_t node, MemoryPurpose purpose) const noexcept;

    std::vector<std::string> purposes_;
    std::uint32_t nodes_;
    std::unique_ptr<Counter[]> counters_;  ///< by node, then by purpose; any_node last
    Counter all_;
};

/// Placement of pages on nodes.
enum class PagePlacement {
    first_touch,  ///< on the node of the thread that touches them first, which must be the owner
    bound,  ///< on the given one, whichever thread touches them; on others only when its memory is exhausted
};

class NodePool;

struct NodeMemoryOptions {
    std::uint32_t node = any_node;  ///< of the owner
    PagePlacement placement = PagePlacement::first_touch;
    /// Request huge pages for blocks of at least that size.
    bool huge_pages = true;
    /// Source of small blocks, which must outlive the memory; null: the heap.
    NodePool* pool = nullptr;
};

/// Location of pages, in bytes.
struct PagesByNode {
    std::vector<std::uint64_t> on_node;  ///< by node, up to the highest one with pages
    std::uint64_t untouched = 0;  ///< in untouched pages, which have no location
    std::uint64_t unknown = 0;  ///< in pages whose location the system does not report, as in some containers

    PagesByNode& operator+=(const PagesByNode& other);
};

/// The memory of one owner for one purpose. Thread-safe; any thread may deallocate.
///
/// Blocks of at least separate_pages_bytes occupy separate pages, which are placed on the owner's node and count as
/// whole pages. Smaller ones come from the heap, or those of up to NodePool::most_bytes from a pool, aligned to a cache
/// line or as requested; they count with their requested size.
class NodeMemory final : public std::pmr::memory_resource {
   public:
    /// @param account must outlive the memory
    /// @throws ValueOutOfBoundsError for a node that the account does not count, or for binding to a node that the
    /// machine does not have or the process may not use
    NodeMemory(MemoryAccount& account, MemoryPurpose purpose, NodeMemoryOptions options = {});
    /// @pre everything has been deallocated
    ~NodeMemory() override;
    NodeMemory(const NodeMemory&) = delete;
    NodeMemory& operator=(const NodeMemory&) = delete;

    std::uint32_t node() const { return options_.node; }
    /// Currently allocated, as counted by the account.
    std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    /// The reason why pages are placed by first touch although binding was requested: the system denies it to this
    /// process, as in some containers. Empty otherwise.
    const std::string& note() const { return note_; }

    /// Actual location of the blocks with separate pages.
    /// @param most_sampled number of pages to query in each block, evenly spread; each represents its neighbours
    PagesByNode pages(std::size_t most_sampled = SIZE_MAX) const;

   private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
    /// The source of a block without separate pages.
    std::pmr::memory_resource& small_blocks(std::size_t bytes, std::size_t alignment) const;
    void add(std::uint64_t bytes) noexcept;
    void remove(std::uint64_t bytes) noexcept;

    MemoryAccount& account_;
    MemoryPurpose purpose_;
    NodeMemoryOptions options_;
    std::string note_;
    std::atomic<std::uint64_t> bytes_{0};
    mutable std::mutex mutex_;
    /// Bytes of blocks with separate pages, guarded by the mutex.
    std::unordered_map<void*, std::size_t> separate_blocks_;
};

/// Location of the pages of a range. @param most_sampled see NodeMemory::pages
PagesByNode find_pages(const void* begin, std::size_t bytes, std::size_t most_sampled = SIZE_MAX);

/// One more than the highest node number of this machine; 1 where the system reports none.
std::uint32_t node_count();
/// The node of the calling thread's processor; 0 where the system does not report it.
std::uint32_t current_node();

}  // namespace ranvier::parallel
