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

/// Memory that lies near its owner, and an account of it.
///
/// An account counts bytes by NUMA node and by purpose; whoever wants one makes one. A NodeMemory is the memory of one
/// owner, a worker thread say, for one purpose: everything that knows std::pmr can allocate from it without knowing of
/// nodes or accounts.
///
///     MemoryAccount account({"tree", "messages"}, node_count());
///     NodeMemory memory(account, account.purpose("tree"), {.node = current_node()});
///     std::pmr::vector<double> values(&memory);
///
/// Nodes are numbered as the system counts them.
namespace ranvier::parallel {

/// What memory is for: an index among the purposes of an account.
enum class MemoryPurpose : std::uint32_t {};

/// Stands for the node of memory that belongs to no node: its owner moves from one to the other as the scheduler likes.
inline constexpr std::uint32_t any_node = UINT32_MAX;

/// Bytes by node and purpose, now and at the most. Safe to use from many threads.
class MemoryAccount {
   public:
    /// @param nodes that are counted apart: 0, 1, ..., nodes - 1, beside `any_node`
    MemoryAccount(std::vector<std::string> purposes, std::uint32_t nodes);

    std::uint32_t nodes() const { return nodes_; }
    const std::vector<std::string>& purposes() const { return purposes_; }
    /// @throws UnknownNameError
    MemoryPurpose purpose(std::string_view name) const;
    /// @throws ValueOutOfBoundsError for a node that is not counted
    void check_node(std::uint32_t node) const;

    /// @pre the node and the purpose are those of the account
    void add(std::uint32_t node, MemoryPurpose purpose, std::uint64_t bytes) noexcept;
    /// @pre so many bytes have been added
    void remove(std::uint32_t node, MemoryPurpose purpose, std::uint64_t bytes) noexcept;
    /// Sets what is held now, as an owner says whose allocations cannot be counted. @pre nobody else adds to the node
    /// and purpose
    void set(std::uint32_t node, MemoryPurpose purpose, std::uint64_t bytes) noexcept;

    struct Entry {
        std::uint32_t node = any_node;
        MemoryPurpose purpose{};
        std::uint64_t bytes = 0;  ///< now
        std::uint64_t most = 0;   ///< at the same time so far

        friend bool operator==(const Entry&, const Entry&) = default;
    };
    /// Those that ever held something, by node, then by purpose; `any_node` comes last.
    std::vector<Entry> entries() const;
    /// On all nodes, now.
    std::uint64_t bytes(MemoryPurpose purpose) const;
    /// Of all purposes on all nodes: now, and the most at the same time so far.
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

/// How pages come to lie on a node.
enum class PagePlacement {
    first_touch,  ///< on that of the thread that touches them first: the owner's, which must be the one
    bound,        ///< on the given one, whoever touches them; on others only once its memory is used up
};

struct NodeMemoryOptions {
    std::uint32_t node = any_node;  ///< of the owner
    PagePlacement placement = PagePlacement::first_touch;
    /// Ask for huge pages for blocks that are as large as one.
    bool huge_pages = true;
};

/// Where pages are, in bytes.
struct PagesByNode {
    std::vector<std::uint64_t> on_node;  ///< by node; as long as the highest one with pages asks for
    std::uint64_t untouched = 0;         ///< of pages that nobody has touched, which lie nowhere
    std::uint64_t unknown = 0;           ///< of pages of which the system does not tell, as in some containers

    PagesByNode& operator+=(const PagesByNode& other);
};

/// The memory of one owner for one purpose. Safe to use from many threads; deallocation is anybody's.
///
/// Blocks of at least own_pages_bytes are pages of their own, which are placed on the owner's node and count as whole
/// pages. Smaller ones are left to the heap, at a cache line or what else is asked for; they count as they are asked for.
class NodeMemory final : public std::pmr::memory_resource {
   public:
    /// @param account must outlive the memory
    /// @throws ValueOutOfBoundsError for a node that the account does not count, or that pages are to be bound to while
    /// the machine does not have it or the process may not use it
    NodeMemory(MemoryAccount& account, MemoryPurpose purpose, NodeMemoryOptions options = {});
    /// @pre everything has been deallocated
    ~NodeMemory() override;
    NodeMemory(const NodeMemory&) = delete;
    NodeMemory& operator=(const NodeMemory&) = delete;

    std::uint32_t node() const { return options_.node; }
    /// Allocated now, by the rules of the account.
    std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    /// Why pages are placed by first touch though binding was asked for: the system does not allow it to this process, as
    /// in some containers. Empty otherwise.
    const std::string& note() const { return note_; }

    /// Where the blocks that are pages of their own really lie.
    /// @param most_looked_at pages that are looked at in each block, evenly spread; they stand for the others
    PagesByNode pages(std::size_t most_looked_at = SIZE_MAX) const;

   private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
    void add(std::uint64_t bytes) noexcept;
    void remove(std::uint64_t bytes) noexcept;

    MemoryAccount& account_;
    MemoryPurpose purpose_;
    NodeMemoryOptions options_;
    std::string note_;
    std::atomic<std::uint64_t> bytes_{0};
    mutable std::mutex mutex_;
    std::unordered_map<void*, std::size_t> own_pages_;  ///< bytes of blocks, guarded by the mutex
};

/// Where the pages of a range lie. @param most_looked_at see NodeMemory::pages
PagesByNode find_pages(const void* begin, std::size_t bytes, std::size_t most_looked_at = SIZE_MAX);

/// One more than the highest number of a node of this machine; 1 where the system knows of none.
std::uint32_t node_count();
/// The node of the processor that the calling thread runs on; 0 where the system does not tell.
std::uint32_t current_node();

}  // namespace ranvier::parallel
