#pragma once
// The attributes of a direct operator: one constant of 32-bit words, in the order of the operator's
// row of src/ir/ops.def. An integer or a bool is one word; a list is its count, then its items.
//
// Without lists, or with lists of known lengths, words have fixed positions: call
// check_attributes(), then attributes(). With other lists, AttributeReader reads the words in
// sequence.

#include <cstdint>

#include "kernels/args/operands.h"

namespace thimble::kernels {

/// Checks that the constant has exactly `count` words.
inline Status check_attributes(const Tensor& t, uint32_t count) {
  const uint32_t bytes = count * static_cast<uint32_t>(sizeof(int32_t));
  THIMBLE_RETURN_IF_ERROR(check_blob(t, bytes));
  return t.bytes == bytes ? Status::kOk : Status::kBadParameter;
}
inline const int32_t* attributes(const Tensor& t) {
  return static_cast<const int32_t*>(t.data);
}
/// Checks that the constant has exactly the words of `Params`.
template <class Params>
Status check_attributes(const Tensor& t) {
  return check_attributes(t, sizeof(Params) / sizeof(int32_t));
}
/// Returns the constant as `Params`: a reference into the constant, which check_attributes() found
/// to be aligned to 4 bytes.
template <class Params>
const Params& attributes(const Tensor& t) {
  return *static_cast<const Params*>(t.data);
}

class AttributeReader {
 public:
  /// If `blob` is not sound, no word can be read and complete() returns false.
  explicit AttributeReader(const Tensor& blob) {
    if (check_blob(blob, 0) != Status::kOk) return;
    at_ = static_cast<const int32_t*>(blob.data);
    left_ = blob.bytes / sizeof(int32_t);
    good_ = blob.bytes % sizeof(int32_t) == 0;
  }

  int32_t word() {
    if (left_ == 0) {
      good_ = false;
      return 0;
    }
    --left_;
    return *at_++;
  }
  /// Reads a list of at least one distinct dimension below `rank`; returns one bit per dimension.
  uint32_t dims(uint32_t rank) {
    uint32_t mask = 0;
    const int32_t count = word();
    if (count < 1 || count > static_cast<int32_t>(rank)) good_ = false;
    for (int32_t i = 0; i < count && good_; ++i) {
      const auto dim = static_cast<uint32_t>(word());
      if (dim >= rank || (mask >> dim & 1) != 0) {
        good_ = false;
      } else {
        mask |= 1U << dim;
      }
    }
    return mask;
  }

  /// Returns true if all words read so far existed and were in range, and no words are left.
  bool complete() const { return good_ && left_ == 0; }

 private:
  const int32_t* at_ = nullptr;
  uint32_t left_ = 0;
  bool good_ = false;
};

}  // namespace thimble::kernels
