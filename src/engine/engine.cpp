// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <algorithm>

#include "abi/pte_ops.h"
#include "base/nearest.h"

namespace thimble::engine {

std::string_view cycle_basis_name(CycleBasis basis) {
  switch (basis) {
    case CycleBasis::kMeasured:
      return "measured";
    case CycleBasis::kInaccurate:
      return "inaccurate";
    case CycleBasis::kInstructions:
      return "instructions";
    case CycleBasis::kAverage:
      break;
  }
  return "average";
}

std::string words_of_name(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  return text;
}

Result<const Core*> find_core(std::string_view name) {
  constexpr std::string_view kSuffix = "+int8";
  std::string_view wanted = name;
  if (wanted.ends_with(kSuffix)) wanted.remove_suffix(kSuffix.size());
  std::vector<std::string> known;
  for (const Core& target : all_cores()) {
    if (target.name == wanted) return &target;
    known.emplace_back(target.name);
  }
  return bad_input("target {}: not known{}; one of {} was expected", name,
                   suggestions(wanted, known), fmt::join(known, ", "));
}

std::string_view optimize_name(Optimize optimize) {
  switch (optimize) {
    case Optimize::kSpeed:
      return "speed";
    case Optimize::kSize:
      return "size";
    case Optimize::kFlash:
      return "flash";
  }
  return {};
}

std::string call_name(const Lowered& lowered, const KernelCall& call) {
  if (call.delegate < 0) return abi::info(call.op).name;
  return lowered.delegates[static_cast<size_t>(call.delegate)].id;
}

std::string call_types(const Lowered& lowered, const KernelCall& call) {
  const ir::DType result = lowered.graph.type(call.out).dtype;
  std::vector<ir::DType> operands;
  for (const Argument& argument : call.arguments) {
    if (const auto* value = std::get_if<ValueRef>(&argument)) {
      operands.push_back(lowered.graph.type(value->id).dtype);
    } else if (const auto* list = std::get_if<ValueList>(&argument)) {
      for (const ir::ValueId id : *list) operands.push_back(lowered.graph.type(id).dtype);
    } else if (const auto* constant = std::get_if<Constant>(&argument)) {
      const bool packed = constant->dtype == ir::DType::kU8;  // packed kernel parameters
      if (!packed) operands.push_back(constant->dtype);
    }
  }
  const std::string to(ir::dtype_name(result));
  const bool keeps = operands.empty() || std::ranges::find(operands, result) != operands.end();
  return keeps ? to : std::string(ir::dtype_name(operands[0])) + "->" + to;
}

}  // namespace thimble::engine
