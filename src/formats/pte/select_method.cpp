#include "formats/pte/select_method.h"

#include <algorithm>

#include <fmt/ranges.h>

namespace thimble::formats::pte {

Status select_method(std::string_view method, std::string_view label, Program* program) {
  const auto plan = std::ranges::find(program->plans, method, &ExecutionPlan::name);
  if (plan == program->plans.end()) {
    std::vector<std::string> names;
    for (const ExecutionPlan& each : program->plans) names.push_back(each.name);
    return bad_input("{}: no method {}; it has {}", label, method, fmt::join(names, ", "));
  }
  program->plans = {std::move(*plan)};
  return ok();
}

}  // namespace thimble::formats::pte
