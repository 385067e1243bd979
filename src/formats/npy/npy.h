#pragma once
// NumPy's .npy (versions 1 to 3) and .npz (a zip of .npy members). Read arrays are always C order
// and little-endian, whatever the file says; written ones are .npy 1.0, byte for byte the same for
// equal input.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::npy {

enum class DType : uint8_t {
  kBool,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kInt64,
  kFloat16,
  kFloat32,
  kFloat64
};

[[nodiscard]] size_t size_bytes(DType dtype);
/// "float32", "int8", "bool", ...
[[nodiscard]] std::string_view name(DType dtype);

struct NpyArray {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;  // C order; empty for a scalar
  Bytes bytes;                 // little-endian, size_bytes(dtype) * product(shape)

  [[nodiscard]] int64_t count() const;
};

/// `label` is what messages call the bytes: a file name, or `file: member`.
[[nodiscard]] Result<NpyArray> parse_npy(ByteView bytes, std::string_view label);
[[nodiscard]] Result<NpyArray> read_npy(const std::filesystem::path& path);

[[nodiscard]] Bytes format_npy(const NpyArray& array);
[[nodiscard]] Status write_npy(const std::filesystem::path& path, const NpyArray& array);

/// All arrays of an .npz in archive order; names without the ".npy".
using NpzArrays = std::vector<std::pair<std::string, NpyArray>>;
[[nodiscard]] Result<NpzArrays> read_npz(const std::filesystem::path& path);
[[nodiscard]] Result<NpzArrays> read_npz(Bytes bytes, std::string name);

}  // namespace thimble::formats::npy
