// SPDX-License-Identifier: Apache-2.0
#include "import/scalars.h"

#include <cmath>
#include <map>

#include "import/constants.h"

namespace thimble::import_pt2 {

namespace pt2 = formats::pt2;

namespace scalars {
namespace {

/// Returns the only element of a known tensor.
std::optional<double> element_of(Call& call) {
  if (!call.is_tensor("self")) return std::nullopt;
  const auto id = call.any_tensor("self");
  if (!id.ok()) return std::nullopt;
  const ir::Tensor* held = call.builder().known(*id);
  if (held == nullptr || ir::element_count(held->shape) != 1) return std::nullopt;
  return element(*held, 0);
}

using Operator = double (*)(double, double);

/// Python's operators; torch.export stores them without the name of a parameter.
const std::map<std::string_view, Operator>& table() {
  static const std::map<std::string_view, Operator> rows = {
      {"_operator.add", [](double a, double b) { return a + b; }},
      {"_operator.eq", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {"_operator.floordiv", [](double a, double b) { return std::floor(a / b); }},
      {"_operator.ge", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {"_operator.gt", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {"_operator.le", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {"_operator.lt", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"_operator.mul", [](double a, double b) { return a * b; }},
      {"_operator.ne", [](double a, double b) { return a != b ? 1.0 : 0.0; }},
      {"_operator.neg", [](double a, double) { return -a; }},
      {"_operator.pow", [](double a, double b) { return std::pow(a, b); }},
      {"_operator.sub", [](double a, double b) { return a - b; }},
      {"_operator.truediv", [](double a, double b) { return a / b; }},
      {"math.ceil", [](double a, double) { return std::ceil(a); }},
      {"math.floor", [](double a, double) { return std::floor(a); }},
      {"math.sqrt", [](double a, double) { return std::sqrt(a); }},
      {"math.trunc", [](double a, double) { return std::trunc(a); }},
      {"torch.sym_float", [](double a, double) { return a; }},
      {"torch.sym_int", [](double a, double) { return std::trunc(a); }},
      {"torch.sym_max", [](double a, double b) { return std::fmax(a, b); }},
      {"torch.sym_min", [](double a, double b) { return std::fmin(a, b); }},
      {"torch.sym_not", [](double a, double) { return a == 0 ? 1.0 : 0.0; }},
      {"torch.sym_sqrt", [](double a, double) { return std::sqrt(a); }},
  };
  return rows;
}

}  // namespace
}  // namespace scalars

std::optional<double> known_scalar(Call& call, std::string_view target) {
  constexpr double kWholeMax = 0x1p53;
  std::optional<double> value;
  if (target == "aten.item.default" || target == "aten._local_scalar_dense.default") {
    value = scalars::element_of(call);
  } else if (const auto row = scalars::table().find(target); row != scalars::table().end()) {
    const auto& inputs = call.node().inputs;
    double operands[2] = {0, 0};
    if (inputs.empty() || inputs.size() > 2) return std::nullopt;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto number = call.known_number(inputs[i].value);
      if (!number) return std::nullopt;
      operands[i] = *number;
    }
    value = row->second(operands[0], operands[1]);
  }
  if (!value || !(std::fabs(*value) <= kWholeMax)) return std::nullopt;
  return value;
}

void bind_scalars(Context& context, const pt2::Node& node, const ir::Source& source) {
  Call call(context, node, source);
  if (const auto known = known_scalar(call, source.target); known && node.outputs.size() == 1) {
    const pt2::Argument& output = node.outputs[0];
    if (const auto* size = std::get_if<pt2::SymIntArg>(&output)) {
      context.sizes[size->name] = static_cast<int64_t>(*known);
      return;
    }
    if (const auto* real = std::get_if<pt2::SymFloatArg>(&output)) {
      context.reals[real->name] = *known;
      return;
    }
    if (const auto* truth = std::get_if<pt2::SymBoolArg>(&output)) {
      context.reals[truth->name] = *known;
      return;
    }
  }
  for (const pt2::Argument& output : node.outputs) {
    const auto* size = std::get_if<pt2::SymIntArg>(&output);
    if (size == nullptr || !size->is_name()) continue;
    const pt2::SymInt* expression = context.size_expression(size->name);
    if (expression == nullptr) continue;
    const auto value = context.symbols.value(*expression);
    if (value.ok()) context.sizes[size->name] = *value;  // otherwise a use of it is an error
  }
}

}  // namespace thimble::import_pt2
