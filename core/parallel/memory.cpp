#include "ranvier/parallel/memory.hpp"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/aligned_array.hpp"
#include "ranvier/base/errors.hpp"
#include "ranvier/base/page_memory.hpp"
#include "ranvier/parallel/node_pool.hpp"

namespace ranvier::parallel {

namespace {

constexpr std::uint32_t most_nodes = 1024;  ///< the kernel's limit

/// Requests a node for the pages of a range. Returns 0 or an error number.
int bind_pages(const void* begin, std::size_t bytes, std::uint32_t node) {
    constexpr std::size_t bits = 8 * sizeof(unsigned long);
    std::array<unsigned long, most_nodes / bits> mask{};
    mask[node / bits] = 1UL << node % bits;
    // Preferred, not bound: when the node is full, other memory is better than none. The kernel ignores the last bit.
    return ::syscall(SYS_mbind, begin, bytes, MPOL_PREFERRED, mask.data(), most_nodes + 1, 0) == 0 ? 0 : errno;
}

}  // namespace

MemoryAccount::MemoryAccount(std::vector<std::string> purposes, std::uint32_t nodes)
    : purposes_(std::move(purposes)),
      nodes_(nodes),
      counters_(std::make_unique<Counter[]>((std::size_t{nodes} + 1) * purposes_.size())) {}

MemoryPurpose MemoryAccount::purpose(std::string_view name) const {
    const auto found = std::find(purposes_.begin(), purposes_.end(), name);
    if (found == purposes_.end()) {
        throw unknown_name("purpose of memory", name,
                           std::vector<std::string_view>(purposes_.begin(), purposes_.end()));
    }
    return static_cast<MemoryPurpose>(found - purposes_.begin());
}

void MemoryAccount::check_node(std::uint32_t node) const {
    if (node < nodes_ || node == any_node) return;
    throw ValueOutOfBoundsError({.object = "NUMA node",
                                 .value = std::to_string(node),
                                 .bound = "the account has nodes below " + std::to_string(nodes_),
                                 .remedy = "make the account with more nodes"});
}

MemoryAccount::Counter& MemoryAccount::counter(std::uint32_t node, MemoryPurpose purpose) const noexcept {
    const std::size_t row = std::min(node, nodes_);
    return counters_[row * purposes_.size() + static_cast<std::size_t>(purpose)];
}

void MemoryAccount::Counter::add(std::uint64_t bytes) noexcept {
    const std::uint64_t sum = now.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::uint64_t known = most.load(std::memory_order_relaxed);
    while (sum > known && !most.compare_exchange_weak(known, sum, std::memory_order_relaxed)) {
    }
}

void MemoryAccount::add(std::uint32_t node, MemoryPurpose purpose, std::uint64_t bytes) noexcept {
    counter(node, purpose).add(bytes);
    all_.add(bytes);
}

void MemoryAccount::remove(std::uint32_t node, MemoryPurpose purpose, std::uint64_t bytes) noexcept {
    counter(node, purpose).now.fetch_sub(bytes, std::memory_order_relaxed);
    all_.now.fetch_sub(bytes, std::memory_order_relaxed);
}

void MemoryAccount::set(std::uint32_t node, MemoryPurpose purpose, std::uint64_t bytes) noexcept {
    const std::uint64_t known = counter(node, purpose).now.load(std::memory_order_relaxed);
    if (bytes > known) {
        add(node, purpose, bytes - known);
    } else {
        remove(node, purpose, known - bytes);
    }
}

std::vector<MemoryAccount::Entry> MemoryAccount::entries() const {
    std::vector<Entry> entries;
    for (std::uint32_t row = 0; row <= nodes_; ++row) {
        for (std::uint32_t purpose = 0; purpose < purposes_.size(); ++purpose) {
            const Counter& counter = counters_[row * purposes_.size() + purpose];
            const std::uint64_t most = counter.most.load(std::memory_order_relaxed);
            if (most == 0) continue;
            entries.push_back({row == nodes_ ? any_node : row, MemoryPurpose{purpose},
                               counter.now.load(std::memory_order_relaxed), most});
        }
    }
    return entries;
}

std::uint64_t MemoryAccount::bytes(MemoryPurpose purpose) const {
    std::uint64_t sum = 0;
    for (std::uint32_t row = 0; row <= nodes_; ++row) {
        sum +=
            counters_[row * purposes_.size() + static_cast<std::size_t>(purpose)].now.load(std::memory_order_relaxed);
    }
    return sum;
}

NodeMemory::NodeMemory(MemoryAccount& account, MemoryPurpose purpose, NodeMemoryOptions options)
    : account_(account), purpose_(purpose), options_(options) {
    account.check_node(options.node);
    if (options.placement == PagePlacement::first_touch) return;
    // Check now, not at the first allocation, that the system accepts the node.
    int error = EINVAL;
    if (options.node < most_nodes) {
        void* const page = map_pages(page_bytes(), page_bytes(), false);
        error = bind_pages(page, page_bytes(), options.node);
        unmap_pages(page, page_bytes());
    }
    if (error == 0) return;
    if (error == EINVAL) {
        throw ValueOutOfBoundsError({.object = "NUMA node to bind memory to",
                                     .value = options.node == any_node ? "any" : std::to_string(options.node),
                                     .bound = "it must be one that this machine has and this process may use, below " +
                                              std::to_string(node_count()),
                                     .remedy = "choose such a node, or place pages by first touch"});
    }
    options_.placement = PagePlacement::first_touch;
    note_ =
        std::string("pages are placed by first touch: the system refuses to bind them (") + std::strerror(error) + ")";
}

NodeMemory::~NodeMemory() { assert(bytes() == 0); }

void NodeMemory::add(std::uint64_t bytes) noexcept {
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    account_.add(options_.node, purpose_, bytes);
}

void NodeMemory::remove(std::uint64_t bytes) noexcept {
    bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    account_.remove(options_.node, purpose_, bytes);
}

std::pmr::memory_resource& NodeMemory::small_blocks(std::size_t bytes, std::size_t alignment) const {
    // A block of a pool is at least as large as its alignment.
    if (options_.pool != nullptr && std::max(bytes, alignment) <= NodePool::most_bytes) return *options_.pool;
    return *page_memory();
}

void* NodeMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
    if (bytes < separate_pages_bytes) {
        alignment = std::max(alignment, line_bytes);
        void* const block = small_blocks(bytes, alignment).allocate(bytes, alignment);
        add(bytes);
        return block;
    }
    void* const pages = map_pages(bytes, alignment, options_.huge_pages && bytes >= huge_page_bytes);
    // A node that was available at construction may be gone: pages are then placed by first touch.
    if (options_.placement == PagePlacement::bound) bind_pages(pages, whole_pages(bytes), options_.node);
    try {
        const std::lock_guard lock(mutex_);
        separate_blocks_.emplace(pages, bytes);
    } catch (...) {
        unmap_pages(pages, bytes);
        throw;
    }
    add(whole_pages(bytes));
    return pages;
}

