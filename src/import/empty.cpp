#include "import/empty.h"

#include <algorithm>
#include <array>

namespace thimble::import_pt2 {

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

}  // namespace thimble::import_pt2
