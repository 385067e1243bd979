// SPDX-License-Identifier: Apache-2.0
// thimble diff: what changed between two compiled programs, in total and per operator; for CI, with
// conditions that make it fail.

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/condition.h"
#include "driver/linked_size.h"
#include "driver/missing_waits.h"
#include "driver/report.h"
#include "engine/part.h"
#include "formats/kind/file_kind.h"
#include "tools/commands.h"
#include "tools/compare.h"
#include "tools/facts.h"
#include "tools/output.h"
#include "tools/program_facts.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;
using driver::Condition;
using driver::Metric;
using driver::Unit;
using driver::with_commas;

// keep-sorted
constexpr Metric kDiffMetrics[] = {
    {"accuracy", Unit::kShare},    {"agreement", Unit::kShare},  {"arena", Unit::kBytes},
    {"constants", Unit::kBytes},   {"cycles", Unit::kCount},     {"file", Unit::kBytes},
    {"flash", Unit::kBytes},       {"npu_cycles", Unit::kCount}, {"operators", Unit::kCount},
    {"sqnr", Unit::kDecibels},     {"stack", Unit::kBytes},      {"state", Unit::kBytes},
    {"time", Unit::kMicroseconds},
};

/// A value of both programs; nullopt if it is not known.
struct Total {
  Metric metric;  // of kDiffMetrics
  std::optional<double> before, after;
};

/// A call of both programs, or of one.
struct Row {
  const CallFacts* before = nullptr;  // null: added
  const CallFacts* after = nullptr;   // null: removed
};

struct Difference {
  std::optional<engine::Part> part;  // of --target
  ProgramFacts before, after;
  std::vector<Total> totals;
  std::vector<Row> rows;  // in the order of the programs
  std::vector<std::string> violations;
  std::vector<std::string> warnings;  // of the comparison with the float model
};

/// The operator without its variant: "thimble::conv2d" for "thimble::conv2d.dsp". Names without a
/// variant are unchanged.
std::string family(const std::string& kernel) {
  return kernel.substr(0, kernel.rfind('.'));
}

/// Two calls with equal keys may be the same operator: of the same name, or, without names, the
/// same kind of operator with a result of the same shape.
std::string key_of(const CallFacts& call, bool names) {
  if (names) return call.name;
  return fmt::format("{} {}", family(call.kernel), ir::list_text(call.shape));
}

bool is_changed(const Row& row) {
  if (row.before == nullptr || row.after == nullptr) return true;
  const CallFacts &a = *row.before, &b = *row.after;
  return a.kernel != b.kernel || a.engine != b.engine || a.cycles != b.cycles ||
         a.constant_bytes != b.constant_bytes || a.shape != b.shape;
}

/// Pairs the calls along the longest common subsequence of their keys, so that the order is kept.
std::vector<Row> paired(const std::vector<CallFacts>& before, const std::vector<CallFacts>& after) {
  const auto named = [](const CallFacts& call) { return !call.name.empty(); };
  const bool names = std::ranges::all_of(before, named) && std::ranges::all_of(after, named);
  std::vector<std::string> a, b;
  for (const CallFacts& call : before) a.push_back(key_of(call, names));
  for (const CallFacts& call : after) b.push_back(key_of(call, names));
  // length[i][j]: of the longest common subsequence of a[i..] and b[j..].
  std::vector<std::vector<int>> length(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;) {
      length[i][j] =
          a[i] == b[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  std::vector<Row> rows;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      rows.push_back({&before[i++], &after[j++]});
    } else if (j == b.size() || (i < a.size() && length[i + 1][j] >= length[i][j + 1])) {
      rows.push_back({&before[i++], nullptr});
    } else {
      rows.push_back({nullptr, &after[j++]});
    }
  }
  return rows;
}

Result<ProgramFacts> read_facts(const fs::path& path, const std::optional<engine::Part>& part) {
  THIMBLE_TRY(const Bytes bytes, read_file(path));
  auto facts = program_facts(bytes, path.filename().string(), part ? &*part : nullptr);
  if (!facts) return formats::explain_file(path, formats::FileUse::kProgram, facts.error());
  return facts;
}