void NodeMemory::do_deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    if (bytes < separate_pages_bytes) {
        alignment = std::max(alignment, line_bytes);
        remove(bytes);
        small_blocks(bytes, alignment).deallocate(block, bytes, alignment);
        return;
    }
    remove(whole_pages(bytes));
    {
        // Before the pages are unmapped: the next block may have the same address.
        const std::lock_guard lock(mutex_);
        separate_blocks_.erase(block);
    }
    unmap_pages(block, bytes);
}

PagesByNode NodeMemory::pages(std::size_t most_sampled) const {
    // Locked to the end, so that no pages are unmapped meanwhile.
    const std::lock_guard lock(mutex_);
    PagesByNode sum;
    for (const auto& [begin, bytes] : separate_blocks_) sum += find_pages(begin, whole_pages(bytes), most_sampled);
    return sum;
}

PagesByNode& PagesByNode::operator+=(const PagesByNode& other) {
    if (on_node.size() < other.on_node.size()) on_node.resize(other.on_node.size(), 0);
    for (std::size_t node = 0; node < other.on_node.size(); ++node) on_node[node] += other.on_node[node];
    untouched += other.untouched;
    unknown += other.unknown;
    return *this;
}

PagesByNode find_pages(const void* begin, std::size_t bytes, std::size_t most_sampled) {
    PagesByNode found;
    const std::size_t pages = whole_pages(bytes) / page_bytes();
    if (pages == 0) return found;
    // The first page of each stretch is queried.
    const std::size_t stretch = (pages - 1) / std::max<std::size_t>(most_sampled, 1) + 1;
    const std::size_t stretches = (pages - 1) / stretch + 1;
    constexpr std::size_t at_once = 1024;
    std::array<void*, at_once> addresses;
    std::array<int, at_once> nodes;
    for (std::size_t first = 0; first < stretches; first += at_once) {
        const std::size_t count = std::min(at_once, stretches - first);
        for (std::size_t i = 0; i < count; ++i) {
            const auto offset = static_cast<std::ptrdiff_t>((first + i) * stretch * page_bytes());
            addresses[i] = const_cast<std::byte*>(static_cast<const std::byte*>(begin) + offset);
        }
        // Without target nodes, move_pages only reports locations. A refusal leaves the table unchanged.
        nodes.fill(-EPERM);
        static_cast<void>(::syscall(SYS_move_pages, 0, count, addresses.data(), nullptr, nodes.data(), 0));
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t represented = std::min(stretch, pages - (first + i) * stretch) * page_bytes();
            if (nodes[i] >= 0) {
                const auto node = static_cast<std::size_t>(nodes[i]);
                if (found.on_node.size() <= node) found.on_node.resize(node + 1, 0);
                found.on_node[node] += represented;
            } else if (nodes[i] == -ENOENT || nodes[i] == -EFAULT) {
                // Never touched, or only read: then it maps the shared zero page.
                found.untouched += represented;
            } else {
                found.unknown += represented;
            }
        }
    }
    return found;
}

std::uint32_t node_count() {
    // Ascending ranges and numbers: the last number is the highest.
    std::ifstream file("/sys/devices/system/node/online");
    std::string text;
    std::uint32_t highest = 0;
    if (!(file >> text)) return 1;
    const std::size_t last = text.find_last_of(",-");
    const std::string number = last == std::string::npos ? text : text.substr(last + 1);
    for (const char digit : number) highest = highest * 10 + static_cast<std::uint32_t>(digit - '0');
    return std::min(highest, most_nodes - 1) + 1;
}

std::uint32_t current_node() {
    unsigned processor = 0;
    unsigned node = 0;
    return ::syscall(SYS_getcpu, &processor, &node, nullptr) == 0 ? node : 0;
}

}  // namespace ranvier::parallel
