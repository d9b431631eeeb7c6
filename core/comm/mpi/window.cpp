#include "comm/mpi/window.hpp"

#include <utility>

namespace ranvier::comm::mpi {

namespace {

class MpiWindow final : public Window {
   public:
    MpiWindow(std::shared_ptr<const Group> group, std::size_t bytes)
        : group_(std::move(group)), bytes_(bytes), window_(bytes, group_->collective.get()) {}

    std::span<std::byte> memory() override { return {static_cast<std::byte*>(window_.memory()), bytes_}; }

    void put(std::span<const std::byte> data, Rank target, std::size_t offset) override {
        group_->for_each_piece(data, [&](std::span<const std::byte> piece) {
            const auto place = static_cast<MPI_Aint>(offset + static_cast<std::size_t>(piece.data() - data.data()));
            const int count = static_cast<int>(piece.size());
            check_mpi(MPI_Put(piece.data(), count, MPI_BYTE, target.value, place, count, MPI_BYTE, window_.get()),
                      "MPI_Put");
        });
    }

    // Not MPI_Win_fence, which has no variant that yields the processor while it waits.
    void fence() override {
        check_mpi(MPI_Win_flush_all(window_.get()), "MPI_Win_flush_all");
        check_mpi(MPI_Win_sync(window_.get()), "MPI_Win_sync");
        group_->barrier();
        check_mpi(MPI_Win_sync(window_.get()), "MPI_Win_sync");
    }

   private:
    std::shared_ptr<const Group> group_;
    std::size_t bytes_;
    WindowHandle window_;
};

}  // namespace

std::unique_ptr<Window> make_mpi_window(std::shared_ptr<const Group> group, std::size_t bytes) {
    return std::make_unique<MpiWindow>(std::move(group), bytes);
}

}  // namespace ranvier::comm::mpi
