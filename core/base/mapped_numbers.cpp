#include "ranvier/base/mapped_numbers.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "ranvier/base/errors.hpp"

namespace ranvier {

namespace {

class OpenFile {
   public:
    explicit OpenFile(const std::string& path) : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (descriptor_ < 0) fail("it cannot be opened: " + std::generic_category().message(errno));
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() { ::close(descriptor_); }

    std::uint64_t bytes() const {
        struct stat status{};
        if (::fstat(descriptor_, &status) != 0) {
            fail("its length is not known: " + std::generic_category().message(errno));
        }
        return static_cast<std::uint64_t>(status.st_size);
    }
    std::shared_ptr<const void> map(std::uint64_t bytes) const {
        void* const pages = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor_, 0);
        if (pages == MAP_FAILED) fail("it cannot be mapped: " + std::generic_category().message(errno));
        return {pages, [bytes](void* mapped) { ::munmap(mapped, bytes); }};
    }
    [[noreturn]] void fail(std::string bound) const {
        throw FileError({.object = "file " + path_,
                         .value = {},
                         .bound = std::move(bound),
                         .remedy = "make what the file is part of again"});
    }

   private:
    const std::string& path_;
    int descriptor_;
};

template <class Number>
SharedNumbers<Number> map_numbers(const std::string& path, std::uint64_t size) {
    const OpenFile file(path);
    if (const std::uint64_t bytes = file.bytes(); bytes != size * sizeof(Number)) {
        file.fail("it has " + std::to_string(bytes) + " bytes instead of " + std::to_string(size * sizeof(Number)));
    }
    if (size == 0) return {};
    const std::shared_ptr<const void> pages = file.map(size * sizeof(Number));
    return SharedNumbers<Number>::in_file(std::shared_ptr<const Number>(pages, static_cast<const Number*>(pages.get())),
                                          size);
}

}  // namespace

SharedArray map_array(const std::string& path, std::uint64_t size) { return map_numbers<double>(path, size); }
SharedIndices map_indices(const std::string& path, std::uint64_t size) {
    return map_numbers<std::uint64_t>(path, size);
}

}  // namespace ranvier
