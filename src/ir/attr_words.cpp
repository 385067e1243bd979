#include "ir/attr_words.h"

#include <bit>

namespace thimble::ir {
namespace {

class Writer {
 public:
  explicit Writer(const Op& op) : op_(op) {}

  Result<std::vector<int32_t>> run() {
    for (const AttrInfo& attr : op_info(op_.kind).attrs) {
      switch (attr.kind) {
        case AttrInfo::Kind::kInt:
        case AttrInfo::Kind::kBool:
          THIMBLE_CHECK(put(attr, value<int64_t>(attr)));
          break;
        case AttrInfo::Kind::kDouble:
          put(value<double>(attr));
          break;
        case AttrInfo::Kind::kInts: {
          const auto& items = value<std::vector<int64_t>>(attr);
          THIMBLE_CHECK(put(attr, static_cast<int64_t>(items.size())));
          for (const int64_t item : items) THIMBLE_CHECK(put(attr, item));
          break;
        }
      }
    }
    return std::move(words_);
  }

 private:
  template <typename T>
  const T& value(const AttrInfo& attr) const {
    return op_.get(AttrKey<T>{attr.id});
  }
  Status put(const AttrInfo& attr, int64_t value) {
    if (value != static_cast<int32_t>(value)) {
      return unsupported("{}: {} = {} does not fit 32 bits", op_name(op_.kind), attr.name, value);
    }
    words_.push_back(static_cast<int32_t>(value));
    return ok();
  }
  void put(double value) {
    const auto bits = std::bit_cast<uint64_t>(value);
    words_.push_back(static_cast<int32_t>(static_cast<uint32_t>(bits)));
    words_.push_back(static_cast<int32_t>(static_cast<uint32_t>(bits >> 32)));
  }

  const Op& op_;
  std::vector<int32_t> words_;
};

class Reader {
 public:
  Reader(OpKind kind, std::span<const int32_t> words) : kind_(kind), words_(words) {}

  Result<Attrs> run() {
    Attrs attrs;
    for (const AttrInfo& attr : op_info(kind_).attrs) {
      THIMBLE_TRY(AttrValue value, read(attr.kind));
      attrs.set_value(attr.id, std::move(value));
    }
    if (at_ != words_.size()) {
      return bad_input("{} words of attributes, expected {}", words_.size(), at_);
    }
    return attrs;
  }

 private:
  Result<int32_t> word() {
    if (at_ == words_.size()) {
      return bad_input("its {} words of attributes end too early", words_.size());
    }
    return words_[at_++];
  }

  Result<AttrValue> read(AttrInfo::Kind kind) {
    THIMBLE_TRY(const int32_t first, word());
    if (kind == AttrInfo::Kind::kDouble) {
      THIMBLE_TRY(const int32_t high, word());
      const uint64_t bits =
          uint64_t{static_cast<uint32_t>(high)} << 32 | static_cast<uint32_t>(first);
      return AttrValue(std::bit_cast<double>(bits));
    }
    if (kind != AttrInfo::Kind::kInts) return AttrValue(int64_t{first});
    std::vector<int64_t> items;
    for (int32_t i = 0; i < first; ++i) {
      THIMBLE_TRY(const int32_t item, word());
      items.push_back(item);
    }
    return AttrValue(std::move(items));
  }

  const OpKind kind_;
  const std::span<const int32_t> words_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<int32_t>> attr_words(const Op& op) {
  return Writer(op).run();
}

Result<Attrs> attrs_from_words(OpKind kind, std::span<const int32_t> words) {
  return Reader(kind, words).run();
}

}  // namespace thimble::ir
