#include "program/traced_number.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "program/evaluate.hpp"
#include "program/operations.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::program {

namespace {

constexpr std::size_t most_calls = 1024;

}  // namespace

TracedNumber TracedNumber::apply(Operation operation, std::initializer_list<TracedNumber> operands) {
    const auto* const traced = std::ranges::find_if(operands, [](const auto& each) { return each.tracer_ != nullptr; });
    if (traced == operands.end()) {
        std::vector<double> numbers;
        for (const TracedNumber& each : operands) numbers.push_back(each.constant_);
        return evaluate(operation, numbers);
    }
    Tracer& tracer = *traced->tracer_;
    std::vector<std::uint32_t> values;
    for (const TracedNumber& each : operands) values.push_back(tracer.value_of(each));
    return {&tracer, tracer.value(operation, std::move(values))};
}

TracedTruth TracedNumber::compare(Operation operation, TracedNumber a, TracedNumber b) {
    const TracedNumber made = apply(operation, {a, b});
    return made.tracer_ != nullptr ? TracedTruth(made.tracer_, made.value_)
                                   : TracedTruth(lane::is_true(made.constant_));
}

TracedTruth operator<(TracedNumber a, TracedNumber b) { return TracedNumber::compare(Operation::less, a, b); }
TracedTruth operator<=(TracedNumber a, TracedNumber b) { return TracedNumber::compare(Operation::less_equal, a, b); }
TracedTruth operator>(TracedNumber a, TracedNumber b) { return b < a; }
TracedTruth operator>=(TracedNumber a, TracedNumber b) { return b <= a; }
TracedTruth operator==(TracedNumber a, TracedNumber b) { return TracedNumber::compare(Operation::equal, a, b); }

TracedTruth::operator bool() const { return tracer_ != nullptr ? tracer_->decide(value_) : constant_; }

std::uint32_t Tracer::value(Operation operation, std::vector<std::uint32_t> operands, double number) {
    const auto next = static_cast<std::uint32_t>(made_.inputs.size() + made_.instructions.size());
    const auto [found, is_new] = values_.try_emplace({operation, operands, std::bit_cast<std::uint64_t>(number)}, next);
    if (is_new) {
        made_.instructions.push_back({.operation = operation, .operands = std::move(operands), .number = number});
    }
    return found->second;
}

std::uint32_t Tracer::value_of(TracedNumber number) {
    return number.tracer_ != nullptr ? number.value_ : value(Operation::constant, {}, number.constant_);
}

TracedNumber Tracer::select(TracedTruth truth, TracedNumber a, TracedNumber b) {
    if (truth.tracer_ == nullptr) return truth.constant_ ? a : b;
    const std::uint32_t first = value_of(a);
    const std::uint32_t second = value_of(b);
    if (first == second) return a;
    return {this, value(Operation::select, {truth.value_, first, second})};
}

bool Tracer::decide(std::uint32_t truth) {
    const auto found = std::ranges::find(path_, truth, &Decision::truth);
    if (found != path_.end()) return found->taken;
    path_.push_back({truth, true});
    return true;
}

std::vector<TracedNumber> Tracer::follow(const std::function<std::vector<TracedNumber>()>& function) {
    calls_ = 0;
    return follow(function, {});
}

/// The numbers of all paths that begin with some decisions.
std::vector<TracedNumber> Tracer::follow(const std::function<std::vector<TracedNumber>()>& function,
                                         const std::vector<Decision>& begin) {
    if (++calls_ > most_calls) throw InternalError("a traced function branches too often");
    path_ = begin;
    std::vector<TracedNumber> numbers = function();
    std::vector<Decision> path = path_;
    while (path.size() > begin.size()) {
        const std::uint32_t truth = path.back().truth;
        path.back().taken = false;
        const std::vector<TracedNumber> others = follow(function, path);
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = select({this, truth}, numbers[i], others[i]);
        path.pop_back();
    }
    return numbers;
}

}  // namespace ranvier::program
