#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ranvier/base/errors.hpp"
#include "ranvier/base/mapped_numbers.hpp"

namespace TEST_FILE {

using namespace ranvier;

/// A file of numbers that is deleted at the end.
class NumberFile {
   public:
    template <class Number>
    explicit NumberFile(const std::vector<Number>& numbers)
        : path_(std::filesystem::temp_directory_path() / ("ranvier_mapped_" + std::to_string(::getpid()))) {
        std::ofstream file(path_, std::ios::binary);
        file.write(reinterpret_cast<const char*>(numbers.data()),
                   static_cast<std::streamsize>(numbers.size() * sizeof(Number)));
    }
    NumberFile(const NumberFile&) = delete;
    NumberFile& operator=(const NumberFile&) = delete;
    ~NumberFile() { std::filesystem::remove(path_); }
    std::string path() const { return path_.string(); }
    void remove() const { std::filesystem::remove(path_); }

   private:
    std::filesystem::path path_;
};

TEST(MappedNumbers, AreThoseOfTheFile) {
    const std::vector<double> numbers{1.5, -2.0, 0.0};
    const NumberFile file(numbers);
    const SharedArray mapped = map_array(file.path(), 3);
    file.remove();
    EXPECT_EQ(std::vector<double>(mapped.begin(), mapped.end()), numbers);
    EXPECT_EQ(mapped.bytes(), 0U);  // the system may drop the pages
    EXPECT_EQ(SharedArray(numbers).bytes(), 24U);
}

TEST(MappedNumbers, RefuseFilesOfAnotherLength) {
    const NumberFile file(std::vector<std::uint64_t>{1, 2, 3});
    EXPECT_EQ(map_indices(file.path(), 3)[2], 3U);
    EXPECT_THROW(map_indices(file.path(), 2), FileError);
    EXPECT_THROW(map_indices(file.path(), 4), FileError);
    EXPECT_THROW(map_indices(file.path() + "x", 3), FileError);
    EXPECT_TRUE(map_indices(NumberFile(std::vector<std::uint64_t>{}).path(), 0).empty());
}

}  // namespace TEST_FILE
