#pragma once
// Conditions of --fail-if, such as "flash>+1%,sqnr<-0.5dB": the command fails if one is true.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thimble::tools {

enum class Relation { kLess, kLessEqual, kGreater, kGreaterEqual };
enum class Unit { kCount, kBytes, kDecibels, kShare };

/// A value that conditions can test.
struct Metric {
  std::string_view name;  // "sqnr"
  Unit unit = Unit::kCount;
};

/// NAME RELATION [SIGN] VALUE [UNIT]. With a sign the condition tests the change between two files:
/// "flash>+1%" in percent of the first one, "sqnr<-0.5dB" in the metric's unit. Without one it
/// tests the value: "sqnr<5dB", "flash>64K". K and M stand for 1024 and 1024 * 1024 bytes; a share
/// is a number from 0 to 1 or a percentage.
struct Condition {
  std::string text;
  std::string name;
  Relation relation = Relation::kLess;
  double value = 0;
  bool is_change = false;
  bool is_percent = false;  // of the first file's value; only for a change
};

/// Parses conditions that are separated by commas. `changes`: the command compares two files.
[[nodiscard]] Result<std::vector<Condition>> parse_conditions(std::string_view text,
                                                              std::span<const Metric> known,
                                                              bool changes);

/// Returns true if the condition holds for `now`. `before` is the first file's value.
[[nodiscard]] bool is_true(const Condition& condition, double now, double before);

/// Names of the metrics, for the help of an option: "flash, sqnr".
[[nodiscard]] std::string metric_names(std::span<const Metric> known);

}  // namespace thimble::tools
