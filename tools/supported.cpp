// SPDX-License-Identifier: Apache-2.0
#include "tools/supported.h"

#include <algorithm>
#include <set>

#include "import/import.h"

namespace thimble::tools {
namespace {

/// PyTorch operators whose name differs from that of the integer graph.
struct OtherNames {
  std::string_view op;
  std::vector<std::string_view> names;
};
const std::vector<OtherNames>& other_names() {
  static const std::vector<OtherNames> kNames = {
      {"compare", {"eq", "ge", "gt", "le", "lt", "ne"}},
      {"concat", {"cat", "stack"}},
      {"copy", {"clone"}},
      {"expand", {"repeat"}},
      {"gather", {"embedding", "index", "index_select"}},
      {"maximum", {"max"}},
      {"minimum", {"min"}},
      {"pad", {"constant_pad_nd"}},
      {"permute", {"t", "transpose"}},
      {"qadaptive_avg_pool2d", {"adaptive_avg_pool1d"}},
      {"qavg_pool2d", {"avg_pool1d"}},
      {"qconv2d", {"conv1d", "convolution"}},
      {"qconv_transpose2d", {"conv_transpose1d"}},
      {"qlinear", {"addmm"}},
      {"qmatmul", {"bmm", "mm", "scaled_dot_product_attention"}},
      {"qmean", {"sum"}},
      {"qresize_bilinear", {"upsample_bilinear2d"}},
      {"reshape", {"flatten", "squeeze", "unsqueeze", "view"}},
      {"slice", {"chunk", "narrow", "select", "split"}},
  };
  return kNames;
}

/// Returns "conv2d" for "qconv2d16".
std::string_view stem_of(std::string_view op) {
  if (op.ends_with("16") || op.ends_with("12")) op.remove_suffix(2);
  return op.starts_with("q") ? op.substr(1) : op;
}
std::string_view short_name(std::string_view aten) {
  const std::string_view rest = aten.substr(aten.find('.') + 1);
  return rest.substr(0, rest.find('.'));
}

}  // namespace

std::vector<std::string> pytorch_names(std::string_view op) {
  const std::string_view stem = stem_of(op);
  std::set<std::string> names;
  for (const std::string_view aten : import_pt2::supported_targets()) {
    if (short_name(aten) == stem) names.emplace(stem);
  }
  for (const OtherNames& row : other_names()) {
    if (stem_of(row.op) == stem) names.insert(row.names.begin(), row.names.end());
  }
  return {names.begin(), names.end()};
}

std::vector<engine::OpSupport> supported_by(const engine::PartNpu& use) {
  if (use.engine->supported == nullptr) return {};
  std::vector<engine::OpSupport> list = use.engine->supported(use);
  std::ranges::sort(list, {}, &engine::OpSupport::op);
  return list;
}

}  // namespace thimble::tools
