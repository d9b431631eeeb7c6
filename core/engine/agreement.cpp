#include "engine/agreement.hpp"

#include <cstdio>
#include <cstdlib>

namespace ranvier::engine {

void end_all(comm::Communicator& communicator, const std::exception_ptr& failure) {
    std::string reason;
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        reason = error.what();
    } catch (...) {
        reason = "unknown";
    }
    std::fprintf(stderr, "ranvier: rank %d: %s\nranvier: this ends the run on all %d ranks\n",
                 communicator.rank().value, reason.c_str(), communicator.size());
    std::fflush(stderr);
    communicator.abort(1);
    std::abort();
}

}  // namespace ranvier::engine
