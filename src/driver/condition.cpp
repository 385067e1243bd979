// SPDX-License-Identifier: Apache-2.0
#include "driver/condition.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/trimmed.h"

namespace thimble::driver {
namespace {

struct RelationText {
  std::string_view text;
  Relation relation;
  Bound bound;
};
// The longer text first: "<" is the start of "<=".
constexpr RelationText kRelations[] = {{"<=", Relation::kLessEqual, Bound::kMaximum},
                                       {">=", Relation::kGreaterEqual, Bound::kMinimum},
                                       {"<", Relation::kLess, Bound::kMaximum},
                                       {">", Relation::kGreater, Bound::kMinimum}};

struct UnitText {
  std::string_view text;
  Unit unit;
  double scale;
};
// Units that a value may have, in addition to the percent sign.
constexpr UnitText kUnits[] = {
    {"dB", Unit::kDecibels, 1},       {"KB", Unit::kBytes, 1024},
    {"K", Unit::kBytes, 1024},        {"MB", Unit::kBytes, 1024 * 1024},
    {"M", Unit::kBytes, 1024 * 1024}, {"B", Unit::kBytes, 1},
    {"us", Unit::kMicroseconds, 1},   {"ms", Unit::kMicroseconds, 1e3},
    {"s", Unit::kMicroseconds, 1e6},
};
constexpr double kPercent = 0.01;

std::string_view value_example(Unit unit, bool change) {
  switch (unit) {
    case Unit::kDecibels:
      return change ? "-0.5dB" : "5dB";
    case Unit::kBytes:
      return change ? "+1% or +512B" : "64K";
    case Unit::kShare:
      return change ? "-1%" : "0.9 or 90%";
    case Unit::kCount:
      return change ? "+2%" : "100000";
    case Unit::kMicroseconds:
      return change ? "+2%" : "20ms or 250us";
  }
  return "";
}

/// "latency<20ms".
std::string condition_example(const Metric& metric) {
  const std::string_view value = value_example(metric.unit, false);
  return fmt::format("{}{}{}", metric.name, metric.bound == Bound::kMinimum ? ">" : "<",
                     value.substr(0, value.find(' ')));
}

class Parser {
 public:
  Parser(std::string_view text, const ConditionOption& option)
      : text_(trimmed(text)), option_(option) {}

  Result<Condition> run() {
    Condition condition;
    condition.text = std::string(text_);
    size_t at = std::string_view::npos;
    const RelationText* relation = nullptr;
    for (const RelationText& each : kRelations) {
      const size_t found = text_.find(each.text);
      if (found >= at) continue;
      at = found;
      relation = &each;
    }
    if (relation == nullptr) {
      return wrong(fmt::format("a name, one of < <= > >=, and a value expected, such as {}",
                               condition_example(option_.metrics.back())));
    }
    condition.name = std::string(trimmed(text_.substr(0, at)));
    condition.relation = relation->relation;
    const auto metric = std::ranges::find(option_.metrics, condition.name, &Metric::name);
    if (metric == option_.metrics.end()) return unknown(condition.name);
    if (metric->bound != Bound::kAny && metric->bound != relation->bound) {
      return wrong(fmt::format(
          "{} expected, as in {}",
          metric->bound == Bound::kMaximum ? "< or <=" : "> or >=", condition_example(*metric)));
    }
    THIMBLE_CHECK(value(trimmed(text_.substr(at + relation->text.size())), *metric, &condition));
    return condition;
  }

 private:
  Error wrong(std::string_view what) const {
    return bad_input("{} {}: {}", option_.name, text_, what);
  }

  Error unknown(const std::string& name) const {
    std::vector<std::string> names;
    for (const Metric& each : option_.metrics) names.emplace_back(each.name);
    if (name.empty()) {
      return wrong(fmt::format("found no name, expected one of {}", fmt::join(names, ", ")));
    }
    return wrong(fmt::format("{}: not known{}; one of {} expected", name, suggestions(name, names),
                             fmt::join(names, ", ")));
  }

  Status value(std::string_view text, const Metric& metric, Condition* condition) const {
    condition->is_change = text.starts_with('+') || text.starts_with('-');
    if (condition->is_change && !option_.changes) {
      return wrong(
          "a change needs two files: `thimble diff A.pte B.pte`; here a value is expected");
    }
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), condition->value);
    std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
    unit = trimmed(unit);
    const bool good = error == std::errc() && std::isfinite(condition->value) &&
                      apply_unit(unit, metric, condition);
    if (good) return ok();
    return wrong(fmt::format("found {}, expected a value such as {}", text.empty() ? "none" : text,
                             value_example(metric.unit, condition->is_change)));
  }

  static bool apply_unit(std::string_view unit, const Metric& metric, Condition* condition) {
    if (unit.empty()) return metric.unit != Unit::kMicroseconds;
    if (unit == "%") {
      // A percentage of decibels has no meaning. A share changes by percentage points.
      if (metric.unit == Unit::kShare) {
        condition->value *= kPercent;
        return true;
      }
      condition->is_percent = true;
      return condition->is_change && metric.unit != Unit::kDecibels;
    }
    const auto* const row = std::ranges::find(kUnits, unit, &UnitText::text);
    if (row == std::end(kUnits) || row->unit != metric.unit) return false;
    condition->value *= row->scale;
    return true;
  }

  std::string_view text_;
  const ConditionOption& option_;
};

}  // namespace

Result<std::vector<Condition>> parse_conditions(std::string_view text,
                                                const ConditionOption& option) {
  std::vector<Condition> conditions;
  if (trimmed(text).empty()) return conditions;
  const std::string_view all = text;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = trimmed(text.substr(0, comma));
    if (one.empty()) {
      return bad_input(
          "{} {}: found a comma without a condition next to it, expected one such as {}",
          option.name, all, condition_example(option.metrics.back()));
    }
    THIMBLE_TRY(Condition condition, Parser(one, option).run());
    conditions.push_back(std::move(condition));
    if (comma == text.size()) return conditions;
    text.remove_prefix(comma + 1);
  }
}

bool is_true(const Condition& condition, double now, double before) {
  double found = now;
  double limit = condition.value;
  if (condition.is_change) found = now - before;
  if (condition.is_percent) limit = condition.value * kPercent * before;
  switch (condition.relation) {
    case Relation::kLess:
      return found < limit;
    case Relation::kLessEqual:
      return found <= limit;
    case Relation::kGreater:
      return found > limit;
    case Relation::kGreaterEqual:
      return found >= limit;
  }
  return false;
}

std::string metric_names(std::span<const Metric> metrics) {
  std::string text;
  for (const Metric& each : metrics) text += (text.empty() ? "" : ", ") + std::string(each.name);
  return text;
}

}  // namespace thimble::driver
