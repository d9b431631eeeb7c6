#include "parallel/tasks/sleepers.hpp"

#include <algorithm>

namespace ranvier::parallel {

namespace {

constexpr std::uint64_t one_searching = 1;
constexpr std::uint64_t one_lying = std::uint64_t{1} << 32;

bool has_searching(std::uint64_t state) { return static_cast<std::uint32_t>(state) > 0; }
bool has_lying(std::uint64_t state) { return state >= one_lying; }

}  // namespace

Sleepers::Sleepers(std::span<const std::uint32_t> companies)
    : size_(static_cast<std::uint32_t>(companies.size())), workers_(std::make_unique<Worker[]>(companies.size())) {
    for (std::uint32_t worker = 0; worker < size_; ++worker) {
        workers_[worker].company = companies[worker];
        company_count_ = std::max(company_count_, companies[worker] + 1);
    }
    companies_ = std::make_unique<Company[]>(company_count_);
    // Nothing is allocated later.
    for (std::uint32_t worker = 0; worker < size_; ++worker) company_of(worker).lying.reserve(size_);
}

void Sleepers::reset() {
    for (std::uint32_t worker = 0; worker < size_; ++worker) workers_[worker].bed.store(up);
    for (std::uint32_t i = 0; i < company_count_; ++i) {
        companies_[i].state.store(0);
        companies_[i].lying.clear();
    }
}

void Sleepers::begin_search(std::uint32_t worker) { company_of(worker).state.fetch_add(one_searching); }

bool Sleepers::end_search(std::uint32_t worker) {
    const std::uint64_t state = company_of(worker).state.fetch_sub(one_searching) - one_searching;
    return !has_searching(state) && has_lying(state);
}

void Sleepers::lie_down(std::uint32_t worker) {
    Company& company = company_of(worker);
    const std::lock_guard lock(company.mutex);
    company.lying.push_back(worker);
    workers_[worker].bed.store(lying);
    company.state.fetch_add(one_lying - one_searching);
}

void Sleepers::get_up(std::uint32_t worker) {
    Company& company = company_of(worker);
    bool still_there = false;
    {
        const std::lock_guard lock(company.mutex);
        still_there = take_out(company, worker);
    }
    // A worker that was chosen waits until it is woken. Otherwise that would wake it from its next sleep.
    if (still_there) {
        workers_[worker].bed.store(up);
    } else {
        sleep(worker);
    }
}

void Sleepers::sleep(std::uint32_t worker) {
    std::atomic<std::uint32_t>& bed = workers_[worker].bed;
    while (bed.load() != woken) bed.wait(lying);
    bed.store(up);
}

void Sleepers::wake_for(std::uint32_t owner, std::uint32_t by) {
    if (owner != by && workers_[owner].bed.load() == lying) {
        Company& company = company_of(owner);
        bool chosen = false;
        {
            const std::lock_guard lock(company.mutex);
            chosen = take_out(company, owner);
        }
        if (chosen) {
            wake(owner);
            return;
        }
    }
    wake_one_near(owner);
}

void Sleepers::wake_one_near(std::uint32_t worker) {
    Company& company = company_of(worker);
    const std::uint64_t state = company.state.load();
    if (has_searching(state) || !has_lying(state)) return;
    std::uint32_t chosen = 0;
    {
        const std::lock_guard lock(company.mutex);
        if (company.lying.empty() || has_searching(company.state.load())) return;
        chosen = company.lying.back();
        take_out(company, chosen);
    }
    wake(chosen);
}

void Sleepers::wake_all() {
    for (std::uint32_t worker = 0; worker < size_; ++worker) {
        Company& company = company_of(worker);
        bool chosen = false;
        {
            const std::lock_guard lock(company.mutex);
            chosen = take_out(company, worker);
        }
        if (chosen) wake(worker);
    }
}

void Sleepers::wake(std::uint32_t worker) {
    // A read as well: others must see it before this thread looks whether anybody waits.
    workers_[worker].bed.exchange(woken);
    workers_[worker].bed.notify_one();
}

bool Sleepers::take_out(Company& company, std::uint32_t worker) {
    const auto found = std::find(company.lying.begin(), company.lying.end(), worker);
    if (found == company.lying.end()) return false;
    company.lying.erase(found);
    company.state.fetch_sub(one_lying - one_searching);
    return true;
}

}  // namespace ranvier::parallel
