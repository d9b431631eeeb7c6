#include "comm/mpi/window.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ranvier/base/errors.hpp"

namespace ranvier::comm::mpi {

namespace {

/// Tags of empty messages, above those of Communicator::send().
constexpr int open_tag = 1024;     // of a process that awaits a write
constexpr int written_tag = 1025;  // of one that has written

void check(int code, const char* call) { check_mpi(code, call, another_exchange); }

void put(const Group& group, const WindowHandle& window, std::size_t offset, const Window::Write& write) {
    group.for_each_piece(write.data, [&](std::span<const std::byte> piece) {
        const auto place = static_cast<MPI_Aint>(offset + static_cast<std::size_t>(piece.data() - write.data.data()));
        const int count = static_cast<int>(piece.size());
        check(MPI_Put(piece.data(), count, MPI_BYTE, write.target.value, place, count, MPI_BYTE, window.get()),
              "MPI_Put");
    });
}

/// Exchanges empty messages.
void notify(const Group& group, const Rank* to, const Rank* from, int tag) {
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Comm communicator = group.point_to_point.get();
    if (from != nullptr) {
        check(MPI_Irecv(nullptr, 0, MPI_BYTE, from->value, tag, communicator, &requests[0]), "MPI_Irecv");
    }
    if (to != nullptr) {
        check(MPI_Isend(nullptr, 0, MPI_BYTE, to->value, tag, communicator, &requests[1]), "MPI_Isend");
    }
    group.wait(requests);
}

/// All slots in one window of MPI, in an access epoch of the same lifetime.
class FlushedWindow : public Window {
   public:
    FlushedWindow(std::shared_ptr<const Group> group, std::span<const std::size_t> slots)
        : group_(std::move(group)),
          sizes_(slots.begin(), slots.end()),
          offsets_(offsets_of(slots)),
          window_(offsets_.back(), group_->collective.get(), WindowHandle::Access::any_time) {}

    std::span<std::byte> slot(std::size_t index) final { return {memory() + offset_of(index), sizes_.at(index)}; }

   protected:
    const Group& group() const { return *group_; }
    MPI_Win window() const { return window_.get(); }
    std::size_t slot_count() const { return sizes_.size(); }
    std::byte* memory() const { return static_cast<std::byte*>(window_.memory()); }
    /// A number before each slot, for the derived class.
    static constexpr std::size_t mark_bytes = sizeof(std::uint64_t);
    std::size_t offset_of(std::size_t slot) const { return offsets_[slot] + mark_bytes; }
    std::size_t mark_of(std::size_t slot) const { return offsets_[slot]; }

    /// Returns when the data are in the memory of the target.
    void put_completely(const Write& write) const {
        put(*group_, window_, offset_of(write.slot), write);
        flush(write.target);
    }
    void flush(Rank target) const { check(MPI_Win_flush(target.value, window()), "MPI_Win_flush"); }
    void synchronize_memory() const { check(MPI_Win_sync(window()), "MPI_Win_sync"); }

   private:
    /// Of the slots with their marks, which are aligned; the last one is the end.
    static std::vector<std::size_t> offsets_of(std::span<const std::size_t> slots) {
        std::vector<std::size_t> offsets{0};
        for (const std::size_t bytes : slots) {
            const std::size_t words = (bytes + mark_bytes - 1) / mark_bytes;
            offsets.push_back(offsets.back() + (1 + words) * mark_bytes);
        }
        return offsets;
    }

    std::shared_ptr<const Group> group_;
    std::vector<std::size_t> sizes_;
    std::vector<std::size_t> offsets_;
    WindowHandle window_;
};

/// Not MPI_Win_fence, which has no variant that yields the processor while it waits; it does the same.
class FenceWindow final : public FlushedWindow {
   public:
    using FlushedWindow::FlushedWindow;

    void step(const std::optional<Write>& write, const std::optional<Expected>& /*expected*/) override {
        if (write) put_completely(*write);
        synchronize_memory();
        group().barrier();
        synchronize_memory();
    }
};

/// Each slot in a window of MPI: MPICH takes the early post of another process for that of the target, and MPI_Win_start
/// never returns. On the window of a slot, only one process posts to this one, and only one waits for it.
class PartnersWindow final : public Window {
   public:
    PartnersWindow(std::shared_ptr<const Group> group, std::span<const std::size_t> slots)
        : group_(std::move(group)), sizes_(slots.begin(), slots.end()) {
        for (const std::size_t bytes : slots) {
            windows_.push_back(
                std::make_unique<WindowHandle>(bytes, group_->collective.get(), WindowHandle::Access::in_epochs));
        }
    }

    std::span<std::byte> slot(std::size_t index) override {
        return {static_cast<std::byte*>(windows_.at(index)->memory()), sizes_[index]};
    }

