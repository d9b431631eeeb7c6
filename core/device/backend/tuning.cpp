#include "device/backend/tuning.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <system_error>

#include "device/kernel/block.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::device {

namespace {

constexpr std::string_view variable_name = "RANVIER_DEVICE_TUNING";

u32 number_of(std::string_view key, std::string_view value, u32 most) {
    u32 number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number > most) {
        throw ValueOutOfBoundsError({.object = std::string(variable_name),
                                     .value = std::string(key) + "=" + std::string(value),
                                     .bound = "it is a whole number up to " + std::to_string(most),
                                     .remedy = "correct it, or leave it out"});
    }
    return number;
}

}  // namespace

Tuning read_tuning(std::string_view text) {
    constexpr u32 most_threads = 1024;
    Tuning tuning;
    while (!text.empty()) {
        const std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(item.size() < text.size() ? item.size() + 1 : item.size());
        const std::size_t sign = item.find('=');
        const std::string_view key = item.substr(0, sign);
        const std::string_view value = sign == std::string_view::npos ? "" : item.substr(sign + 1);
        if (key == "threads") {
            tuning.threads = number_of(key, value, most_threads);
        } else if (key == "shared") {
            tuning.shared_bytes = number_of(key, value, UINT32_MAX);
        } else if (key == "registers") {
            tuning.has_registers = number_of(key, value, 1) != 0;
        } else if (key == "split") {
            tuning.may_split = number_of(key, value, 1) != 0;
        } else if (key == "clocks") {
            tuning.clocks = value;
        } else {
            constexpr std::array<std::string_view, 5> keys{"threads", "shared", "registers", "split", "clocks"};
            throw unknown_name(variable_name, key, keys);
        }
    }
    return tuning;
}

namespace {

std::string_view name_of(Part part) {
    switch (part) {
        case Part::begin:
            return "begin";
        case Part::fill:
            return "fill";
        case Part::receive_rows:
            return "receive_rows";
        case Part::receive:
            return "receive";
        case Part::pulse:
            return "pulse";
        case Part::arrive:
            return "arrive";
        case Part::update:
            return "update";
        case Part::nodes:
            return "nodes";
        case Part::eliminate:
            return "eliminate";
        case Part::substitute:
            return "substitute";
        case Part::finish:
            return "finish";
        case Part::publish:
            return "publish";
        case Part::gather:
            return "gather";
        case Part::list:
            return "list";
        case Part::rows:
            return "rows";
        case Part::deliver:
            return "deliver";
        case Part::settle:
            return "settle";
        case Part::rest:
            return "rest";
        case Part::spill:
            return "spill";
        case Part::done:
            break;
    }
    throw InternalError("name of a part of a step");
}

}  // namespace

void write_clocks(const std::string& path, std::span<const u64> clocks, i64 steps) {
    const std::size_t blocks = clocks.size() / part_count;
    std::string text =
        "{\"steps\": " + std::to_string(steps) + ", \"blocks\": " + std::to_string(blocks) + ", \"parts\": {";
    for (std::size_t part = 0; part < part_count; ++part) {
        u64 all = 0;
        u64 most = 0;
        for (std::size_t b = 0; b < blocks; ++b) {
            all += clocks[b * part_count + part];
            most = std::max(most, clocks[b * part_count + part]);
        }
        text += std::string(part == 0 ? "" : ", ") + "\"" + std::string(name_of(static_cast<Part>(part))) +
                "\": {\"mean\": " + std::to_string(all / blocks) + ", \"most\": " + std::to_string(most) + "}";
    }
    std::ofstream file(path);
    file << text << "}}\n";
    file.close();
    if (!file) {
        throw StateError({.object = "file of clocks",
                          .value = path,
                          .bound = "it cannot be written",
                          .remedy = "name another one in RANVIER_DEVICE_TUNING"});
    }
}

}  // namespace ranvier::device
