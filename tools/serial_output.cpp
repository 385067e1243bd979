// SPDX-License-Identifier: Apache-2.0
#include "tools/serial_output.h"

#include <algorithm>
#include <cstdio>

#include "driver/report.h"
#include "hostrun/interface.h"

namespace thimble::tools {
namespace {

using driver::with_commas;

/// Registry names of the operators, in the order of the cycles.
std::vector<std::string> op_names(const Model& model) {
  const auto interface = hostrun::read_interface(*model.program, model.label);
  return interface ? interface->ops : std::vector<std::string>();
}

double us_of(const hostrun::SerialFacts& facts, int64_t cycles) {
  return static_cast<double>(cycles) / facts.clock_mhz;
}

}  // namespace

void print_serial(const Model& model, const Outcome& outcome) {
  const hostrun::SerialFacts& facts = *outcome.serial;
  const auto calls = static_cast<int64_t>(outcome.outputs.size());
  const auto row = [&](const std::string& what, int64_t cycles) {
    std::printf("  %-46s %15s %11s\n", what.c_str(), with_commas(cycles / calls).c_str(),
                driver::time_text(us_of(facts, cycles / calls)).c_str());
  };
  if (!facts.op_cycles.empty()) {
    std::printf("  %-46s %15s %11s\n",
                calls == 1 ? "op" : fmt::format("op, mean over {} calls", calls).c_str(), "cycles",
                "time");
    const std::vector<std::string> names = op_names(model);
    for (size_t i = 0; i < facts.op_cycles.size(); ++i) {
      row(i < names.size() ? names[i] : "", facts.op_cycles[i]);
    }
  }
  row("inference", facts.cycles);
  std::printf("  %s, %s at %g MHz; cycles measured with %s%s\n", facts.board.c_str(),
              facts.core.c_str(), facts.clock_mhz, facts.counter.c_str(),
              facts.op_cycles.empty() ? "" : ", with those of the measurement");
  std::printf("  model in %s", facts.model_in.c_str());
  if (facts.sent_bytes != 0) {
    std::printf(": %s B sent in %.1f s, %s B/s", with_commas(facts.sent_bytes).c_str(),
                facts.sent_seconds,
                with_commas(static_cast<int64_t>(static_cast<double>(facts.sent_bytes) /
                                                 std::max(facts.sent_seconds, 1e-3)))
                    .c_str());
  }
  std::printf("\n  arena used %s B; state %s B; stack high-water %s B, measured\n",
              with_commas(facts.arena_bytes).c_str(), with_commas(facts.state_bytes).c_str(),
              with_commas(facts.stack_bytes).c_str());
}

void add_serial_json(const Model& model, const Outcome& outcome, Json* json) {
  const hostrun::SerialFacts& facts = *outcome.serial;
  (*json)["board"] = facts.board;
  (*json)["core"] = facts.core;
  (*json)["clock_mhz"] = facts.clock_mhz;
  (*json)["counter"] = facts.counter;
  (*json)["cycles"] = facts.cycles;
  (*json)["time_us"] = us_of(facts, facts.cycles);
  (*json)["model_in"] = facts.model_in;
  (*json)["sent_bytes"] = facts.sent_bytes;
  (*json)["sent_seconds"] = facts.sent_seconds;
  (*json)["state_bytes"] = facts.state_bytes;
  (*json)["stack_bytes"] = facts.stack_bytes;
  if (facts.op_cycles.empty()) return;
  const std::vector<std::string> names = op_names(model);
  (*json)["ops"] = Json::array();
  for (size_t i = 0; i < facts.op_cycles.size(); ++i) {
    (*json)["ops"].push_back({{"name", i < names.size() ? names[i] : ""},
                              {"cycles", facts.op_cycles[i]},
                              {"time_us", us_of(facts, facts.op_cycles[i])}});
  }
}

}  // namespace thimble::tools
