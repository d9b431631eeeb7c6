#include "comm/lone_communicator.hpp"

#include <cstring>
#include <string>

#include "ranvier/base/errors.hpp"

namespace ranvier::comm {

void require(bool holds, const char* what) {
    if (!holds) throw InternalError(std::string("communicator without other processes: ") + what);
}

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
    require(from.size() == to.size(), "the sizes sent and received differ");
    if (!from.empty() && from.data() != to.data()) std::memmove(to.data(), from.data(), from.size());
}

std::span<std::byte> part(std::span<std::byte> whole, std::size_t begin, std::size_t size) {
    require(begin <= whole.size() && size <= whole.size() - begin, "beyond the end of a buffer");
    return whole.subspan(begin, size);
}

}  // namespace ranvier::comm