    void step(const std::optional<Write>& write, const std::optional<Expected>& expected) override {
        if (expected) {
            check(MPI_Win_post(group_of(expected->origin), 0, windows_.at(expected->slot)->get()), "MPI_Win_post");
        }
        if (group_->yields_processors()) {
            // MPI_Win_start waits for the target, but does not yield the processor: it is called when the target has
            // opened its window.
            notify(*group_, expected ? &expected->origin : nullptr, write ? &write->target : nullptr, open_tag);
        }
        if (write) {
            const WindowHandle& window = *windows_.at(write->slot);
            check(MPI_Win_start(group_of(write->target), 0, window.get()), "MPI_Win_start");
            put(*group_, window, 0, *write);
            check(MPI_Win_complete(window.get()), "MPI_Win_complete");
        }
        if (expected) wait_for_write(windows_[expected->slot]->get());
    }

   private:
    void wait_for_write(MPI_Win window) const {
        if (!group_->yields_processors()) {
            check(MPI_Win_wait(window), "MPI_Win_wait");
            return;
        }
        Idle idle;
        for (;;) {
            int done = 0;
            check(MPI_Win_test(window, &done), "MPI_Win_test");
            if (done != 0) return;
            idle.pass();
        }
    }

    MPI_Group group_of(Rank rank) {
        auto found = groups_.find(rank.value);
        if (found == groups_.end()) {
            found = groups_.emplace(rank.value, GroupHandle(group_->collective.get(), rank.value)).first;
        }
        return found->second.get();
    }

    std::shared_ptr<const Group> group_;
    std::vector<std::size_t> sizes_;
    std::vector<std::unique_ptr<WindowHandle>> windows_;
    std::map<int, GroupHandle> groups_;  ///< of the partners
};

class FlushWindow final : public FlushedWindow {
   public:
    using FlushedWindow::FlushedWindow;

    void step(const std::optional<Write>& write, const std::optional<Expected>& expected) override {
        if (write) put_completely(*write);
        synchronize_memory();
        notify(group(), write ? &write->target : nullptr, expected ? &expected->origin : nullptr, written_tag);
        synchronize_memory();
    }
};

class CounterWindow final : public FlushedWindow {
   public:
    CounterWindow(std::shared_ptr<const Group> group, std::span<const std::size_t> slots)
        : FlushedWindow(std::move(group), slots), written_(slots.size()), read_(slots.size()) {
        int* model = nullptr;
        int found = 0;
        check(MPI_Win_get_attr(window(), MPI_WIN_MODEL, static_cast<void*>(&model), &found), "MPI_Win_get_attr");
        if (found == 0 || *model != MPI_WIN_UNIFIED) {
            throw CommunicationError({.object = "windows of " + mpi_library_name(),
                                      .value = "separate public and private memory",
                                      .bound = "a process cannot poll what others write into its memory",
                                      .remedy = "choose exchange=rma_allgather, or another method"});
        }
        for (std::size_t i = 0; i < slot_count(); ++i) std::memset(memory() + mark_of(i), 0, mark_bytes);
        synchronize_memory();
        this->group().barrier();
    }

    void step(const std::optional<Write>& write, const std::optional<Expected>& expected) override {
        if (write) {
            put_completely(*write);
            const std::uint64_t number = ++written_.at(write->slot);
            check(MPI_Accumulate(&number, 1, MPI_UINT64_T, write->target.value,
                                 static_cast<MPI_Aint>(mark_of(write->slot)), 1, MPI_UINT64_T, MPI_REPLACE, window()),
                  "MPI_Accumulate");
            flush(write->target);
        }
        if (expected) wait_for(mark_of(expected->slot), ++read_.at(expected->slot));
    }

   private:
    void wait_for(std::size_t offset, std::uint64_t number) {
        const std::atomic_ref<std::uint64_t> mark(*reinterpret_cast<std::uint64_t*>(memory() + offset));
        constexpr int looks_per_turn = 64;
        Idle idle;
        for (;;) {
            for (int look = 0; look < looks_per_turn; ++look) {
                if (mark.load(std::memory_order_acquire) == number) {
                    synchronize_memory();
                    return;
                }
            }
            // Some libraries write only while the target calls them.
            int found = 0;
            check(MPI_Iprobe(MPI_ANY_SOURCE, written_tag, group().collective.get(), &found, MPI_STATUS_IGNORE),
                  "MPI_Iprobe");
            synchronize_memory();
            if (group().yields_processors()) idle.pass();
        }
    }

    std::vector<std::uint64_t> written_;  ///< number of writes to a slot of the other process
    std::vector<std::uint64_t> read_;  ///< number of those to a slot of this one that were awaited
};

}  // namespace

std::unique_ptr<Window> make_mpi_window(std::shared_ptr<const Group> group, std::span<const std::size_t> slots,
                                        WindowSync sync) {
    switch (sync) {
        case WindowSync::fence:
            return std::make_unique<FenceWindow>(std::move(group), slots);
        case WindowSync::partners:
            return std::make_unique<PartnersWindow>(std::move(group), slots);
        case WindowSync::flush:
            return std::make_unique<FlushWindow>(std::move(group), slots);
        case WindowSync::counter:
            return std::make_unique<CounterWindow>(std::move(group), slots);
    }
    throw InternalError("window: no such synchronization");
}

}  // namespace ranvier::comm::mpi
