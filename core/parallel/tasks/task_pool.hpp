#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace ranvier::parallel {

/// Objects that many workers take and return frequently, without allocation once there are enough of them.
///
/// Each worker has a cache; whole batches move between the caches through a common stock, since the workers that take
/// objects are often not those that return them. Memory is first touched by the worker that takes it first.
///
/// @tparam Object has a member `Object* next`, used by the pool while the object is in it; constructed once, and reused
/// as returned
template <class Object>
class TaskPool {
   public:
    /// The free objects of one worker.
    class Cache {
        friend class TaskPool;
        Object* first = nullptr;
        std::size_t count = 0;
    };

    Object* take(Cache& cache) {
        if (cache.first == nullptr) refill(cache);
        Object* const object = cache.first;
        cache.first = object->next;
        --cache.count;
        return object;
    }

    void give_back(Cache& cache, Object* object) {
        object->next = cache.first;
        cache.first = object;
        if (++cache.count >= 2 * batch) store_batch(cache);
    }

    /// Returns all objects to the pool. Called while none is in use. @param caches all caches
    template <class Caches>
    void collect(Caches&& caches) {
        for (Cache* const cache : caches) *cache = Cache{};
        batches_.clear();
        for (const auto& slab : slabs_) batches_.push_back(chain(slab.get()));
    }

   private:
    static constexpr std::size_t batch = 64;

    static Object* chain(Object* slab) {
        for (std::size_t i = 0; i + 1 < batch; ++i) slab[i].next = &slab[i + 1];
        slab[batch - 1].next = nullptr;
        return slab;
    }

    void refill(Cache& cache) {
        {
            const std::lock_guard lock(mutex_);
            if (!batches_.empty()) {
                cache.first = batches_.back();
                batches_.pop_back();
            }
        }
        if (cache.first == nullptr) {
            auto slab = std::make_unique<Object[]>(batch);
            cache.first = chain(slab.get());
            const std::lock_guard lock(mutex_);
            slabs_.push_back(std::move(slab));
        }
        cache.count = batch;
    }

    void store_batch(Cache& cache) {
        Object* const first = cache.first;
        Object* last = first;
        for (std::size_t i = 0; i + 1 < batch; ++i) last = last->next;
        cache.first = last->next;
        cache.count -= batch;
        last->next = nullptr;
        const std::lock_guard lock(mutex_);
        batches_.push_back(first);
    }

    std::mutex mutex_;
    std::vector<Object*> batches_;
    std::vector<std::unique_ptr<Object[]>> slabs_;
};

}  // namespace ranvier::parallel
