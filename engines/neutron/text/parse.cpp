// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdlib>
#include <optional>
#include <vector>

#include "engines/neutron/text/fields.h"
#include "engines/neutron/text/text.h"

namespace thimble::neutron::text {
namespace {

/// A word and its line number.
struct Word {
  std::string_view text;
  size_t line = 0;
};

/// Splits the text at white space; removes comments, and `,` and `;` at the ends of words.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  size_t line = 1;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n') {
      line += text[at++] == '\n';
      continue;
    }
    const size_t end = std::min(text.find_first_of(" \t\r\n#", at), text.size());
    std::string_view word = text.substr(at, end - at);
    while (!word.empty() && (word.back() == ',' || word.back() == ';')) word.remove_suffix(1);
    if (!word.empty()) words.push_back({word, line});
    at = end;
  }
  return words;
}

template <class T>
bool read_number(std::string_view text, T& value, int base = 10) {
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && last == end;
}

/// Reads at most `most` numbers separated by commas.
template <class T>
bool read_numbers(std::string_view text, std::vector<T>& values, size_t most) {
  for (values.clear(); values.size() < most;) {
    const size_t comma = std::min(text.find(','), text.size());
    T value;
    if (!read_number(text.substr(0, comma), value)) return false;
    values.push_back(value);
    if (comma == text.size()) return true;
    text.remove_prefix(comma + 1);
  }
  return false;
}

bool read_memory(std::string_view name, View& view) {
  const auto numbered = [&](std::string_view start, Memory memory) {
    view.memory = memory;
    return name.starts_with(start) && read_number(name.substr(start.size()), view.index);
  };
  if (name == "scratch" || name == "weights") {
    view.memory = name == "scratch" ? Memory::kScratch : Memory::kWeights;
    return true;
  }
  return numbered("input", Memory::kInput) || numbered("output", Memory::kOutput);
}

