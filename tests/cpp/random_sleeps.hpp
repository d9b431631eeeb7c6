#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace ranvier {

/// While it lives, a random other thread of the process is made to sleep now and then, at whatever instruction it is: by a
/// signal, so that what is tested needs no place for it. Sleeps take up to 400 microseconds, many times a visit of a shard.
class RandomSleeps {
   public:
    explicit RandomSleeps(std::uint32_t seed) : random_(seed) {
        struct sigaction action{};
        action.sa_handler = sleep;
        action.sa_flags = SA_RESTART;
        sigaction(SIGUSR2, &action, &before_);
        thread_ = std::thread([this] { disturb(); });
    }
    ~RandomSleeps() {
        ends_ = true;
        thread_.join();
        sigaction(SIGUSR2, &before_, nullptr);
    }
    RandomSleeps(const RandomSleeps&) = delete;
    RandomSleeps& operator=(const RandomSleeps&) = delete;

    /// How many sleeps there were in the process so far.
    static std::uint64_t count() { return count_.load(); }

   private:
    static void sleep(int) {
        const int error = errno;
        const std::uint64_t number = count_.fetch_add(1, std::memory_order_relaxed);
        const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(number * 7919 % 400) * 1000};
        nanosleep(&time, nullptr);
        errno = error;
    }

    static std::vector<pid_t> others() {
        std::vector<pid_t> threads;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
            const auto thread = static_cast<pid_t>(std::stol(entry.path().filename().string()));
            if (thread != static_cast<pid_t>(syscall(SYS_gettid))) threads.push_back(thread);
        }
        return threads;
    }

    void disturb() {
        while (!ends_) {
            for (const pid_t thread : others()) {
                // One that has ended meanwhile does not get it.
                if (random_() % 2 == 0) syscall(SYS_tgkill, getpid(), thread, SIGUSR2);
            }
            const timespec time{.tv_sec = 0, .tv_nsec = static_cast<long>(random_() % 100) * 1000};
            nanosleep(&time, nullptr);
        }
    }

    static inline std::atomic<std::uint64_t> count_{0};
    std::mt19937 random_;
    struct sigaction before_{};
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

}  // namespace ranvier
