// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/program.h"

namespace thimble::formats::pte {
namespace {

struct ScalarTypeRow {
  ScalarType type;
  std::string_view name;
  size_t size_bytes;
};

constexpr ScalarTypeRow kScalarTypes[] = {
    {ScalarType::kByte, "uint8", 1},
    {ScalarType::kChar, "int8", 1},
    {ScalarType::kShort, "int16", 2},
    {ScalarType::kInt, "int32", 4},
    {ScalarType::kLong, "int64", 8},
    {ScalarType::kHalf, "float16", 2},
    {ScalarType::kFloat, "float32", 4},
    {ScalarType::kDouble, "float64", 8},
    {ScalarType::kBool, "bool", 1},
    {ScalarType::kQint8, "qint8", 1},
    {ScalarType::kQuint8, "quint8", 1},
    {ScalarType::kQint32, "qint32", 4},
    {ScalarType::kBfloat16, "bfloat16", 2},
    {ScalarType::kQuint4x2, "quint4x2", 1},
    {ScalarType::kQuint2x4, "quint2x4", 1},
    {ScalarType::kBits16, "bits16", 2},
    {ScalarType::kFloat8e5m2, "float8_e5m2", 1},
    {ScalarType::kFloat8e4m3fn, "float8_e4m3fn", 1},
    {ScalarType::kFloat8e5m2fnuz, "float8_e5m2fnuz", 1},
    {ScalarType::kFloat8e4m3fnuz, "float8_e4m3fnuz", 1},
    {ScalarType::kUint16, "uint16", 2},
    {ScalarType::kUint32, "uint32", 4},
    {ScalarType::kUint64, "uint64", 8},
};

const ScalarTypeRow* row(ScalarType type) {
  for (const ScalarTypeRow& row : kScalarTypes) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

}  // namespace

std::string_view name(ScalarType type) {
  const ScalarTypeRow* found = row(type);
  return found != nullptr ? found->name : std::string_view();
}

size_t size_bytes(ScalarType type) {
  const ScalarTypeRow* found = row(type);
  return found != nullptr ? found->size_bytes : 0;
}

std::optional<uint64_t> data_bytes(const Tensor& tensor) {
  uint64_t bytes = size_bytes(tensor.scalar_type);
  if (bytes == 0) return std::nullopt;
  for (int32_t size : tensor.sizes) {
    if (size < 0) return std::nullopt;
    if (size != 0 && bytes > UINT64_MAX / static_cast<uint64_t>(size)) return std::nullopt;
    bytes *= static_cast<uint64_t>(size);
  }
  return bytes;
}

std::string full_name(const Operator& op) {
  return op.overload.empty() ? op.name : op.name + "." + op.overload;
}

const NamedData* find_named_data(const Program& program, std::string_view key) {
  for (const NamedData& data : program.named_data) {
    if (data.key == key) return &data;
  }
  return nullptr;
}

}  // namespace thimble::formats::pte