bool read_view(std::string_view text, View& view) {
  view = {};
  const size_t open = text.find('[');
  if (open == text.npos || text.back() != ']') return false;
  std::string_view name = text.substr(0, open);
  std::string_view shape = text.substr(open + 1, text.size() - open - 2);
  if (const size_t plus = name.find('+'); plus != name.npos) {
    if (!read_number(name.substr(plus + 1), view.offset)) return false;
    name = name.substr(0, plus);
  }
  std::vector<uint32_t> dims;
  std::vector<int32_t> strides;
  const size_t colon = std::min(shape.find(':'), shape.size());
  if (!read_memory(name, view) || !read_numbers(shape.substr(0, colon), dims, kRankMax)) {
    return false;
  }
  if (colon != shape.size() && (!read_numbers(shape.substr(colon + 1), strides, kRankMax) ||
                                strides.size() != dims.size())) {
    return false;
  }
  view.rank = static_cast<uint8_t>(dims.size());
  int64_t step = 1;
  for (size_t k = kRankMax; k-- > 0;) {
    const bool used = k < dims.size();
    view.dims[k] = used ? dims[k] : 1;
    if (!used) continue;
    view.strides[k] = !strides.empty() ? strides[k] : dims[k] == 1 ? 0 : static_cast<int32_t>(step);
    step = std::min(step * dims[k], int64_t{kBytesMax} + 1);
  }
  return true;
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view label) : words_(words_of(text)), label_(label) {}

  Result<Bytes> parse() {
    THIMBLE_CHECK(head());
    while (at_ < words_.size()) {
      const Word word = next();
      if (word.text == "input") {
        THIMBLE_CHECK(io(word, inputs_));
      } else if (word.text == "output") {
        THIMBLE_CHECK(io(word, outputs_));
      } else if (word.text == "kernel") {
        THIMBLE_CHECK(kernel(word));
      } else {
        return wrong(word, "input, output or kernel");
      }
    }
    return assembled();
  }

 private:
  Word next() { return at_ < words_.size() ? words_[at_++] : Word{{}, last_line()}; }
  [[nodiscard]] std::string_view ahead() const {
    return at_ < words_.size() ? words_[at_].text : std::string_view();
  }
  [[nodiscard]] size_t last_line() const { return words_.empty() ? 1 : words_.back().line; }
  [[nodiscard]] Error wrong(const Word& found, std::string_view expected) const {
    return bad_input("{}:{}: {}, expected {}", label_, found.line,
                     found.text.empty() ? "the text ends" : fmt::format("'{}'", found.text),
                     expected);
  }

  thimble::Status expect(std::string_view word) {
    const Word found = next();
    if (found.text == word) return ok();
    return wrong(found, fmt::format("'{}'", word));
  }
  template <class T>
  thimble::Status number(T& value, int base = 10) {
    const Word found = next();
    if (read_number(found.text, value, base)) return ok();
    return wrong(found, "a number");
  }

  thimble::Status head() {
    THIMBLE_CHECK(expect("list"));
    const auto named = [&](std::string_view name, uint32_t& value) -> thimble::Status {
      THIMBLE_CHECK(expect(name));
      return number(value);
    };
    THIMBLE_CHECK(named("weights", header_.weight_bytes));
    THIMBLE_CHECK(named("scratch", header_.scratch_bytes));
    THIMBLE_CHECK(named("prefetch", header_.prefetch_bytes));
    THIMBLE_CHECK(named("profile", header_.profile_bytes));
    THIMBLE_CHECK(number(header_.cycles));
    THIMBLE_CHECK(expect("cycles"));
    THIMBLE_CHECK(expect("hash"));
    return number(header_.content_hash, 16);
  }

  /// Reads the entry's number, which must equal its position `index`.
  thimble::Status expect_index(size_t index) {
    const Word found = next();
    size_t number = 0;
    if (read_number(found.text, number) && number == index) return ok();
    return wrong(found, fmt::format("number {}", index));
  }

  thimble::Status io(const Word& start, std::vector<IoRecord>& records) {
    THIMBLE_CHECK(expect_index(records.size()));
    if (records.size() == kIoMax) return wrong(start, fmt::format("at most {}", kIoMax));
    IoRecord io = {};
    const Word type = next();
    std::vector<uint32_t> dims;
    if (!type.text.starts_with("int8[") || !type.text.ends_with(']') ||
        !read_numbers(type.text.substr(5, type.text.size() - 6), dims, kRankMax)) {
      return wrong(type, "int8[dimensions]");
    }
    io.rank = static_cast<uint8_t>(dims.size());
    uint64_t bytes = 1;
    for (size_t k = 0; k < kRankMax; ++k) {
      io.dims[k] = k < dims.size() ? dims[k] : 1;
      bytes *= std::min(io.dims[k], kBytesMax + 1);
      if (bytes > kBytesMax) return wrong(type, fmt::format("at most {} elements", kBytesMax));
    }
    io.bytes = static_cast<uint32_t>(bytes);
    if (ahead() == "channels_last") {
      next();
      io.channels_last = 1;
    }
    THIMBLE_CHECK(expect("scale"));
    THIMBLE_CHECK(number_of_scale(io.scale));
    THIMBLE_CHECK(expect("zero"));
    THIMBLE_CHECK(number(io.zero_point));
    records.push_back(io);
    return ok();
  }

  thimble::Status number_of_scale(float& scale) {
    const Word found = next();
    const std::string text(found.text);
    char* end = nullptr;
    scale = std::strtof(text.c_str(), &end);
    if (!text.empty() && *end == '\0') return ok();
    return wrong(found, "a number");
  }

  thimble::Status view(View& view) {
    const Word found = next();
    if (read_view(found.text, view)) return ok();
    return wrong(found, "a view, memory+offset[dimensions:strides]");
  }

  thimble::Status kernel(const Word& start) {
    THIMBLE_CHECK(expect_index(kernels_.size()));
    if (kernels_.size() == kKernelsMax) return wrong(start, fmt::format("at most {}", kKernelsMax));
    KernelRecord record = {};
    const Word name = next();
    bool known = false;
    for (uint32_t code = 1; code <= 255 && !known; ++code) {
      record.kernel = static_cast<Kernel>(code);
      known = name.text == kernel_name(record.kernel) && name.text != "?";
    }
    if (!known) return wrong(name, "a kernel's name");
    while (ahead() != "->") {
      const Word found = at_ < words_.size() ? words_[at_] : next();
      if (record.operand_count == kOperandsMax) return wrong(found, "'->'");
      THIMBLE_CHECK(view(record.operands[record.operand_count++]));
    }
    next();
    THIMBLE_CHECK(view(record.output));
    if (ahead() == "inside") {
      next();
      THIMBLE_CHECK(view(record.padded));
    }
    THIMBLE_CHECK(fields(record));
    kernels_.push_back(record);
    return ok();
  }

  /// Reads pairs of field name and numbers in any order, up to a word that is not a field name.
  thimble::Status fields(KernelRecord& record) {
    for (const Field& field : kFields) {
      for (uint32_t i = 0; i < field.count; ++i) store(record, field, i, field.default_values[i]);
    }
    for (;;) {
      if (ahead() == "function") {
        next();
        THIMBLE_CHECK(function(record.function));
        continue;
      }
      const Field* found = nullptr;
      for (const Field& field : kFields) found = ahead() == field.name ? &field : found;
      if (found == nullptr) return ok();
      next();
      THIMBLE_CHECK(values(record, *found));
    }
  }

  thimble::Status function(Function& function) {
    const Word name = next();
    for (uint32_t code = 0; code <= static_cast<uint32_t>(Function::kRescale); ++code) {
      function = static_cast<Function>(code);
      if (name.text == function_name(function)) return ok();
    }
    return wrong(name, "a function's name");
  }

  thimble::Status values(KernelRecord& record, const Field& field) {
    const Word found = next();
    std::string_view rest = found.text;
    for (uint32_t i = 0; i < field.count; ++i) {
      const size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view one = rest.substr(0, comma);
      const bool last = i + 1 == field.count;
      int64_t value = kAbsent;
      const bool read =
          (field.number == Number::kOffset && one == "none") || read_number(one, value);
      if (!read || (comma == rest.size()) != last || !store(record, field, i, value)) {
        return wrong(found, fmt::format("{} number{} that fit '{}'", field.count,
                                        field.count == 1 ? "" : "s", field.name));
      }
      rest.remove_prefix(last ? comma : comma + 1);
    }
    return ok();
  }

  Bytes assembled() {
    header_.magic = kMagic;
    header_.version = kVersion;
    header_.kernel_count = static_cast<uint32_t>(kernels_.size());
    header_.input_count = static_cast<uint32_t>(inputs_.size());
    header_.output_count = static_cast<uint32_t>(outputs_.size());
    header_.io_offset = sizeof(Header);
    const size_t tensors = (inputs_.size() + outputs_.size()) * sizeof(IoRecord);
    header_.kernels_offset = aligned(static_cast<uint32_t>(sizeof(Header) + tensors));
    header_.program_bytes =
        header_.kernels_offset + header_.kernel_count * static_cast<uint32_t>(sizeof(KernelRecord));
    Bytes bytes;
    append_record(bytes, header_);
    for (const IoRecord& io : inputs_) append_record(bytes, io);
    for (const IoRecord& io : outputs_) append_record(bytes, io);
    bytes.resize(header_.kernels_offset);
    for (const KernelRecord& record : kernels_) append_record(bytes, record);
    return bytes;
  }

  std::vector<Word> words_;
  std::string label_;
  size_t at_ = 0;
  Header header_ = {};
  std::vector<IoRecord> inputs_, outputs_;
  std::vector<KernelRecord> kernels_;
};

}  // namespace

Result<Bytes> parse(std::string_view text, std::string_view label) {
  return Parser(text, label).parse();
}

}  // namespace thimble::neutron::text
