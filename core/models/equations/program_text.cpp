#include "ranvier/models/equations/program_text.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/subnormals.hpp"
#include "ranvier/base/errors.hpp"

namespace ranvier::models {

namespace {

using program::Instruction;
using program::Operation;
using program::Program;

constexpr std::string_view first_words = "ranvier neuron program";

void add_text(std::string& text, std::string_view more) { text += more; }
template <std::integral Whole>
void add_text(std::string& text, Whole more) {
    text += std::to_string(more);
}

template <class... Parts>
std::string joined(const Parts&... parts) {
    std::string text;
    (add_text(text, parts), ...);
    return text;
}

std::string hexadecimal(std::uint64_t number, std::size_t digits) {
    std::string text(digits, '0');
    for (std::size_t i = digits; i-- > 0; number >>= 4) text[i] = "0123456789abcdef"[number & 0xf];
    return text;
}

/// Visits all fields of a description in the order of the text. The writer and the reader are such visitors, so that
/// each field is listed once.
/// @param form has line(key, values...), lines(key, elements, visit) and program(name, program)
template <class Form, class Description>
void visit_fields(Form& form, Description& model) {
    form.line("name", model.name);
    form.line("summary", model.summary);
    form.line("equations", model.equations);
    form.line("reference", model.reference);
    form.lines("receptor", model.receptors, [&](auto& receptor) { form.line("receptor", receptor); });
    form.line("sign_chooses_receptor", model.sign_chooses_receptor);
    form.line("weight_unit", model.weight_unit);
    form.line("takes_current", model.takes_current);
    form.lines("parameter", model.parameters, [&](auto& parameter) {
        form.line("parameter", parameter.name, parameter.unit, parameter.default_value, parameter.bounds.lower,
                  parameter.bounds.lower_open, parameter.bounds.upper, parameter.bounds.upper_open, parameter.meaning);
    });
    form.lines("variable", model.variables, [&](auto& variable) {
        form.line("variable", variable.name, variable.unit, variable.initial_parameter, variable.initial_value,
                  variable.meaning);
    });
    form.lines("derived", model.derived,
               [&](auto& derived) { form.line("derived", derived.name, derived.unit, derived.meaning); });
    form.program("prepare", model.prepare);
    form.lines("condition", model.conditions,
               [&](auto& condition) { form.line("condition", condition.result, condition.text); });
    form.lines("propagator", model.propagators, [&](auto& propagator) {
        form.line("propagator", propagator.size, propagator.entries);
        form.lines("output", propagator.outputs,
                   [&](auto& output) { form.line("output", output.row, output.column, output.constant); });
    });
    form.line("constants", model.constants);
    form.line("refractory", model.refractory);
    form.program("step", model.step);
    form.program("observe", model.observe);
    form.line("failure", model.failure);
}

// ---- writing ---------------------------------------------------------------------------------------------------------

class TextWriter {
   public:
    template <class... Values>
    void line(std::string_view key, const Values&... values) {
        text_ += key;
        (put(values), ...);
        text_ += '\n';
    }

    template <class Element, class Visit>
    void lines(std::string_view /*key*/, const std::vector<Element>& elements, Visit visit) {
        for (const Element& element : elements) visit(element);
    }

    void program(std::string_view name, const Program& program) {
        text_ += joined("program ", name, "\n");
        body(program, "  ");
    }

    std::string finish(std::uint64_t fingerprint) {
        text_ += joined("fingerprint ", hexadecimal(fingerprint, 16), "\n");
        return std::move(text_);
    }

   private:
    void put(const std::string& value) {
        text_ += " \"";
        for (const char letter : value) {
            if (letter == '\n') {
                text_ += "\\n";
            } else if (static_cast<unsigned char>(letter) < 0x20) {
                text_ += joined("\\x", hexadecimal(static_cast<unsigned char>(letter), 2));
            } else {
                if (letter == '"' || letter == '\\') text_ += '\\';
                text_ += letter;
            }
        }
        text_ += '"';
    }
    void put(bool value) { text_ += value ? " true" : " false"; }
    void put(std::uint32_t value) { text_ += joined(" ", value); }
    /// With enough digits to be read back exactly.
    void put(double value) { text_ += ' ' + ranvier::to_text(value); }
    void put(const std::optional<std::uint32_t>& value) { text_ += value ? joined(" ", *value) : " none"; }
    void put(const std::vector<std::int32_t>& values) {
        for (const std::int32_t value : values) text_ += joined(" ", value);
    }

    void values(const std::vector<std::uint32_t>& values) {
        for (const std::uint32_t value : values) text_ += joined(" v", value);
    }

