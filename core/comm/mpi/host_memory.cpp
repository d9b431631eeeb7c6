#include "comm/mpi/host_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>

namespace ranvier::comm::mpi {

namespace {

/// In front of the memory, which stays aligned to pages: the secret.
std::size_t header_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

HostMemory::~HostMemory() {
    if (begin_ != nullptr) ::munmap(begin_ - header_bytes(), header_bytes() + size_);
    close();
}

bool HostMemory::map(int file, std::size_t bytes) {
    void* const memory = ::mmap(nullptr, header_bytes() + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) return false;
    begin_ = static_cast<std::byte*>(memory) + header_bytes();
    size_ = bytes;
    return true;
}

HostMemory::Address HostMemory::make(std::size_t bytes) {
    file_ = ::memfd_create("ranvier", MFD_CLOEXEC);
    if (file_ < 0 || ::ftruncate(file_, static_cast<off_t>(header_bytes() + bytes)) != 0 || !map(file_, bytes)) {
        return {};
    }
    std::random_device random;
    const std::uint64_t secret = (std::uint64_t{random()} << 32) | random();
    std::memcpy(begin_ - header_bytes(), &secret, sizeof secret);
    return {.process = ::getpid(), .file = file_, .secret = secret};
}

bool HostMemory::join(const Address& address, std::size_t bytes) {
    if (address.process <= 0 || address.file < 0) return false;
    const std::string path = "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.file);
    // In containers process numbers may be local, so that this may be the file of another process.
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return false;
    struct stat found{};
    const bool is_mapped = ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) &&
                           found.st_size == static_cast<off_t>(header_bytes() + bytes) && map(file, bytes);
    ::close(file);
    std::uint64_t secret = 0;
    if (is_mapped) std::memcpy(&secret, begin_ - header_bytes(), sizeof secret);
    return is_mapped && secret == address.secret;
}

void HostMemory::close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
}

}  // namespace ranvier::comm::mpi
