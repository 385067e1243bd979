// SPDX-License-Identifier: Apache-2.0
#pragma once
// A profile in the Trace Event Format of Chrome, which Perfetto also reads: a lane per engine, a
// complete event ("ph": "X") per operator. The format states times in microseconds. If no clock is
// known, a time is a number of cycles or instructions, and the trace names that unit.

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace thimble::report {

struct TraceEvent {
  std::string name;
  double start = 0, duration = 0;
  nlohmann::ordered_json details = nlohmann::ordered_json::object();
};

/// An engine. Events that overlap in time are drawn in further lanes with the same name.
struct TraceLane {
  std::string name;
  std::vector<TraceEvent> events;
};

struct Trace {
  std::string process;  // "kws.pte on cortex-m55"
  std::string unit;     // what a time counts; empty: microseconds
  std::vector<TraceLane> lanes;
  std::vector<std::string> notes;
};

[[nodiscard]] std::string trace_json(const Trace& trace);

}  // namespace thimble::report
