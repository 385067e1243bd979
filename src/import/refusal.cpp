// SPDX-License-Identifier: Apache-2.0
#include "import/refusal.h"

#include <fmt/format.h>

namespace thimble::import_pt2 {
namespace {

std::string headline(const Refusal& refusal) {
  const std::string reason = refusal.reason.empty() ? "" : ": " + refusal.reason;
  return fmt::format("{} is not supported{}", refusal.source.target, reason);
}

std::string user_line(const ir::Source& source) {
  if (source.file.empty()) {
    return source.module.empty() ? "" : fmt::format("\n  in module {}", source.module);
  }
  std::string line = fmt::format("\n  {:<14} {}", source.where(), source.text);
  if (source.module.empty()) return line;
  return fmt::format("{:<52} in module {}", line, source.module);
}

}  // namespace

std::string describe(const std::vector<const Refusal*>& refusals) {
  std::vector<std::pair<std::string, std::string>> paragraphs;  // headline, source lines
  for (const Refusal* refusal : refusals) {
    const std::string head = headline(*refusal);
    auto paragraph = paragraphs.begin();
    while (paragraph != paragraphs.end() && paragraph->first != head) ++paragraph;
    if (paragraph == paragraphs.end()) {
      paragraph = paragraphs.insert(paragraph, {head, ""});
    }
    const std::string line = user_line(refusal->source);
    if (paragraph->second.find(line) == std::string::npos) paragraph->second += line;
  }
  std::string text;
  for (const auto& [head, lines] : paragraphs) {
    text += (text.empty() ? "" : "\n") + head + lines;
  }
  return text;
}

std::string_view subclass_refusal(std::string_view target) {
  if (target != "export.access_subclass_inner_tensor.default") return "";
  return "a weight is a tensor subclass, as of torchao's quantize_; save "
         "exported.run_decompositions({}) or call torchao.utils.unwrap_tensor_subclass(model) "
         "before the export";
}

}  // namespace thimble::import_pt2
