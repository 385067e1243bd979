// The rows of ops.def as text for the list of supported operators.

#include <algorithm>
#include <limits>

#include "target/neutron/engine.h"
#include "target/neutron/limits.h"

namespace thimble::target::neutron {

using ir::OpKind;

namespace {

constexpr uint8_t kN3 = static_cast<uint8_t>(Variant::kN3_64);
constexpr uint8_t kN1 = static_cast<uint8_t>(Variant::kN1_16);
constexpr uint8_t kS = static_cast<uint8_t>(Variant::kImx95);
constexpr uint8_t kAll = kN3 | kN1 | kS;
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

struct RunRow {
  OpKind op;
  uint8_t variants;
};
constexpr RunRow kRuns[] = {
#define NEUTRON_RUNS(op, variants, builtins) {OpKind::op, variants},
#include "target/neutron/ops.def"
};

struct LimitRow {
  std::string_view op;
  uint8_t variants;
  std::string_view quantity;
  int64_t lowest, highest;
};
constexpr LimitRow kLimits[] = {
#define NEUTRON_LIMIT(op, variants, quantity, lowest, highest, source) \
  {#op, variants, #quantity, lowest, highest},
#include "target/neutron/ops.def"
};

struct WantRow {
  std::string_view op;
  uint8_t variants;
  std::string_view words;
};
constexpr WantRow kWants[] = {
#define NEUTRON_WANTS(op, variants, quantity, words, source) {#op, variants, words},
#include "target/neutron/ops.def"
};

struct ChoiceRow {
  std::string_view op;
  uint8_t variants;
  std::string_view quantity;
  std::vector<int64_t> values;
};
const std::vector<ChoiceRow>& choices() {
  static const std::vector<ChoiceRow> kChoices = {
#define NEUTRON_CHOICE(op, variants, quantity, source, ...) \
  {#op, variants, #quantity, {__VA_ARGS__}},
#include "target/neutron/ops.def"
  };
  return kChoices;
}

struct FunctionRow {
  uint8_t variants;
  std::string_view names;
};
constexpr FunctionRow kFunctions[] = {
#define NEUTRON_FUNCTION(function, variants, builtin, names) {variants, names},
#include "target/neutron/ops.def"
};

bool has(uint8_t variants, Variant variant) {
  return (variants & static_cast<uint8_t>(variant)) != 0;
}

/// Joins the parts of a list with separators.
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

std::string quantity_text(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string range_text(int64_t lowest, int64_t highest) {
  if (lowest == highest) return fmt::format("{}", lowest);
  if (highest == kUnlimited) return fmt::format("at least {}", lowest);
  return fmt::format("{} to {}", lowest, highest);
}

/// Returns the operator's limits: "kernel height 1 to 4096, ...; not if its weights are
/// computed..."
std::string limits_of(std::string_view op, Variant variant) {
  List list;
  for (const LimitRow& row : kLimits) {
    if (row.op != op || !has(row.variants, variant)) continue;
    list.add(", ", quantity_text(row.quantity) + " " + range_text(row.lowest, row.highest));
  }
  for (const ChoiceRow& row : choices()) {
    if (row.op != op || !has(row.variants, variant)) continue;
    list.add(", ",
             fmt::format("{} one of {}", quantity_text(row.quantity), fmt::join(row.values, ", ")));
  }
  for (const WantRow& row : kWants) {
    if (row.op == op && has(row.variants, variant)) {
      list.add("; ", fmt::format("not if {}", row.words));
    }
  }
  return list.text();
}

std::string functions_of(Variant variant) {
  List list;
  for (const FunctionRow& row : kFunctions) {
    if (has(row.variants, variant) && !row.names.empty()) list.add(", ", row.names);
  }
  return "one of " + list.text();
}

Variant variant_of(const EngineUse& use) {
  for (const Variant each : {Variant::kN3_64, Variant::kN1_16, Variant::kImx95}) {
    if (variant_name(each) == use.name) return each;
  }
  return Variant::kN3_64;
}

}  // namespace

std::vector<OpSupport> supported(const EngineUse& use) {
  const Variant variant = variant_of(use);
  std::vector<OpSupport> list;
  for (const RunRow& row : kRuns) {
    if (!has(row.variants, variant)) continue;
    std::string limits = limits_of(ir::op_name(row.op), variant);
    if (row.op == OpKind::lut) {
      limits = functions_of(variant) + (limits.empty() ? "" : "; " + limits);
    }
    list.push_back({std::string(ir::op_name(row.op)), std::move(limits)});
  }
  list.push_back({"(any)", limits_of("any", variant)});
  return list;
}

}  // namespace thimble::target::neutron
