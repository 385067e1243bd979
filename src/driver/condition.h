// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conditions on figures: of --fail-if, such as "flash>+1%,sqnr<-0.5dB", and of --require, such as
// "latency<20ms,sram<128K".

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thimble::driver {

enum class Relation { kLess, kLessEqual, kGreater, kGreaterEqual };
enum class Unit { kCount, kBytes, kDecibels, kShare, kMicroseconds };
/// The relations that a condition may have: any, < and <=, or > and >=.
enum class Bound { kAny, kMaximum, kMinimum };

/// A figure that conditions can test.
struct Metric {
  std::string_view name;  // "sqnr"
  Unit unit = Unit::kCount;
  Bound bound = Bound::kAny;
};

/// An option whose value is a list of conditions.
struct ConditionOption {
  std::string_view name;  // "--fail-if", for messages
  std::span<const Metric> metrics;
  bool changes = false;  // the command compares two files
};

/// NAME RELATION [SIGN] VALUE [UNIT]. With a sign the condition tests the change between two files:
/// "flash>+1%" in percent of the first one, "sqnr<-0.5dB" in the metric's unit. Without one it
/// tests the value: "sqnr<5dB", "flash>64K". K and M stand for 1024 and 1024 * 1024 bytes; a share
/// is a number from 0 to 1 or a percentage; a time has a unit.
struct Condition {
  std::string text;  // as the user wrote it
  std::string name;
  Relation relation = Relation::kLess;
  double value = 0;  // in the metric's unit
  bool is_change = false;
  bool is_percent = false;  // of the first file's value; only for a change
};

/// Parses conditions that are separated by commas; an empty text has none. An error names the
/// option, the invalid condition and what is expected.
[[nodiscard]] Result<std::vector<Condition>> parse_conditions(std::string_view text,
                                                              const ConditionOption& option);

/// Returns true if the condition holds for `now`. `before` is the first file's value.
[[nodiscard]] bool is_true(const Condition& condition, double now, double before = 0);

/// Names of the metrics, for the help of an option: "flash, sqnr".
[[nodiscard]] std::string metric_names(std::span<const Metric> metrics);

}  // namespace thimble::driver