    void body(const Program& program, const std::string& indent) {
        text_ += indent + "inputs";
        for (const program::Type type : program.inputs) text_ += joined(" ", to_string(type));
        text_ += '\n';
        std::size_t value = program.inputs.size();
        for (const Instruction& instruction : program.instructions) {
            text_ += joined(indent, "v", value, " = ", to_string(instruction.operation));
            if (instruction.operation == Operation::loop) put(instruction.count);
            if (has_number(instruction.operation)) put(instruction.number);
            values(instruction.operands);
            text_ += '\n';
            if (instruction.body != nullptr) body(*instruction.body, indent + "  ");
            value += value_count(instruction);
        }
        text_ += indent + "results";
        values(program.results);
        text_ += '\n' + indent + "end\n";
    }

    static bool has_number(Operation operation) {
        return operation == Operation::constant || operation == Operation::loop || is_draw(operation);
    }

    friend class TextReader;

    std::string text_ = joined(first_words, " ", program_text_version, "\n");
};

// ---- reading ---------------------------------------------------------------------------------------------------------

class TextReader {
   public:
    TextReader(std::string_view text, std::string_view source) : rest_(text), source_(source) {
        next_line();
        const std::string wanted = joined(first_words, " ", program_text_version);
        if (line_ != wanted) {
            refuse(line_.starts_with(first_words)
                       ? "it has another version, which this version of Ranvier does not read"
                       : "it is not a neuron model that `ranvier compile` has written");
        }
        next_line();
    }

    template <class... Values>
    void line(std::string_view key, Values&... values) {
        if (key_ != key) refuse(joined("there must be a line that begins with '", key, "'"));
        (take(values), ...);
        finish_line();
    }

    template <class Element, class Visit>
    void lines(std::string_view key, std::vector<Element>& elements, Visit visit) {
        while (key_ == key) visit(elements.emplace_back());
    }

    void program(std::string_view name, Program& program) {
        if (key_ != "program" || word() != name) refuse(joined("there must be the line 'program ", name, "'"));
        finish_line();
        instructions_ = 0;
        program = body(0);
    }

    /// Reads the fingerprint, which is the last line.
    std::uint64_t finish() {
        if (key_ != "fingerprint") refuse("there must be the fingerprint");
        const std::string_view digits = word();
        std::uint64_t fingerprint = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), fingerprint, 16);
        if (digits.size() != 16 || error != std::errc{} || end != digits.data() + digits.size()) {
            refuse("a fingerprint has 16 hexadecimal digits");
        }
        if (!line_.empty() || !rest_.empty()) refuse("nothing may follow the fingerprint");
        return fingerprint;
    }

    [[noreturn]] void refuse(std::string bound) const {
        throw FileError({.object = joined("line ", number_, " of ", source_),
                         .value = "",
                         .bound = std::move(bound),
                         .remedy = "write the file again, with `ranvier compile`"});
    }

   private:
    static constexpr std::string_view blanks = " ";

    /// Reads the next line and its first word, the key.
    void next_line() {
        const std::size_t end = rest_.find('\n');
        // A text whose last line has no line end is truncated.
        if (end == std::string_view::npos) {
            number_ += rest_.empty() ? 0 : 1;
            refuse("the file is truncated");
        }
        line_ = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        ++number_;
        if (number_ == 1) return;
        line_.remove_prefix(std::min(line_.find_first_not_of(blanks), line_.size()));
        key_ = word();
    }

    void finish_line() {
        if (!line_.empty()) refuse(joined("'", line_.substr(0, 40), "' is left over"));
        next_line();
    }

    /// The next word of the line; empty at its end.
    std::string_view word() {
        const std::string_view found = line_.substr(0, std::min(line_.find_first_of(blanks), line_.size()));
        line_.remove_prefix(found.size());
        line_.remove_prefix(std::min(line_.find_first_not_of(blanks), line_.size()));
        return found;
    }

