// SPDX-License-Identifier: Apache-2.0
#include "driver/input_resolution.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/result.h"

namespace thimble::driver {
namespace {

/// Share of the values other than 0 that may become 0.
constexpr double kLostMax = 0.5;

/// Returns the type of the quantized values of an input; nothing if it stays in float32.
std::optional<ir::Type> quantized_type(const ir::Graph& graph, ir::ValueId input) {
  if (graph.type(input).quant) return graph.type(input);
  for (const ir::Op& op : graph.ops()) {
    if (op.kind == ir::OpKind::quantize && op.inputs[0] == input) return graph.type(op.output);
  }
  return std::nullopt;
}

std::string warning_for(const std::string& name, const ir::Tensor& data, const ir::Type& type) {
  std::vector<float> magnitudes;
  for (const float value : data.data<float>()) {
    if (value != 0) magnitudes.push_back(std::abs(value));
  }
  if (magnitudes.empty()) return "";
  const double step = type.quant->scale[0];
  const auto lost = std::ranges::count_if(
      magnitudes, [&](float value) { return static_cast<double>(value) < step / 2; });
  const double share = static_cast<double>(lost) / static_cast<double>(magnitudes.size());
  if (share <= kLostMax) return "";
  const auto middle = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 2);
  std::ranges::nth_element(magnitudes, middle);
  return fmt::format(
      "{}: {:.0f} % of the values other than 0 are smaller than half a step of {} ({:.2g}) and "
      "become 0; the largest is {:.3g}, the median {:.2g}: if the model can be trained again, pass "
      "log(x + e) instead of x; otherwise `--quant OP=float` for the operators that read it",
      name, 100 * share, type.dtype == ir::DType::kI16 ? "int16" : "int8", step,
      *std::ranges::max_element(magnitudes), *middle);
}

}  // namespace

std::vector<std::string> input_resolution_warnings(const ir::Graph& integer,
                                                   const Samples& samples) {
  std::vector<std::string> warnings;
  for (size_t i = 0; i < samples.data.inputs.size(); ++i) {
    const auto& [name, data] = samples.data.inputs[i];
    const std::optional<ir::Type> type = quantized_type(integer, integer.inputs()[i]);
    if (!type || data.dtype != ir::DType::kF32) continue;
    std::string warning = warning_for(name, data, *type);
    if (!warning.empty()) warnings.push_back(std::move(warning));
  }
  return warnings;
}

}  // namespace thimble::driver
