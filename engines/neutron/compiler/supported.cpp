// The rows of ops.def as text for the list of supported operators.

#include <algorithm>
#include <limits>

#include "engines/neutron/compiler/engine.h"
#include "engines/neutron/compiler/limits.h"

namespace thimble::engine::neutron {

using ir::OpKind;

namespace {

struct ListedRun {
  OpKind op;
  uint8_t variants;
};
constexpr ListedRun kListedRuns[] = {
#define NEUTRON_RUNS(op, variants, builtins) {OpKind::op, variants},
#include "engines/neutron/compiler/ops.def"
};

struct ListedLimit {
  std::string_view op;
  uint8_t variants;
  std::string_view quantity;
  int64_t lowest, highest;
};
constexpr ListedLimit kListedLimits[] = {
#define NEUTRON_LIMIT(op, variants, quantity, lowest, highest, source) \
  {#op, variants, #quantity, lowest, highest},
#include "engines/neutron/compiler/ops.def"
};

struct ListedWant {
  std::string_view op;
  uint8_t variants;
  std::string_view words;
};
constexpr ListedWant kListedWants[] = {
#define NEUTRON_WANTS(op, variants, quantity, words, source) {#op, variants, words},
#include "engines/neutron/compiler/ops.def"
};

struct ListedChoice {
  std::string_view op;
  uint8_t variants;
  std::string_view quantity;
  std::vector<int64_t> values;
};
const std::vector<ListedChoice>& listed_choices() {
  static const std::vector<ListedChoice> kListedChoices = {
#define NEUTRON_CHOICE(op, variants, quantity, source, ...) \
  {#op, variants, #quantity, {__VA_ARGS__}},
#include "engines/neutron/compiler/ops.def"
  };
  return kListedChoices;
}

struct ListedFunction {
  uint8_t variants;
  std::string_view names;
};
constexpr ListedFunction kListedFunctions[] = {
#define NEUTRON_FUNCTION(function, variants, builtin, names) {variants, names},
#include "engines/neutron/compiler/ops.def"
};

/// Parts of a list, with what stands between them.
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
  for (const ListedLimit& row : kListedLimits) {
    if (row.op != op || !has(row.variants, variant)) continue;
    list.add(", ", quantity_text(row.quantity) + " " + range_text(row.lowest, row.highest));
  }
  for (const ListedChoice& row : listed_choices()) {
    if (row.op != op || !has(row.variants, variant)) continue;
    list.add(", ",
             fmt::format("{} one of {}", quantity_text(row.quantity), fmt::join(row.values, ", ")));
  }
  for (const ListedWant& row : kListedWants) {
    if (row.op == op && has(row.variants, variant)) {
      list.add("; ", fmt::format("not if {}", row.words));
    }
  }
  return list.text();
}

std::string functions_of(Variant variant) {
  List list;
  for (const ListedFunction& row : kListedFunctions) {
    if (has(row.variants, variant) && !row.names.empty()) list.add(", ", row.names);
  }
  return "one of " + list.text();
}

Variant variant_of(const PartNpu& use) {
  for (const Variant each : {Variant::kN3_64, Variant::kN1_16, Variant::kImx95}) {
    if (variant_name(each) == use.name) return each;
  }
  return Variant::kN3_64;
}

}  // namespace

std::vector<OpSupport> supported(const PartNpu& use) {
  const Variant variant = variant_of(use);
  std::vector<OpSupport> list;
  for (const ListedRun& row : kListedRuns) {
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

}  // namespace thimble::engine::neutron
