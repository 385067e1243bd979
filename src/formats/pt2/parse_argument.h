#pragma once
// model.json's tensor metadata and tagged-union arguments.

#include <functional>
#include <string_view>

#include "formats/pt2/json.h"
#include "formats/pt2/program.h"

namespace thimble::formats::pt2 {

/// PyTorch itself stops at 64 axes.
inline constexpr size_t kRankMax = 64;

[[nodiscard]] Result<SymInt> parse_sym_int(const json::Value& value);
/// Sizes, strides and offset are not negative and the tensor's bytes fit int64.
[[nodiscard]] Result<TensorMeta> parse_tensor_meta(const json::Value& value);

[[nodiscard]] Result<Argument> parse_argument(const json::Value& value);
/// The argument of a tag, when the caller has taken the union apart.
[[nodiscard]] Result<Argument> parse_tagged(const json::Value::Member& tagged);

/// Calls `visit` with each name that the argument refers to, `is_tensor` telling which table it is
/// in, until a call fails.
[[nodiscard]] Status for_each_name(
    const Argument& argument,
    const std::function<Status(const std::string& name, bool is_tensor)>& visit);

}  // namespace thimble::formats::pt2
