// SPDX-License-Identifier: Apache-2.0
#include "driver/op_selectors.h"

#include <algorithm>
#include <set>

#include "base/glob.h"
#include "base/nearest.h"
#include "ir/refused_op.h"
#include "quant/int4.h"

namespace thimble::driver {
namespace {

constexpr size_t kSuggestionsMax = 4;

std::string_view precision_name(Precision precision) {
  constexpr std::string_view kNames[] = {"int8", "int16", "float", "int4"};
  return kNames[static_cast<size_t>(precision)];
}

/// Returns "add" for "aten.add.Tensor".
std::string_view short_name(std::string_view target) {
  const size_t first = target.find('.');
  if (first == std::string_view::npos) return target;
  const std::string_view rest = target.substr(first + 1);
  return rest.substr(0, rest.find('.'));
}

/// Returns all names of the operator: its node, its ATen operator, its source line, its module and
/// the enclosing modules.
std::vector<std::string> names_of(const ir::Graph& graph, const ir::Op& op) {
  std::vector<std::string> names = {graph.value(op.output).name};
  if (!op.source.target.empty()) {
    names.emplace_back(op.source.target);
    names.emplace_back(short_name(op.source.target));
  }
  if (op.source.line > 0) names.push_back(op.source.where());
  const std::string_view module = op.source.module;
  for (size_t dot = module.find('.'); dot != std::string_view::npos;
       dot = module.find('.', dot + 1)) {
    names.emplace_back(module.substr(0, dot));
  }
  if (!module.empty()) names.emplace_back(module);
  return names;
}

std::string similar_nodes(const ir::Graph& graph, std::string_view pattern) {
  std::set<std::string> names;
  for (const ir::Op& op : graph.ops()) {
    for (std::string& name : names_of(graph, op)) names.insert(std::move(name));
  }
  const std::vector<std::string> known(names.begin(), names.end());
  const std::vector<std::string> near = nearest(pattern, known, kSuggestionsMax);
  if (!near.empty()) return fmt::format("similar names: {}", fmt::join(near, ", "));
  if (known.empty()) return "it has no operators";
  const size_t shown = std::min(known.size(), kSuggestionsMax);
  return fmt::format("there are, for example, {}",
                     fmt::join(known.begin(), known.begin() + static_cast<ptrdiff_t>(shown), ", "));
}

std::string line_of(const ir::Op& op, std::string_view reason) {
  std::string line = fmt::format("\n  {:<14} {}", op.source.where(), op.source.text);
  if (!op.source.module.empty()) line += fmt::format("   in module {}", op.source.module);
  return fmt::format("{}: {} {}", line, op.source.target, reason);
}

}  // namespace

Result<QuantChoice> parse_quant_choice(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals != std::string_view::npos && equals > 0) {
    for (const Precision each :
         {Precision::kInt4, Precision::kInt8, Precision::kInt16, Precision::kFloat}) {
      if (text.substr(equals + 1) == precision_name(each)) {
        return QuantChoice{std::string(text.substr(0, equals)), each};
      }
    }
  }
  return bad_input("--quant {}: MODULE or OP, =, and one of int4, int8, int16, float expected",
                   text);
}

std::vector<size_t> matches(const ir::Graph& graph, std::string_view pattern) {
  std::vector<size_t> found;
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const auto names = names_of(graph, graph.ops()[i]);
    if (std::ranges::any_of(names,
                            [&](std::string_view name) { return glob_matches(pattern, name); })) {
      found.push_back(i);
    }
  }
  return found;
}

Result<std::vector<size_t>> select_ops(const ir::Graph& graph, std::string_view pattern,
                                       std::string_view option) {
  std::vector<size_t> found = matches(graph, pattern);
  if (!found.empty()) return found;
  return bad_input("{} {}: no operator, node, line or module of the model has this name; {}",
                   option, pattern, similar_nodes(graph, pattern));
}

