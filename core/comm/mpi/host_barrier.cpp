#include "comm/mpi/host_barrier.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstddef>
#include <ctime>
#include <new>
#include <random>
#include <string>

namespace ranvier::comm::mpi {

HostBarrier::~HostBarrier() {
    if (shared_ != nullptr) ::munmap(shared_, sizeof(Shared));
    if (file_ >= 0) ::close(file_);
}

bool HostBarrier::map(int file) {
    void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) return false;
    shared_ = static_cast<Shared*>(memory);
    return true;
}

HostBarrier::Address HostBarrier::make() {
    // An unnamed file: removed however the processes end.
    file_ = ::memfd_create("ranvier", MFD_CLOEXEC);
    if (file_ < 0 || ::ftruncate(file_, sizeof(Shared)) != 0 || !map(file_)) return {};
    ::new (static_cast<void*>(shared_)) Shared{};
    std::random_device random;
    const std::uint64_t secret = (std::uint64_t{random()} << 32) | random();
    shared_->secret.store(secret);
    return {.process = ::getpid(), .file = file_, .secret = secret};
}

bool HostBarrier::join(const Address& address) {
    if (address.process <= 0 || address.file < 0) return false;
    const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
    // In containers process numbers may be local, so that this may be the file of another process.
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return false;
    struct stat found{};
    const bool is_mapped = ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
                           found.st_size == static_cast<off_t>(sizeof(Shared)) && map(file);
    ::close(file);
    return is_mapped && shared_->secret.load() == address.secret;
}

void HostBarrier::begin(std::uint32_t processes) {
    processes_ = processes;
    if (file_ >= 0) ::close(file_);
    file_ = -1;
}

std::uint64_t HostBarrier::arrive() {
    local_arrivals_ += processes_;
    const std::uint64_t all = shared_->arrivals.fetch_add(1, std::memory_order_seq_cst) + 1;
    // The arrival that completes a collective, even one that this process has not reached.
    if (all % processes_ != 0) return local_arrivals_;
    shared_->complete.fetch_add(1, std::memory_order_seq_cst);
    if (shared_->sleepers.load(std::memory_order_seq_cst) > 0) {
        ::syscall(SYS_futex, &shared_->complete, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }
    return local_arrivals_;
}

void HostBarrier::sleep(std::uint64_t arrivals, std::chrono::nanoseconds longest) {
    using Clock = std::chrono::steady_clock;
    constexpr std::int64_t second = 1'000'000'000;
    const std::timespec time{.tv_sec = longest.count() / second, .tv_nsec = longest.count() % second};
    const Clock::time_point begin = Clock::now();
    // Sleepers increment their count before they check, and the last arrival is counted before it checks for sleepers,
    // so that one of them sees the other. A completion between the two checks here changes the value that the futex
    // compares.
    shared_->sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t seen = shared_->complete.load(std::memory_order_seq_cst);
    if (shared_->arrivals.load(std::memory_order_seq_cst) < arrivals) {
        ::syscall(SYS_futex, &shared_->complete, FUTEX_WAIT, seen, &time, nullptr, 0);
    }
    shared_->sleepers.fetch_sub(1, std::memory_order_relaxed);
    asleep_.fetch_add((Clock::now() - begin) / std::chrono::nanoseconds(1), std::memory_order_relaxed);
}

}  // namespace ranvier::comm::mpi
