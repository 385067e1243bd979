// SPDX-License-Identifier: Apache-2.0
#pragma once
// The records of one plan before they are bytes (abi/records.h).

#include <cstdint>
#include <vector>

#include "abi/pte_ops.h"
#include "formats/pte/records.h"
#include "formats/pte/segments.h"

namespace thimble::formats::pte {

struct RecordTensor {
  int32_t value;
  size_t shape;
  uint32_t place;
  ScalarType type;
};

struct RecordShape {
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  uint16_t at = 0;  // index of its first word
  bool operator==(const RecordShape& other) const {
    return sizes == other.sizes && dim_order == other.dim_order;
  }
};

struct RecordCall {
  uint16_t op;
  std::vector<uint16_t> operands;
};

/// The content of abi/records.h, before serialization.
struct RecordContents {
  std::vector<int64_t> numbers;
  std::vector<const abi::PteOpInfo*> operators;
  std::vector<RecordTensor> tensors;
  std::vector<RecordShape> shapes;
  std::vector<int32_t> lists;
  std::vector<uint16_t> inputs, outputs;
  std::vector<RecordCall> calls;
  uint32_t constants_at = 0, constants_bytes = 0, state_at = 0, state_bytes = 0;
};

/// Returns the records of a plan, or why records cannot represent it. Offsets of constants are 0 if
/// `layout` is null.
[[nodiscard]] Result<RecordContents> record_contents(const Program& program, size_t plan,
                                                     const FindOperator& find,
                                                     const Segments* layout);

/// Returns the bytes after the header of the entry.
[[nodiscard]] Bytes bytes_of(const RecordContents& contents);

}  // namespace thimble::formats::pte
