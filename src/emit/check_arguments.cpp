// SPDX-License-Identifier: Apache-2.0
#include "emit/check_arguments.h"

#include <algorithm>
#include <string_view>

namespace thimble::emit {

namespace pte = formats::pte;

Status check_arguments(const pte::ExecutionPlan& plan, const std::vector<int32_t>& args,
                       const abi::PteOpInfo& info) {
  const std::string_view letters = info.arguments;
  // The return value repeats the out tensor.
  if (args.size() != letters.size() + 1) {
    return bad_input("{}: {} arguments, expected {}", info.name, args.size(), letters.size() + 1);
  }
  for (size_t i = 0; i < letters.size(); ++i) {
    const pte::EValue& v = plan.values[static_cast<size_t>(args[i])];
    const bool none = std::holds_alternative<pte::Null>(v);
    const bool whole = std::holds_alternative<pte::Int>(v);
    bool fits = false;
    switch (letters[i]) {
      case 'T':
      case 'o':
      case 's':
        fits = std::holds_alternative<pte::Tensor>(v);
        break;
      case 't':
        fits = std::holds_alternative<pte::Tensor>(v) || none;
        break;
      case 'i':
        fits = whole;
        break;
      case 'j':
        fits = whole || none;
        break;
      case 'y':
      case 'z':
        fits = whole || std::holds_alternative<pte::Double>(v) ||
               std::holds_alternative<pte::Bool>(v) || (none && letters[i] == 'z');
        break;
      case 'c':
        fits = std::holds_alternative<pte::String>(v);
        break;
      case 'q':
        fits = none || std::holds_alternative<pte::DoubleList>(v);
        break;
      case 'b':
        fits = std::holds_alternative<pte::Bool>(v);
        break;
      case 'd':
        fits = std::holds_alternative<pte::Double>(v);
        break;
      case 'l':
      case 'k':
        fits = none && letters[i] == 'k';
        if (const auto* list = std::get_if<pte::IntList>(&v)) {
          fits = std::ranges::all_of(list->items, [&](int64_t item) {
            return std::holds_alternative<pte::Int>(plan.values[static_cast<size_t>(item)]);
          });
        }
        break;
      case 'R':
      case 'w':
        fits = std::holds_alternative<pte::TensorList>(v);
        break;
      default:
        break;
    }
    if (!fits) return bad_input("{}: argument {} is not of kind '{}'", info.name, i, letters[i]);
  }
  return ok();
}

}  // namespace thimble::emit