    template <class Number>
    Number number_of(std::string_view digits) const {
        Number value{};
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc{} || end != digits.data() + digits.size()) {
            refuse(joined("'", digits.substr(0, 40), "' is not a valid number"));
        }
        return value;
    }

    void take(std::string& value) {
        if (!line_.starts_with('"')) refuse("a quoted text is missing");
        std::size_t i = 1;
        for (; i < line_.size() && line_[i] != '"'; ++i) {
            if (line_[i] != '\\') {
                value += line_[i];
                continue;
            }
            const char letter = ++i < line_.size() ? line_[i] : ' ';
            if (letter == 'n') {
                value += '\n';
            } else if (letter == 'x' && i + 2 < line_.size()) {
                std::uint8_t code = 0;
                const auto [end, error] = std::from_chars(&line_[i + 1], &line_[i + 1] + 2, code, 16);
                if (error != std::errc{} || end != &line_[i + 1] + 2) refuse("two hexadecimal digits follow \\x");
                value += static_cast<char>(code);
                i += 2;
            } else if (letter == '"' || letter == '\\') {
                value += letter;
            } else {
                refuse("one of n, x, \" and \\ follows a backslash");
            }
        }
        if (i >= line_.size()) refuse("the text has no closing quote");
        line_.remove_prefix(i + 1);
        if (!line_.empty() && !line_.starts_with(' ')) refuse("a blank must follow a text");
        line_.remove_prefix(std::min(line_.find_first_not_of(blanks), line_.size()));
    }
    void take(bool& value) {
        const std::string_view found = word();
        if (found != "true" && found != "false") refuse("'true' or 'false' is missing");
        value = found == "true";
    }
    void take(std::uint32_t& value) { value = number_of<std::uint32_t>(word()); }
    void take(double& value) { value = number_of<double>(word()); }
    void take(std::optional<std::uint32_t>& value) {
        const std::string_view found = word();
        if (found != "none") value = number_of<std::uint32_t>(found);
    }
    void take(std::vector<std::int32_t>& values) {
        while (!line_.empty()) values.push_back(number_of<std::int32_t>(word()));
    }
    void take_values(std::vector<std::uint32_t>& values) {
        while (!line_.empty()) {
            std::string_view found = word();
            if (!found.starts_with('v')) refuse("values, such as v3, are missing");
            found.remove_prefix(1);
            values.push_back(number_of<std::uint32_t>(found));
        }
    }

    Program body(std::size_t depth) {
        Program made;
        if (key_ != "inputs") refuse("there must be the inputs of a program");
        while (!line_.empty()) made.inputs.push_back(type_of(word()));
        finish_line();
        std::size_t value = made.inputs.size();
        while (key_.starts_with('v')) {
            if (key_ != joined("v", value) || word() != "=") {
                refuse(joined("there must be the instruction of v", value));
            }
            made.instructions.push_back(instruction(depth));
            value += value_count(made.instructions.back());
        }
        if (key_ != "results") refuse("there must be an instruction or the results of the program");
        take_values(made.results);
        finish_line();
        line("end");
        return made;
    }

    Instruction instruction(std::size_t depth) {
        if (++instructions_ > program::most_instructions) {
            refuse(joined("a program has at most ", program::most_instructions, " instructions"));
        }
        Instruction made{.operation = operation_of(word())};
        const bool is_loop = made.operation == Operation::loop;
        if (is_loop) take(made.count);
        if (TextWriter::has_number(made.operation)) {
            take(made.number);
            made.number = without_subnormal(made.number);
        }
        take_values(made.operands);
        finish_line();
        if (is_loop) {
            if (depth == program::deepest_loop) {
                refuse(joined("nested loops can be ", program::deepest_loop, " deep"));
            }
            made.body = std::make_shared<const Program>(body(depth + 1));
        }
        return made;
    }

    Operation operation_of(std::string_view name) const {
        try {
            return program::parse_operation(name);
        } catch (const UnknownNameError&) {
            refuse(joined("'", name.substr(0, 40), "' is not an operation"));
        }
    }
    program::Type type_of(std::string_view name) const {
        try {
            return program::parse_type(name);
        } catch (const UnknownNameError&) {
            refuse(joined("'", name.substr(0, 40), "' is not the type of a value"));
        }
    }

    std::string_view rest_;  ///< the lines after this one
    std::string_view line_;  ///< the rest of this line
    std::string_view key_;   ///< the first word of this line
    std::string_view source_;
    std::size_t number_ = 0;  ///< of this line, from 1
    std::size_t instructions_ = 0;
};

}  // namespace

std::string program_text(const ProgramDescription& description) {
    TextWriter writer;
    visit_fields(writer, description);
    return writer.finish(fingerprint_of(description));
}

ProgramDescription parse_program(std::string_view text, std::string_view source) {
    TextReader reader(text, source);
    ProgramDescription made;
    visit_fields(reader, made);
    const std::uint64_t fingerprint = reader.finish();
    check(made);
    if (fingerprint_of(made) != fingerprint) {
        reader.refuse("the fingerprint is not that of the model: the file was changed after it was written");
    }
    return made;
}

ProgramDescription read_program_file(const std::filesystem::path& path) {
    const std::string source = "file " + path.string();
    const auto refuse = [&](std::string bound) {
        throw FileError({.object = source, .value = "", .bound = std::move(bound), .remedy = "check the path"});
    };
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) refuse("there is no such regular file");
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error) refuse("it cannot be read: " + error.message());
    if (size > longest_program_text) refuse(joined("it has more than ", longest_program_text, " bytes"));
    std::string text(static_cast<std::size_t>(size), '\0');
    std::ifstream file(path, std::ios::binary);
    if (!file.read(text.data(), static_cast<std::streamsize>(size))) refuse("it cannot be read");
    return parse_program(text, source);
}

}  // namespace ranvier::models