void add_total(std::string_view metric, std::optional<double> before, std::optional<double> after,
               Difference* difference) {
  if (!before && !after) return;
  const auto* const known = std::ranges::find(kDiffMetrics, metric, &Metric::name);
  assert(known != std::end(kDiffMetrics));
  difference->totals.push_back({*known, before, after});
}

std::optional<double> as_number(std::optional<int64_t> value) {
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

void add_sizes(Difference* difference) {
  using Value = std::optional<int64_t>;
  const auto add = [&](std::string_view metric, auto value_of) {
    add_total(metric, as_number(value_of(difference->before)),
              as_number(value_of(difference->after)), difference);
  };
  add("flash", [](const ProgramFacts& facts) {
    return facts.linked ? Value(facts.linked->flash_bytes()) : std::nullopt;
  });
  add("file", [](const ProgramFacts& facts) { return Value(facts.file_bytes); });
  add("constants", [](const ProgramFacts& facts) { return Value(facts.constant_bytes); });
  add("arena", [](const ProgramFacts& facts) { return Value(facts.arena_bytes); });
  add("state", [](const ProgramFacts& facts) { return Value(facts.state_bytes); });
  add("stack", [](const ProgramFacts& facts) {
    return facts.linked ? Value(facts.linked->stack_bytes) : std::nullopt;
  });
  add("operators", [](const ProgramFacts& facts) { return Value(std::ssize(facts.calls)); });
  add("cycles", [](const ProgramFacts& facts) { return facts.core_cycles(); });
  add("npu_cycles", [](const ProgramFacts& facts) { return facts.npu_cycles(); });
  add_total("time", difference->before.time_us, difference->after.time_us, difference);
}

Status add_quality(const DiffArguments& arguments, Difference* difference) {
  if (arguments.data.empty() != arguments.model.empty()) {
    return bad_input("--data and --model: both are needed to compare the accuracy");
  }
  if (arguments.data.empty()) return ok();
  THIMBLE_TRY(const QualityFigures a,
              compare_quality(arguments.model, arguments.before, arguments.data));
  THIMBLE_TRY(const QualityFigures b,
              compare_quality(arguments.model, arguments.after, arguments.data));
  for (const QualityFigures* figures : {&a, &b}) {
    for (const std::string& warning : figures->warnings) {
      if (std::ranges::count(difference->warnings, warning) == 0) {
        difference->warnings.push_back(warning);
      }
    }
  }
  add_total("sqnr", a.sqnr_db, b.sqnr_db, difference);
  add_total("agreement", a.agreement, b.agreement, difference);
  add_total("accuracy", a.accuracy, b.accuracy, difference);
  return ok();
}

std::string value_text(Unit unit, const std::optional<double>& value) {
  constexpr double kPercent = 100;
  if (!value) return "-";
  switch (unit) {
    case Unit::kDecibels:
      return fmt::format("{:.1f} dB", *value);
    case Unit::kShare:
      return fmt::format("{:.2f} %", kPercent * *value);
    case Unit::kBytes:
      return with_commas(std::llround(*value)) + " B";
    case Unit::kCount:
      return with_commas(std::llround(*value));
    case Unit::kMicroseconds:
      return driver::time_text(*value);
  }
  return "";
}

std::string change_text(const Total& total) {
  constexpr double kPercent = 100;
  if (!total.before || !total.after) return "";
  const double change = *total.after - *total.before;
  if (change == 0) return "=";
  if (total.metric.unit == Unit::kDecibels) return fmt::format("{:+.1f} dB", change);
  if (total.metric.unit == Unit::kShare) return fmt::format("{:+.2f} points", kPercent * change);
  if (*total.before == 0) return "+" + value_text(total.metric.unit, change);
  return fmt::format("{:+.1f} %", kPercent * change / *total.before);
}

/// Explains why a condition cannot be decided, and what to do.
Error unknown_value(const Condition& condition, const Difference& difference) {
  const std::string& name = condition.name;
  std::string why;
  if (name == "flash" || name == "stack") {
    why = ", because no table has the code of this core or delegate; file is the size of the .pte";
  } else if (name == "cycles") {
    why = ", because no operator has an estimate: --target PART names the core";
  } else if (name == "npu_cycles") {
    why = ", because a delegate has no estimate, or the programs have none";
  } else if (name == "time") {
    const auto& without_waits = difference.after.memories_without_waits;
    why = without_waits.empty()
              ? ", because a clock or an estimate is missing: --target PART gives clocks"
              : fmt::format(
                    ": it lacks {}, which the file of {} does not state; cycles can be compared",
                    driver::missing_waits_text(without_waits), difference.part->name);
  } else {
    why = ": use --data DATA.npz --model MODEL.pt2";
    if (name == "accuracy") why += ", with labels";
  }
  return bad_input("--fail-if {}: {} is not known{}", condition.text, name, why);
}

Status check_conditions(const std::vector<Condition>& conditions, Difference* difference) {
  for (const Condition& condition : conditions) {
    const std::string& name = condition.name;
    const auto total = std::ranges::find_if(
        difference->totals, [&](const Total& each) { return each.metric.name == name; });
    const bool known = total != difference->totals.end() && total->before && total->after;
    const bool lacks_waits =
        name == "time" && !(difference->before.memories_without_waits.empty() &&
                            difference->after.memories_without_waits.empty());
    if (!known || lacks_waits) return unknown_value(condition, *difference);
    const int64_t unknown_before = difference->before.calls_without_estimate();
    const int64_t unknown_after = difference->after.calls_without_estimate();
    if (name == "cycles" && unknown_before != unknown_after) {
      return bad_input(
          "--fail-if {}: the sums cannot be compared: {} operators of {} and {} of {} have no "
          "estimate",
          condition.text, unknown_before, difference->before.label, unknown_after,
          difference->after.label);
    }
    if (!is_true(condition, *total->after, *total->before)) continue;
    difference->violations.push_back(fmt::format(
        "{}: {} -> {} ({})", condition.text, value_text(total->metric.unit, total->before),
        value_text(total->metric.unit, total->after), change_text(*total)));
  }
  return ok();
}

Result<std::unique_ptr<Difference>> compare_programs(const DiffArguments& arguments) {
  THIMBLE_TRY(const std::vector<Condition> conditions,
              driver::parse_conditions(arguments.fail_if, {"--fail-if", kDiffMetrics, true}));
  auto difference = std::make_unique<Difference>();  // rows point into it
  if (!arguments.target.empty()) {
    THIMBLE_TRY(difference->part, engine::find_part(arguments.target));
  }
  THIMBLE_TRY(difference->before, read_facts(arguments.before, difference->part));
  THIMBLE_TRY(difference->after, read_facts(arguments.after, difference->part));
  add_sizes(difference.get());
  THIMBLE_CHECK(add_quality(arguments, difference.get()));
  difference->rows = paired(difference->before.calls, difference->after.calls);
  THIMBLE_CHECK(check_conditions(conditions, difference.get()));
  return difference;
}

/// At most `width` characters.
std::string shortened(const std::string& text, size_t width) {
  constexpr std::string_view kDots = "..";
  if (text.size() <= width) return text;
  return text.substr(0, width - kDots.size()) + std::string(kDots);
}

/// "conv2d.dsp" for "thimble::conv2d.dsp", "NAME" for "(delegate NAME)".
std::string short_name(const std::string& kernel) {
  constexpr std::string_view kDelegate = "(delegate ";
  if (kernel.starts_with(kDelegate)) {
    return kernel.substr(kDelegate.size(), kernel.size() - kDelegate.size() - 1);
  }
  const size_t end = kernel.find("::");
  return end == std::string::npos ? kernel : kernel.substr(end + 2);
}

/// "conv1: conv2d.dsp -> conv2d.mve", or "conv2d.dsp [1,8,8,16]" without names.
std::string row_text(const Row& row) {
  const CallFacts& call = row.after != nullptr ? *row.after : *row.before;
  std::string kernel = short_name(call.kernel);
  if (row.before != nullptr && row.before->kernel != call.kernel) {
    kernel = fmt::format("{} -> {}", short_name(row.before->kernel), kernel);
  }
  if (!call.name.empty()) return fmt::format("{}: {}", call.name, kernel);
  return fmt::format("{} {}", kernel, ir::list_text(call.shape));
}

std::string engine_text(const Row& row) {
  if (row.before == nullptr) return row.after->engine;
  if (row.after == nullptr || row.after->engine == row.before->engine) return row.before->engine;
  return fmt::format("-> {}", row.after->engine);
}

std::string cycles_text(const CallFacts* call) {
  return call != nullptr && call->cycles ? with_commas(*call->cycles) : "-";
}
std::string constants_text(const CallFacts* call) {
  return call != nullptr ? with_commas(call->constant_bytes) : "-";
}

char mark_of(const Row& row) {
  if (row.before == nullptr) return '+';
  return row.after == nullptr ? '-' : '~';
}

/// A table of at most 100 columns. The first line explains the marks.
std::string rows_text(const Difference& difference) {
  constexpr size_t kOperator = 39, kEngine = 16, kNumber = 9;
  const auto line = [&](char mark, const std::string& what, const std::string& engine,
                        const std::array<std::string, 4>& numbers) {
    std::string text = fmt::format("  {} {:<{}} {:<{}}", mark, shortened(what, kOperator),
                                   kOperator, shortened(engine, kEngine), kEngine);
    for (const std::string& number : numbers) text += fmt::format(" {:>{}}", number, kNumber);
    return text + "\n";
  };
  const auto changed = static_cast<size_t>(std::ranges::count_if(difference.rows, is_changed));
  std::string text = fmt::format("\n  {} operators unchanged", difference.rows.size() - changed);
  if (changed == 0) return text + "\n";
  text += fmt::format(", {} changed (~), added (+) or removed (-)\n", changed);
  text += line(' ', "operator", "engine", {"cycles", "now", "constants", "now"});
  for (const Row& row : difference.rows) {
    if (!is_changed(row)) continue;
    text += line(mark_of(row), row_text(row), engine_text(row),
                 {cycles_text(row.before), cycles_text(row.after), constants_text(row.before),
                  constants_text(row.after)});
  }
  return text;
}

/// Returns lines that say for which code and which part flash and cycles hold.
std::string basis_lines(const Difference& difference) {
  const ProgramFacts& after = difference.after;
  std::string text;
  if (after.linked) {
    text +=
        fmt::format("  flash: program and linked code ({})\n", driver::built_with(*after.linked));
  }
  text += "  cycles: of the core, an estimate, ";
  if (!difference.part) {
    text += "without wait states; --target PART adds them";
  } else if (after.memories_without_waits.empty()) {
    text += fmt::format("with wait states of {}", difference.part->name);
  } else {
    text += fmt::format("without {}, which the file of {} does not state",
                        driver::missing_waits_text(after.memories_without_waits),
                        difference.part->name);
  }
  const auto has_npu = [](const ProgramFacts& facts) {
    return std::ranges::any_of(facts.calls, &CallFacts::is_npu);
  };
  return text +
         (has_npu(difference.before) || has_npu(after) ? "; npu_cycles: on its own clock\n" : "\n");
}

std::string text_of(const Difference& difference) {
  constexpr std::string_view kLine = "  {:<12} {:>22} {:>22} {:>16}\n";
  constexpr size_t kColumn = 22;  // as in kLine
  const ProgramFacts &a = difference.before, &b = difference.after;
  const auto target = [](const ProgramFacts& facts) {
    return facts.target.empty() ? "not named" : facts.target;
  };
  std::string text =
      fmt::format(kLine, "", shortened(a.label, kColumn), shortened(b.label, kColumn), "change");
  text += fmt::format(kLine, "target", target(a), target(b), a.target == b.target ? "=" : "");
  for (const Total& total : difference.totals) {
    text += fmt::format(kLine, total.metric.name, value_text(total.metric.unit, total.before),
                        value_text(total.metric.unit, total.after), change_text(total));
  }
  text += basis_lines(difference);
  for (const ProgramFacts* facts : {&a, &b}) {
    if (const int64_t unknown = facts->calls_without_estimate(); unknown > 0) {
      text += fmt::format("  {}: without {} operators, which have no estimate\n", facts->label,
                          unknown);
    }
    if (const int64_t unmeasured = facts->unmeasured_calls(); unmeasured > 0) {
      text += fmt::format(
          "  {}: the cycles of {} operators are not from accurate measurements: `compile` "
          "gives the reasons\n",
          facts->label, unmeasured);
    }
  }
  for (const std::string& warning : difference.warnings) {
    text += fmt::format("  warning: {}\n", warning);
  }
  return text + rows_text(difference);
}

Json optional_json(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

Json to_json(const CallFacts* call) {
  if (call == nullptr) return nullptr;
  return {{"name", call->name},
          {"kernel", call->kernel},
          {"engine", call->engine},
          {"shape", call->shape},
          {"constant_bytes", call->constant_bytes},
          {"cycles", call->cycles ? Json(*call->cycles) : Json(nullptr)},
          {"cycles_measured", call->measured}};
}

Json to_json(const Difference& difference) {
  Json json;
  for (const auto& [key, facts] :
       {std::pair("before", &difference.before), std::pair("after", &difference.after)}) {
    json[key] = {
        {"file", facts->label},
        {"target", facts->target.empty() ? Json(nullptr) : Json(facts->target)},
        {"runtime_cycles", facts->runtime_cycles ? Json(*facts->runtime_cycles) : Json(nullptr)},
        {"calls_without_estimate", facts->calls_without_estimate()}};
  }
  json["part"] = difference.part ? Json(difference.part->name) : Json(nullptr);
  json["totals"] = Json::array();
  for (const Total& total : difference.totals) {
    json["totals"].push_back({{"name", total.metric.name},
                              {"before", optional_json(total.before)},
                              {"after", optional_json(total.after)}});
  }
  json["ops"] = Json::array();
  for (const Row& row : difference.rows) {
    json["ops"].push_back({{"changed", is_changed(row)},
                           {"before", to_json(row.before)},
                           {"after", to_json(row.after)}});
  }
  json["violations"] = difference.violations;
  json["warnings"] = difference.warnings;
  return json;
}

int diff(const DiffArguments& arguments) {
  const auto difference = compare_programs(arguments);
  if (!difference) return fail(difference.error(), arguments.json);
  if (arguments.json) {
    print_json(to_json(**difference));
  } else {
    std::fputs(text_of(**difference).c_str(), stdout);
  }
  const std::vector<std::string>& violations = (*difference)->violations;
  for (const std::string& violation : violations) {
    std::fprintf(stderr, "failed: %s\n", violation.c_str());
  }
  return violations.empty() ? 0 : 1;
}

}  // namespace

Result<Json> diff_json(const DiffArguments& arguments) {
  THIMBLE_TRY(const auto difference, compare_programs(arguments));
  return to_json(*difference);
}

void add_diff_options(Verb& verb, DiffArguments* arguments) {
  DiffArguments& a = *arguments;
  const std::string conditions =
      "Exit 1 if one of these is true: a change (flash>+1%, cycles>+2%, sqnr<-0.5dB) or a value "
      "(arena>64K) of " +
      driver::metric_names(kDiffMetrics);
  verb.option("before", a.before, "The first .pte").required();
  verb.option("after", a.after, "The second .pte").required();
  verb.option("--fail-if", a.fail_if, conditions.c_str())
      .not_empty("a condition such as flash>+1%");
  verb.option("--target", a.target,
              "The part that runs both files: cycles with the wait states of its memories");
  verb.option("--data", a.data, "Samples, to compare the accuracy; requires --model");
  verb.option("--model", a.model, "The .pt2 from which both files were compiled");
  verb.flag("--json", a.json, "Print one JSON object");
}

void add_diff(CommandLine& line, int* exit_code) {
  Verb verb(line, "diff", "Show what changed between two .pte files; for CI, fail on a condition");
  auto arguments = std::make_shared<DiffArguments>();
  add_diff_options(verb, arguments.get());
  verb.callback([arguments, exit_code] { *exit_code = diff(*arguments); });
}

}  // namespace thimble::tools
