#pragma once
// A `.tflite` of any tool: the tables that say which operators there are and what they read. What
// options an operator has is not looked at.

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
  int8_t type = 0;  // the format's number: type_name()
  Bytes data;       // of constants
};

struct FileOperator {
  int32_t number = 0;  // of the builtin operators
  std::string custom;  // the name of an operator that is none of them
  std::vector<int32_t> inputs, outputs;
};

/// Tensors are counted from 0; all numbers are in range, absent operands are -1.
struct File {
  std::vector<FileTensor> tensors;
  std::vector<FileOperator> operators;
  std::vector<int32_t> inputs, outputs;
};

/// Refuses what is no model of schema version 3 with one subgraph; `name` begins the messages.
[[nodiscard]] Result<File> read(ByteView bytes, std::string_view name);

/// "int8"; "type 77" for what is not known.
[[nodiscard]] std::string type_name(int8_t type);
/// `CUSTOM NeutronGraph`, `builtin operator 3`.
[[nodiscard]] std::string operator_name(const FileOperator& op);

inline constexpr int8_t kUint8Type = 3;

}  // namespace thimble::formats::tflite
