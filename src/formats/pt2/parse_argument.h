// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parses the tensor metadata and the tagged-union arguments of model.json.

#include <functional>
#include <string_view>

#include "formats/pt2/json.h"
#include "formats/pt2/program.h"

namespace thimble::formats::pt2 {

/// Limit of PyTorch: 64 axes.
inline constexpr size_t kRankMax = 64;

[[nodiscard]] Result<SymInt> parse_sym_int(const json::Value& value);
/// Checks that sizes, strides and offset are not negative and that the size in bytes fits int64.
[[nodiscard]] Result<TensorMeta> parse_tensor_meta(const json::Value& value);

[[nodiscard]] Result<Argument> parse_argument(const json::Value& value);
/// Parses the argument of a tag; for callers that have read the tagged union themselves.
[[nodiscard]] Result<Argument> parse_tagged(const json::Value::Member& tagged);

/// Calls `visit` with each name that the argument refers to. `is_tensor` selects the table of the
/// name. Stops at the first call that fails.
[[nodiscard]] Status for_each_name(
    const Argument& argument,
    const std::function<Status(const std::string& name, bool is_tensor)>& visit);

}  // namespace thimble::formats::pt2
