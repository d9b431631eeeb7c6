#include "parallel/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace ranvier::parallel {

namespace {

namespace filesystem = std::filesystem;

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

bool lists(const std::string& text, std::string_view word) {
    const std::vector<std::string> words = split(text, ',');
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Paths in mountinfo contain blanks and similar characters as \ and three octal digits.
std::string unescape(const std::string& text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string digits = text.substr(i).starts_with('\\') ? text.substr(i + 1, 3) : std::string();
        if (digits.size() == 3 && digits.find_first_not_of("01234567") == std::string::npos) {
            plain += static_cast<char>(std::stoi(digits, nullptr, 8));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

/// A hierarchy of control groups that can limit processes, and the group of this process.
struct Hierarchy {
    bool second_version = false;
    std::string group;  ///< of the process, from the root of the hierarchy
};

std::vector<Hierarchy> hierarchies_of_this_process(const filesystem::path& root, std::string_view controller) {
    std::vector<Hierarchy> found;
    std::ifstream file(root / "proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const bool second_version = controllers.empty();
        if (second_version || lists(controllers, controller))
            found.push_back({second_version, line.substr(second + 1)});
    }
    return found;
}

/// The folders of a hierarchy: that of the process's group, and that of the highest visible group.
struct Folders {
    filesystem::path group;
    filesystem::path highest;
};

std::vector<Folders> find_folders(const filesystem::path& root, std::string_view controller) {
    const std::vector<Hierarchy> hierarchies = hierarchies_of_this_process(root, controller);
    std::vector<Folders> found;
    std::ifstream file(root / "proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        // number, parent, device, root within the file system, mount point, options, any more, "-", type, source, options
        const std::vector<std::string> words = split(line, ' ');
        const auto dash = std::find(words.begin(), words.end(), "-");
        if (words.size() < 6 || words.end() - dash < 4) continue;
        for (const Hierarchy& hierarchy : hierarchies) {
            const bool fits =
                hierarchy.second_version ? dash[1] == "cgroup2" : dash[1] == "cgroup" && lists(dash[3], controller);
            if (!fits) continue;
            const filesystem::path highest = root / filesystem::path(unescape(words[4])).relative_path();
            // A container may see only its group, mounted as if it were the highest.
            const filesystem::path below = filesystem::path(hierarchy.group).lexically_relative(unescape(words[3]));
            const bool outside = below.empty() || std::find(below.begin(), below.end(), "..") != below.end();
            found.push_back({outside || below == "." ? highest : highest / below, highest});
        }
    }
    return found;
}

}  // namespace

std::vector<filesystem::path> control_groups(std::string_view controller, const filesystem::path& root) {
    std::vector<filesystem::path> groups;
    for (const Folders& folders : find_folders(root, controller)) {
        for (filesystem::path folder = folders.group;; folder = folder.parent_path()) {
            groups.push_back(folder);
            if (folder == folders.highest || folder == folder.parent_path()) break;
        }
    }
    return groups;
}

}  // namespace ranvier::parallel
