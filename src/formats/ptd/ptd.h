// SPDX-License-Identifier: Apache-2.0
#pragma once
// A data file (`.ptd`), which holds constants of a program outside of its `.pte`.
// docs/formats/devtools.md describes the bytes.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::ptd {

struct TensorLayout {
  pte::ScalarType scalar_type = pte::ScalarType::kFloat;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  bool operator==(const TensorLayout&) const = default;
};

struct Entry {
  ByteView bytes;                      // in the file, which must exist as long as the entry
  std::optional<TensorLayout> layout;  // none: not a tensor
};

using DataFile = std::map<std::string, Entry, std::less<>>;

/// `label` names the file in messages.
[[nodiscard]] Result<DataFile> read(ByteView bytes, std::string_view label);

/// Returns true if the program has constants that are in a data file.
[[nodiscard]] bool has_external(const pte::Program& program);

/// Moves the external constants of all plans into the program; it then runs without the data file.
/// Entries without a layout become named data, unless the program has the key. Tensors that the
/// program does not use are left out. Returns an error if a constant is missing, too short, or of
/// another type, shape or memory order.
[[nodiscard]] Status merge(const DataFile& data, std::string_view data_label,
                           pte::Program* program);

}  // namespace thimble::formats::ptd
