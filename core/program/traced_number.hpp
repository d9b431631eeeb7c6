#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "ranvier/program/program.hpp"

/// Programs that follow from C++ code: a function that is a template of its number type is called with TracedNumber, and
/// its operations are appended to a program instead of being carried out.
namespace ranvier::program {

class TracedTruth;
class Tracer;

/// A value of the program of a Tracer, or a constant.
class TracedNumber {
   public:
    TracedNumber() = default;
    // Implicit, as conversions from literals to the number type of a template are.
    TracedNumber(double constant) : constant_(constant) {}  // NOLINT(google-explicit-constructor)

    friend TracedNumber operator+(TracedNumber a, TracedNumber b) { return apply(Operation::add, {a, b}); }
    friend TracedNumber operator-(TracedNumber a, TracedNumber b) { return apply(Operation::subtract, {a, b}); }
    friend TracedNumber operator*(TracedNumber a, TracedNumber b) { return apply(Operation::multiply, {a, b}); }
    friend TracedNumber operator/(TracedNumber a, TracedNumber b) { return apply(Operation::divide, {a, b}); }
    friend TracedNumber operator-(TracedNumber a) { return apply(Operation::negate, {a}); }
    friend TracedNumber exp(TracedNumber a) { return apply(Operation::exp, {a}); }
    friend TracedTruth operator<(TracedNumber a, TracedNumber b);
    friend TracedTruth operator<=(TracedNumber a, TracedNumber b);
    friend TracedTruth operator>(TracedNumber a, TracedNumber b);
    friend TracedTruth operator>=(TracedNumber a, TracedNumber b);
    friend TracedTruth operator==(TracedNumber a, TracedNumber b);

   private:
    friend class Tracer;
    TracedNumber(Tracer* tracer, std::uint32_t value) : tracer_(tracer), value_(value) {}
    static TracedNumber apply(Operation operation, std::initializer_list<TracedNumber> operands);
    static TracedTruth compare(Operation operation, TracedNumber a, TracedNumber b);

    Tracer* tracer_ = nullptr;  ///< null: a constant
    std::uint32_t value_ = 0;
    double constant_ = 0.0;
};

/// A truth of a program. Where C++ code needs a bool, Tracer::follow() takes one of both paths after the other.
class TracedTruth {
   public:
    // Implicit, as the results of comparisons are bools elsewhere.
    operator bool() const;  // NOLINT(google-explicit-constructor)

   private:
    friend class Tracer;
    friend class TracedNumber;
    TracedTruth(Tracer* tracer, std::uint32_t value) : tracer_(tracer), value_(value) {}
    explicit TracedTruth(bool constant) : constant_(constant) {}

    Tracer* tracer_ = nullptr;  ///< null: a constant
    std::uint32_t value_ = 0;
    bool constant_ = false;
};

/// Writes a program while C++ code is called. Equal instructions become one. Numbers and truths must not outlive it.
class Tracer {
   public:
    explicit Tracer(std::vector<Type> inputs) { made_.inputs = std::move(inputs); }
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    TracedNumber number(std::size_t input) { return {this, static_cast<std::uint32_t>(input)}; }
    TracedTruth truth(std::size_t input) { return {this, static_cast<std::uint32_t>(input)}; }

    /// The numbers that a function without side effects returns, selected by the truths on which it branches. It is
    /// called once for each path, so it should branch on few.
    /// @throws InternalError after 2^10 calls
    std::vector<TracedNumber> follow(const std::function<std::vector<TracedNumber>()>& function);

    TracedNumber select(TracedTruth truth, TracedNumber a, TracedNumber b);

    /// Adds a result. Results are in the order of these calls.
    void give(TracedNumber number) { made_.results.push_back(value_of(number)); }
    /// @pre not constant
    void give(TracedTruth truth) { made_.results.push_back(truth.value_); }
    Program finish() && { return std::move(made_); }

   private:
    friend class TracedNumber;
    friend class TracedTruth;
    struct Decision {
        std::uint32_t truth;
        bool taken;
    };

    std::uint32_t value(Operation operation, std::vector<std::uint32_t> operands, double number = 0.0);
    std::uint32_t value_of(TracedNumber number);
    bool decide(std::uint32_t truth);
    std::vector<TracedNumber> follow(const std::function<std::vector<TracedNumber>()>& function,
                                     const std::vector<Decision>& begin);

    Program made_;
    /// Values by operation, operands and bits of the number.
    std::map<std::tuple<Operation, std::vector<std::uint32_t>, std::uint64_t>, std::uint32_t> values_;
    std::vector<Decision> path_;  ///< decisions of the present call, in their order
    std::size_t calls_ = 0;
};

}  // namespace ranvier::program
