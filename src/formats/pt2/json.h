// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON as a tape: one 64-bit word per token, and one buffer for the characters of all strings. A
// tree of nodes needs ten to twenty times the bytes of the text; the tape needs at most five times.
// Hostile text therefore cannot cause large allocations. A Value is a position on the tape.
// Messages show a path ("graph_module.graph.nodes[12].inputs[3].arg"). The path is computed from
// the position only when an error occurs, so checked access has no additional cost.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::pt2::json {

/// Positions and lengths of strings share one word of the tape, 28 bits each.
inline constexpr size_t kTextBytesMax = (size_t{1} << 28) - 1;
/// Limit of nesting. A graph has about ten levels; nested subgraphs of control flow add eight each.
inline constexpr size_t kDepthMax = 100;

enum class Kind : uint8_t { kNull, kFalse, kTrue, kInt, kBigInt, kFloat, kString, kObject, kArray };

class Document;

class Value {
 public:
  Value() = default;
  Value(const Document* document, size_t index) : document_(document), index_(index) {}

  [[nodiscard]] Kind kind() const;
  [[nodiscard]] bool is_null() const { return kind() == Kind::kNull; }
  [[nodiscard]] bool is_object() const { return kind() == Kind::kObject; }
  [[nodiscard]] bool is_array() const { return kind() == Kind::kArray; }

  [[nodiscard]] Result<int64_t> as_int() const;
  /// Also accepts integers and the strings "Infinity", "-Infinity" and "NaN" that PyTorch writes.
  [[nodiscard]] Result<double> as_float() const;
  [[nodiscard]] Result<bool> as_bool() const;
  /// Valid during the lifetime of the document.
  [[nodiscard]] Result<std::string_view> as_string() const;

  /// Returns a member of an object; an error if it is missing or this is not an object.
  [[nodiscard]] Result<Value> at(std::string_view key) const;
  /// As `at`, but returns nullopt for a missing member and for null.
  [[nodiscard]] Result<std::optional<Value>> maybe(std::string_view key) const;

  struct Member;
  class Elements;
  class Members;
  /// Returns the elements or members, after checking that this is an array or object.
  [[nodiscard]] Result<Elements> elements() const;
  [[nodiscard]] Result<Members> members() const;
  /// Returns the member of a tagged union: an object with exactly one member.
  [[nodiscard]] Result<Member> tagged() const;

  /// Returns the error `archive: file: path: what`.
  [[nodiscard]] Error error(std::string_view what) const;
  /// Returns the error `... expected WANTED, found 17`.
  [[nodiscard]] Error expected(std::string_view wanted) const;

 private:
  const Document* document_ = nullptr;
  size_t index_ = 0;
};

struct Value::Member {
  std::string_view key;
  Value value;
};

class Document {
 public:
  /// `label` is the start of every message. The text is released as soon as the tape is complete.
  static Result<Document> parse(Bytes text, std::string label);

  [[nodiscard]] Value root() const { return {this, 0}; }

 private:
  friend class Value;
  friend class Value::Elements;
  friend class Value::Members;
  friend class TapeWriter;

  [[nodiscard]] Kind kind(size_t index) const { return static_cast<Kind>(tape_[index] >> 60); }
  [[nodiscard]] uint64_t payload(size_t index) const { return tape_[index] & kPayloadMask; }
  [[nodiscard]] std::string_view string(size_t index) const;
  [[nodiscard]] int64_t integer(size_t index) const;
  /// Returns the index one past the last word of the value.
  [[nodiscard]] size_t end(size_t index) const;
  [[nodiscard]] std::string path(size_t index) const;
  [[nodiscard]] std::string describe(size_t index) const;

  static constexpr uint64_t kPayloadMask = (uint64_t{1} << 60) - 1;

  std::string label_;
  // A deque grows without copying and without reserving memory for the rest of the text.
  std::deque<uint64_t> tape_;  // kind in the upper 4 bits; containers store the index of their end
  std::string characters_;
  std::deque<int64_t> big_integers_;  // integers that do not fit 60 bits
  std::deque<double> floats_;
};

/// Iterates over the tape directly: a list of a million numbers needs no second list.
class Value::Elements {
 public:
  class Iterator {
   public:
    Iterator(const Document* document, size_t index) : document_(document), index_(index) {}
    Value operator*() const { return {document_, index_}; }
    Iterator& operator++() {
      index_ = document_->end(index_);
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const Document* document_;
    size_t index_;
  };
  Elements(const Document* document, size_t begin, size_t end)
      : document_(document), begin_(begin), end_(end) {}
  [[nodiscard]] Iterator begin() const { return {document_, begin_}; }
  [[nodiscard]] Iterator end() const { return {document_, end_}; }
  [[nodiscard]] size_t size() const {
    size_t count = 0;
    for (Iterator i = begin(); i != end(); ++i) ++count;
    return count;
  }
  /// Returns the size in bytes of the tape words of all elements.
  [[nodiscard]] size_t tape_bytes() const { return (end_ - begin_) * sizeof(uint64_t); }

 private:
  const Document* document_;
  size_t begin_;
  size_t end_;
};

class Value::Members {
 public:
  class Iterator {
   public:
    Iterator(const Document* document, size_t index) : document_(document), index_(index) {}
    Member operator*() const { return {document_->string(index_), {document_, index_ + 1}}; }
    Iterator& operator++() {
      index_ = document_->end(index_ + 1);
      return *this;
    }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    const Document* document_;
    size_t index_;
  };
  Members(const Document* document, size_t begin, size_t end)
      : document_(document), begin_(begin), end_(end) {}
  [[nodiscard]] Iterator begin() const { return {document_, begin_}; }
  [[nodiscard]] Iterator end() const { return {document_, end_}; }

 private:
  const Document* document_;
  size_t begin_;
  size_t end_;
};

}  // namespace thimble::formats::pt2::json
