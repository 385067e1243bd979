// SPDX-License-Identifier: Apache-2.0
#include "import/empty.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "import/constants.h"
#include "import/node_tensors.h"

namespace thimble::import_pt2 {
namespace {

/// Returns the number that all elements of the result are, given that no operand has elements.
/// Returns nothing for operators that are not supported.
Result<std::optional<double>> result_of_empty(const Call& call, std::string_view target) {
  constexpr std::array<std::string_view, 6> kSums = {"aten.bmm.default", "aten.matmul.default",
                                                     "aten.mm.default",  "aten.new_zeros.default",
                                                     "aten.sum.default", "aten.sum.dim_IntList"};
  if (std::ranges::find(kSums, target) != kSums.end()) return std::optional(0.0);
  if (target == "aten.new_ones.default") return std::optional(1.0);
  if (target == "aten.constant_pad_nd.default" || target == "aten.pad.default") {
    THIMBLE_TRY(const double padding, call.number("value", 0));
    return std::optional(padding);
  }
  return std::optional<double>();
}

}  // namespace

bool has_only_empty_results(const Context& context, const formats::pt2::Node& node) {
  bool found = false, all = true;
  for_each_result(node, [&](const std::string& name) {
    const auto sizes = context.symbols.values(context.meta(name)->sizes);
    found = true;
    all = all && sizes.ok() && std::ranges::find(*sizes, 0) != sizes->end();
  });
  return found && all;
}

bool reads_only_empty(const Context& context, const formats::pt2::Node& node) {
  bool found = false, all = true;
  for_each_operand(node, [&](const std::string& name) {
    found = true;
    all = all && context.tensors.is_empty(name);
  });
  return found && all;
}

Result<bool> bind_result_of_empty(Context& context, const formats::pt2::Node& node,
                                  const ir::Source& source) {
  Call call(context, node, source);
  const formats::pt2::TensorMeta* meta = call.result_meta();
  const auto dtype = meta == nullptr ? std::nullopt : ir_dtype(meta->dtype);
  if (!dtype) return false;
  THIMBLE_TRY(const std::optional<double> number, result_of_empty(call, source.target));
  if (!number) return false;
  THIMBLE_TRY(const ir::Shape shape, context.symbols.values(meta->sizes));
  THIMBLE_TRY(ir::Tensor tensor, call.new_constant(*dtype, shape, *number));
  THIMBLE_CHECK(call.result(call.constant_value("", std::move(tensor))));
  return true;
}

}  // namespace thimble::import_pt2
