// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a `.tflite` of any tool: tensors, operators and their operands. Options of operators are
// ignored.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::tflite {

struct FileTensor {
  std::string name;
  std::vector<int32_t> shape;
  int8_t type = 0;  // type number of the format: type_name()
  Bytes data;       // only for constants
};

struct FileOperator {
  int32_t number = 0;  // builtin operator number
  std::string custom;  // name of a custom operator
  std::vector<int32_t> inputs, outputs;
};

/// Operators refer to tensors by index from 0; all indices are checked. Absent operands are -1.
struct File {
  std::vector<FileTensor> tensors;
  std::vector<FileOperator> operators;
  std::vector<int32_t> inputs, outputs;
};

/// Returns an error unless the file is a model of schema version 3 with one subgraph; `name` is the
/// start of messages.
[[nodiscard]] Result<File> read(ByteView bytes, std::string_view name);

/// Returns "int8"; "type 77" for an unknown type.
[[nodiscard]] std::string type_name(int8_t type);
/// Returns `CUSTOM NAME` or `builtin operator 3`.
[[nodiscard]] std::string operator_name(const FileOperator& op);

inline constexpr int8_t kUint8Type = 3;

}  // namespace thimble::formats::tflite