namespace {

/// Returns true if the operator reads float32 and has another result, as a comparison. Its operands
/// would be quantized.
bool reads_float_only(const ir::Graph& graph, const ir::Op& op) {
  const auto is_float = [&](ir::ValueId id) {
    return id != ir::kNoValue && graph.type(id).dtype == ir::DType::kF32;
  };
  if (op.kind == ir::OpKind::quantize) return false;
  return !is_float(op.output) && std::ranges::any_of(op.inputs, is_float);
}

}  // namespace

Status check_choices(const ir::Graph& graph, const std::vector<QuantChoice>& choices,
                     std::string_view target, const Kernels& kernels) {
  std::string lines;
  ErrorFacts facts;
  for (const QuantChoice& choice : choices) {
    THIMBLE_TRY(const std::vector<size_t> ops, select_ops(graph, choice.pattern, "--quant"));
    if (choice.precision == Precision::kInt8) continue;
    if (choice.precision == Precision::kInt16 && kernels.int16) continue;
    const bool is_float = choice.precision == Precision::kFloat;
    if (choice.precision == Precision::kInt4) {
      // A module has operators with and without weights.
      const bool any = std::ranges::any_of(
          ops, [&](size_t i) { return quant::has_weight_matrix(graph.ops()[i]); });
      if (any && kernels.int4) continue;
    }
    for (const size_t i : ops) {
      const ir::Op& op = graph.ops()[i];
      if (is_float && kernels.float32 && !reads_float_only(graph, op)) continue;
      const std::string reason =
          choice.precision == Precision::kInt4 && kernels.int4
              ? std::string("has no weights, so int4 does not apply")
          : is_float && kernels.float32
              ? std::string("has no float32 result: --float keeps the whole network in float32")
              : fmt::format("has no {} kernel on {}{}", precision_name(choice.precision), target,
                            is_float ? kernels.float32_note : "");
      lines += line_of(op, reason);
      facts.ops.push_back(ir::refused_op(op.source, op.kind, reason));
    }
  }
  if (lines.empty()) return ok();
  return refusal("--quant requests kernels that do not exist" + lines, std::move(facts));
}

namespace {

bool matches_op(const QuantChoice& choice, const ir::Graph& graph, const ir::Op& op) {
  const auto names = names_of(graph, op);
  return std::ranges::any_of(
      names, [&](std::string_view name) { return glob_matches(choice.pattern, name); });
}

/// Returns a function that is true for operators with the precision. The last choice that matches
/// the operator decides, else `all`. Empty if no operator can have the precision.
std::function<bool(const ir::Graph&, const ir::Op&)> choice_of(
    Precision precision, const std::vector<QuantChoice>& choices, bool all) {
  const bool any = std::ranges::any_of(
      choices, [&](const QuantChoice& choice) { return choice.precision == precision; });
  if (!any && !all) return {};
  return [precision, choices, all](const ir::Graph& graph, const ir::Op& op) {
    bool result = all;
    for (const QuantChoice& choice : choices) {
      if (matches_op(choice, graph, op)) result = choice.precision == precision;
    }
    return result;
  };
}

}  // namespace

bool has_choice(const std::vector<QuantChoice>& choices, const ir::Graph& graph, const ir::Op& op) {
  return std::ranges::any_of(
      choices, [&](const QuantChoice& choice) { return matches_op(choice, graph, op); });
}

std::function<bool(const ir::Graph&, const ir::Op&)> wide_choice(
    const std::vector<QuantChoice>& choices, bool all_wide) {
  return choice_of(Precision::kInt16, choices, all_wide);
}

std::function<bool(const ir::Graph&, const ir::Op&)> float_choice(
    const std::vector<QuantChoice>& choices) {
  return choice_of(Precision::kFloat, choices, false);
}

std::function<bool(const ir::Graph&, const ir::Op&)> int4_choice(
    const std::vector<QuantChoice>& choices, bool all_int4) {
  return choice_of(Precision::kInt4, choices, all_int4);
}

}  // namespace thimble::driver
