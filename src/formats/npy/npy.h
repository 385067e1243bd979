// SPDX-License-Identifier: Apache-2.0
#pragma once
// NumPy's .npy (versions 1 to 3) and .npz (a zip of .npy members). Arrays are converted to C order
// and little-endian when read. Written files are .npy 1.0 and have equal bytes for equal input.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::npy {

/// First bytes of an .npy.
inline constexpr std::string_view kMagic = "\x93NUMPY";

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
/// Returns "float32", "int8", "bool", ...
[[nodiscard]] std::string_view name(DType dtype);

struct NpyArray {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> shape;  // C order; empty for a scalar
  Bytes bytes;                 // little-endian, size_bytes(dtype) * product(shape)

  [[nodiscard]] int64_t count() const;
};

/// `label` names the bytes in messages: a file name, or `file: member`.
/// The bytes become those of the array: a copy would need the memory of the file again.
[[nodiscard]] Result<NpyArray> parse_npy(Bytes bytes, std::string_view label);
[[nodiscard]] Result<NpyArray> read_npy(const std::filesystem::path& path);

[[nodiscard]] Bytes format_npy(const NpyArray& array);
[[nodiscard]] Status write_npy(const std::filesystem::path& path, const NpyArray& array);

/// All arrays of an .npz in archive order; names without ".npy".
using NpzArrays = std::vector<std::pair<std::string, NpyArray>>;
[[nodiscard]] Result<NpzArrays> read_npz(const std::filesystem::path& path);
[[nodiscard]] Result<NpzArrays> read_npz(Bytes bytes, std::string name);

}  // namespace thimble::formats::npy
