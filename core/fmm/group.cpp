#include "fmm/group.hpp"

#include <algorithm>

namespace ranvier::fmm {

namespace {

class LoneGroup final : public SolverGroup {
   public:
    std::uint32_t size() const override { return 1; }
    std::uint32_t member() const override { return 0; }
    void sum(std::span<std::uint64_t> /*values*/) override {}
    void find_greatest(std::span<std::uint64_t> /*values*/) override {}
    std::vector<std::size_t> exchange_counts(std::span<const std::size_t> counts) override {
        return {counts.begin(), counts.end()};
    }
    void exchange(std::span<const std::byte> send, std::span<const std::size_t> /*send_counts*/,
                  std::span<std::byte> receive, std::span<const std::size_t> /*receive_counts*/) override {
        std::ranges::copy(send, receive.begin());
    }
};

}  // namespace

SolverGroup& lone_group() {
    static LoneGroup group;
    return group;
}

}  // namespace ranvier::fmm
