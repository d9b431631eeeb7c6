#include "ranvier/parallel/crowding.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "parallel/processors.hpp"

namespace ranvier::parallel {

RunDelay::RunDelay() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

RunDelay::~RunDelay() {
    if (file_ >= 0) ::close(file_);
}

std::chrono::nanoseconds RunDelay::read() const {
    std::array<char, 96> text;
    const ssize_t length = file_ < 0 ? -1 : ::pread(file_, text.data(), text.size(), 0);
    if (length > 0) {
        // Time on the processor, time waiting for one, number of slices.
        const char* const end = text.data() + length;
        const char* const second = std::find<const char*>(text.data(), end, ' ');
        std::int64_t delay = 0;
        if (second != end && std::from_chars(second + 1, end, delay).ec == std::errc{}) {
            return std::chrono::nanoseconds(delay);
        }
    }
    rusage usage{};
    if (::getrusage(RUSAGE_THREAD, &usage) != 0) return {};
    return std::chrono::milliseconds(usage.ru_nivcsw);
}

Crowding::Crowding(std::span<const Place> places, CrowdingOptions options)
    : options_(std::move(options)),
      watches_(std::make_unique<Watch[]>(places.size())),
      size_(static_cast<std::uint32_t>(places.size())),
      active_workers_(size_, options_.active_workers),
      hold_(options_.hold.count()) {
    if (options_.processors.empty()) options_.processors = available_processors();
    for (std::size_t worker = 0; worker < places.size(); ++worker)
        watches_[worker].processor = places[worker].processor;
}

Crowding::~Crowding() = default;

bool Crowding::begin(std::uint32_t worker) {
    Watch& watch = watches_[worker];
    if (options_.make_delay) {
        watch.delay = options_.make_delay(worker);
    } else {
        watch.delay = [delay = std::make_shared<RunDelay>()] { return delay->read(); };
    }
    if (watch.processor >= 0 && !pin_to_processor(watch.processor)) watch.processor = -1;
    watch.bound_to = watch.processor;
    begin_job(worker);
    return watch.processor >= 0;
}

void Crowding::begin_job(std::uint32_t worker) {
    Watch& watch = watches_[worker];
    watch.checked = nanoseconds();
    watch.delayed = watch.delay().count();
}

std::vector<std::int64_t> Crowding::recent_delays() const {
    std::vector<std::int64_t> delays(size_);
    for (std::uint32_t worker = 0; worker < size_; ++worker) {
        delays[worker] = watches_[worker].recent.load(std::memory_order_relaxed);
    }
    return delays;
}

void Crowding::check_now(Watch& watch, std::int64_t now) {
    const std::int64_t delayed = watch.delay().count();
    const auto passed = static_cast<double>(now - watch.checked);
    const bool is_delayed = static_cast<double>(delayed - watch.delayed) > options_.share * passed;
    watch.sum += delayed - watch.delayed;
    watch.recent.store(watch.recent.load(std::memory_order_relaxed) / 2 + delayed - watch.delayed,
                       std::memory_order_relaxed);
    watch.checked = now;
    watch.delayed = delayed;
    {
        // Workers check concurrently: a crowding just begun by one must not seem long over to another.
        const std::lock_guard lock(mutex_);
        if (is_crowded()) {
            if (now > crowded_until_) end_crowding(now);
        } else if (is_delayed && gathered_at_.load(std::memory_order_relaxed) < 0 &&
                   (watch.was_delayed || was_crowded(now))) {
            begin_crowding(now);
        }
    }
    watch.was_delayed = is_delayed;
    settle(watch);
}

void Crowding::settle(Watch& watch) {
    if (watch.processor < 0) return;
    const int together = gathered_at_.load(std::memory_order_relaxed);
    const int wanted = together >= 0 ? together : is_crowded() ? -1 : watch.processor;
    if (wanted == watch.bound_to) return;
    watch.bound_to = wanted;
    if (wanted < 0 || !pin_to_processor(wanted)) pin_to_processors(options_.processors);
}

void Crowding::follow(Watch& watch) {
    watch.gathering = gatherings_.load(std::memory_order_acquire);
    settle(watch);
    const std::int64_t delayed = watch.delay().count();
    watch.sum += delayed - watch.delayed;
    watch.delayed = delayed;
    watch.checked = nanoseconds();
    watch.was_delayed = false;
}

bool Crowding::was_crowded(std::int64_t now) const {
    return crowdings_.load(std::memory_order_relaxed) > 0 && now - ended_.load(std::memory_order_relaxed) < hold_;
}

void Crowding::begin_crowding(std::int64_t now) {
    if (is_crowded_.exchange(true, std::memory_order_relaxed)) return;
    hold_ = was_crowded(now) ? std::min<std::int64_t>(3 * hold_, options_.longest_hold.count())
                             : std::int64_t{options_.hold.count()};
    crowdings_.fetch_add(1, std::memory_order_relaxed);
    began_ = now;
    crowded_until_ = now + hold_;
}

void Crowding::end_crowding(std::int64_t now) {
    if (!is_crowded_.exchange(false, std::memory_order_relaxed)) return;
    ended_.store(now, std::memory_order_relaxed);
    crowded_before_ += now - began_;
}

CrowdingCounts Crowding::counts() const {
    std::int64_t delayed = 0;
    std::int64_t crowded = crowded_before_;
    std::int64_t last_check = 0;
    for (std::uint32_t worker = 0; worker < size_; ++worker) {
        const Watch& watch = watches_[worker];
        delayed += watch.sum;
        last_check = std::max(last_check, watch.checked);
    }
    if (is_crowded()) crowded += last_check - began_;
    return {.delayed_seconds = 1e-9 * static_cast<double>(delayed),
            .crowded_seconds = 1e-9 * static_cast<double>(crowded),
            .crowdings = crowdings_.load(std::memory_order_relaxed)};
}

}  // namespace ranvier::parallel
