// SPDX-License-Identifier: Apache-2.0
// The rows of ops.def as text for the list of supported operators.

#include "engines/neutron/compiler/engine.h"
#include "engines/neutron/compiler/op_rows.h"

namespace thimble::engine::neutron {

using ir::OpKind;

namespace {

/// Parts of a list, with separators.
class List {
 public:
  void add(std::string_view between, std::string_view part) {
    text_ += text_.empty() ? "" : between;
    text_ += part;
  }
  [[nodiscard]] std::string text() const { return text_; }

 private:
  std::string text_;
};

/// Returns the operator's limits: "kernel height 1 to 4096, ...; not if its weights are
/// computed..."
std::string limits_of(OpKind op, Variant variant) {
  List list;
  for (const LimitRow& row : limit_rows()) {
    if (row.op != op || !has(row.variants, variant)) continue;
    list.add(", ", words_of_name(row.name) + " " + range_text(row.lowest, row.highest));
  }
  for (const ChoiceRow& row : choice_rows()) {
    if (row.op != op || !has(row.variants, variant)) continue;
    list.add(", ",
             fmt::format("{} one of {}", words_of_name(row.name), fmt::join(row.values, ", ")));
  }
  for (const ZeroRow& row : zero_rows()) {
    if (row.op == op && has(row.variants, variant)) {
      list.add("; ", fmt::format("not if {}", row.message));
    }
  }
  return list.text();
}

}  // namespace

std::vector<OpSupport> supported(const PartNpu& use) {
  const Variant variant = configuration_of(use.name).variant;
  std::vector<OpSupport> list;
  for (const SupportedRow& row : supported_rows()) {
    if (!has(row.variants, variant)) continue;
    std::string limits = limits_of(row.op, variant);
    if (row.op == OpKind::lut) {
      limits = "one of " + functions_text(variant) + (limits.empty() ? "" : "; " + limits);
    }
    list.push_back({std::string(ir::op_name(row.op)), std::move(limits)});
  }
  list.push_back({"(any)", limits_of(kAnyOp, variant)});
  return list;
}

}  // namespace thimble::engine::neutron
