#include "ranvier/parallel/node_pool.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <memory>

#include "ranvier/base/page_memory.hpp"

namespace ranvier::parallel {

namespace {

/// The pages do not come from another pool.
NodeMemoryOptions of_pages(NodeMemoryOptions options) {
    options.pool = nullptr;
    return options;
}

/// Size of a block in the pools. GCC 12's have sizes such as 192 and align their first block only, so that 150 bytes
/// would not be aligned to 128.
std::size_t padded(std::size_t bytes, std::size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

NodePool::NodePool(MemoryAccount& account, MemoryPurpose unused, NodeMemoryOptions options)
    : account_(account),
      unused_(unused),
      node_(options.node),
      pages_(account, unused, of_pages(options)),
      // Few blocks at a time, so that a size with only one block wastes little memory.
      blocks_({.max_blocks_per_chunk = 16, .largest_required_pool_block = most_bytes}, &pieces_) {}

NodePool::Pieces::~Pieces() {
    for (const Block& block : blocks_) pages_.deallocate(block.begin, block.bytes);
}

void* NodePool::Pieces::do_allocate(std::size_t bytes, std::size_t alignment) {
    void* place = next_;
    if (place == nullptr || std::align(alignment, bytes, place, left_) == nullptr) {
        // Large enough for pages of its own, whose beginning has any alignment that is asked for here.
        const std::size_t whole = std::max(separate_pages_bytes, whole_pages(bytes));
        blocks_.reserve(blocks_.size() + 1);
        place = pages_.allocate(whole, alignment);
        blocks_.push_back({place, whole});
        left_ = whole;
    }
    next_ = static_cast<std::byte*>(place) + bytes;
    left_ -= bytes;
    return place;
}

void* NodePool::do_allocate(std::size_t bytes, std::size_t alignment) {
    const std::lock_guard lock(mutex_);
    void* const block = blocks_.allocate(padded(bytes, alignment), alignment);
    assert(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
    account_.remove(node_, unused_, bytes);
    return block;
}

void NodePool::do_deallocate(void* block, std::size_t bytes, std::size_t alignment) {
    const std::lock_guard lock(mutex_);
    blocks_.deallocate(block, padded(bytes, alignment), alignment);
    account_.add(node_, unused_, bytes);
}

}  // namespace ranvier::parallel
