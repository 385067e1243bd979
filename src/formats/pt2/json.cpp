// SPDX-License-Identifier: Apache-2.0
#include "formats/pt2/json.h"

#include <limits>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/control_characters.h"

namespace thimble::formats::pt2::json {

namespace {

/// Shortens a text for a message and replaces control characters.
std::string clipped(std::string_view text, size_t length_max) {
  std::string shown = base::without_control_characters(text.substr(0, length_max), '?');
  return text.size() > length_max ? shown + "..." : shown;
}

}  // namespace

/// Receives the events of nlohmann-json's parser, which parses without recursion.
class TapeWriter : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TapeWriter(Document& document) : document_(document) {}

  bool null() override { return push(Kind::kNull, 0); }
  bool boolean(bool value) override { return push(value ? Kind::kTrue : Kind::kFalse, 0); }
  bool number_integer(int64_t value) override {
    // Bit 59 is the sign bit; the reader sign-extends the value.
    const int64_t inline_max = (int64_t{1} << 59) - 1;
    if (value <= inline_max && value >= -inline_max) {
      return push(Kind::kInt, static_cast<uint64_t>(value) & Document::kPayloadMask);
    }
    document_.big_integers_.push_back(value);
    return push(Kind::kBigInt, document_.big_integers_.size() - 1);
  }
  bool number_unsigned(uint64_t value) override {
    // A number beyond int64 is valid only where a float is expected.
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return push_float(static_cast<double>(value));
    }
    return number_integer(static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string&) override { return push_float(value); }
  bool string(std::string& value) override { return push_string(value); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool key(std::string& value) override { return push_string(value); }
  bool start_object(size_t) override { return open(Kind::kObject); }
  bool start_array(size_t) override { return open(Kind::kArray); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    failure_ = fmt::format("byte {}: {}", position, reason(error.what()));
    return false;
  }

  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  /// Extracts the useful clause of nlohmann-json's message, whose format is
  /// "[json.exception.parse_error.101] parse error at line 1, column 8: syntax error while ...".
  /// The clause may quote the whole rest of the text.
  static std::string reason(std::string_view what) {
    const size_t colon = what.find(": ");
    if (colon != std::string_view::npos) what.remove_prefix(colon + 2);
    return clipped(what, 160);
  }
  bool push(Kind kind, uint64_t payload) {
    document_.tape_.push_back((static_cast<uint64_t>(kind) << 60) | payload);
    return true;
  }
  bool push_float(double value) {
    document_.floats_.push_back(value);
    return push(Kind::kFloat, document_.floats_.size() - 1);
  }
  bool push_string(const std::string& value) {
    const uint64_t offset = document_.characters_.size();
    document_.characters_ += value;
    return push(Kind::kString, (offset << 28) | value.size());
  }
  bool open(Kind kind) {
    if (open_.size() == kDepthMax) {
      failure_ = fmt::format("nested more than {} levels deep", kDepthMax);
      return false;
    }
    open_.push_back(document_.tape_.size());
    return push(kind, 0);
  }
  bool close() {
    document_.tape_[open_.back()] |= document_.tape_.size();
    open_.pop_back();
    return true;
  }

  Document& document_;
  std::vector<size_t> open_;
  std::string failure_;
};

Result<Document> Document::parse(Bytes text, std::string label) {
  Document document;
  document.label_ = std::move(label);
  if (text.size() > kTextBytesMax) {
    return bad_input("{}: {} bytes, at most {} are read", document.label_, text.size(),
                     kTextBytesMax);
  }
  const std::string_view characters = as_text(text);
  document.characters_.reserve(text.size());
  TapeWriter writer(document);
  if (!nlohmann::json::sax_parse(characters.begin(), characters.end(), &writer)) {
    return bad_input("{}: {}", document.label_, writer.failure());
  }
  return document;
}

std::string_view Document::string(size_t index) const {
  const uint64_t place = payload(index);
  return std::string_view(characters_).substr(place >> 28, place & kTextBytesMax);
}

int64_t Document::integer(size_t index) const {
  if (kind(index) == Kind::kBigInt) return big_integers_[payload(index)];
  constexpr uint64_t kSign = uint64_t{1} << 59;
  return static_cast<int64_t>((payload(index) ^ kSign) - kSign);
}

size_t Document::end(size_t index) const {
  const Kind kind_here = kind(index);
  const bool is_container = kind_here == Kind::kObject || kind_here == Kind::kArray;
  return is_container ? payload(index) : index + 1;
}

/// Descends from the root, each time into the child that contains `index`.
std::string Document::path(size_t index) const {
  std::string path;
  size_t here = 0;
  while (here != index) {
    const bool is_object = kind(here) == Kind::kObject;
    size_t position = 0;
    size_t child = here + 1;
    std::string_view key;
    while (true) {
      if (is_object) key = string(child++);
      if (index < end(child)) break;  // always true for some child: the parent ends after `index`
      child = end(child);
      ++position;
    }
    if (is_object) {
      path += (path.empty() ? "" : ".") + clipped(key, 80);
    } else {
      path += fmt::format("[{}]", position);
    }
    here = child;
  }
  return path;
}

std::string Document::describe(size_t index) const {
  switch (kind(index)) {
    case Kind::kNull:
      return "null";
    case Kind::kFalse:
      return "false";
    case Kind::kTrue:
      return "true";
    case Kind::kInt:
    case Kind::kBigInt:
      return fmt::format("{}", integer(index));
    case Kind::kFloat:
      return fmt::format("{}", floats_[payload(index)]);
    case Kind::kString:
      return fmt::format("\"{}\"", clipped(string(index), 40));
    case Kind::kObject:
      return "an object";
    case Kind::kArray:
      return "an array";
  }
  return "";
}

Kind Value::kind() const {
  return document_->kind(index_);
}

Error Value::error(std::string_view what) const {
  const std::string path = document_->path(index_);
  return bad_input("{}: {}{}{}", document_->label_, path, path.empty() ? "" : ": ", what);
}

Error Value::expected(std::string_view wanted) const {
  return error(fmt::format("expected {}, found {}", wanted, document_->describe(index_)));
}

Result<int64_t> Value::as_int() const {
  if (kind() != Kind::kInt && kind() != Kind::kBigInt) return expected("an integer");
  return document_->integer(index_);
}

Result<double> Value::as_float() const {
  switch (kind()) {
    case Kind::kInt:
    case Kind::kBigInt:
      return static_cast<double>(document_->integer(index_));
    case Kind::kFloat:
      return document_->floats_[document_->payload(index_)];
    case Kind::kString: {
      const std::string_view text = document_->string(index_);
      if (text == "Infinity") return std::numeric_limits<double>::infinity();
      if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
      if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
      break;
    }
    default:
      break;
  }
  return expected("a number");
}

Result<bool> Value::as_bool() const {
  if (kind() == Kind::kTrue) return true;
  if (kind() == Kind::kFalse) return false;
  return expected("true or false");
}

Result<std::string_view> Value::as_string() const {
  if (kind() != Kind::kString) return expected("a string");
  return document_->string(index_);
}

Result<Value::Elements> Value::elements() const {
  if (!is_array()) return expected("an array");
  return Elements(document_, index_ + 1, document_->end(index_));
}

Result<Value::Members> Value::members() const {
  if (!is_object()) return expected("an object");
  return Members(document_, index_ + 1, document_->end(index_));
}

Result<Value> Value::at(std::string_view key) const {
  if (!is_object()) return expected(fmt::format("an object with \"{}\"", key));
  for (const Member& member : Members(document_, index_ + 1, document_->end(index_))) {
    if (member.key == key) return member.value;
  }
  return error(fmt::format("\"{}\" is missing", key));
}

Result<std::optional<Value>> Value::maybe(std::string_view key) const {
  if (!is_object()) return expected("an object");
  for (const Member& member : Members(document_, index_ + 1, document_->end(index_))) {
    if (member.key == key && !member.value.is_null()) return std::optional<Value>(member.value);
  }
  return std::optional<Value>();
}

Result<Value::Member> Value::tagged() const {
  if (!is_object()) return expected("an object with one tag");
  const size_t child = index_ + 1;
  const size_t end = document_->end(index_);
  if (child == end) return error("expected one tag, found an empty object");
  if (document_->end(child + 1) != end) return error("expected one tag, found several");
  return Member{document_->string(child), Value(document_, child + 1)};
}

}  // namespace thimble::formats::pt2::json
