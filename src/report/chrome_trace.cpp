// SPDX-License-Identifier: Apache-2.0
#include "report/chrome_trace.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace thimble::report {
namespace {

using TraceJson = nlohmann::ordered_json;

/// Three decimals: nanoseconds.
double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

TraceJson metadata(const char* what, int thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", 1}, {"tid", thread}, {"args", {{"name", name}}}};
}

}  // namespace

std::string trace_json(const Trace& trace) {
  TraceJson events = TraceJson::array();
  const bool has_times = trace.unit.empty();
  events.push_back(
      metadata("process_name", 0,
               has_times ? trace.process : fmt::format("{} ({})", trace.process, trace.unit)));
  int threads = 0;
  for (const TraceLane& lane : trace.lanes) {
    std::vector<const TraceEvent*> sorted;
    for (const TraceEvent& event : lane.events) sorted.push_back(&event);
    std::ranges::stable_sort(sorted, {}, [](const TraceEvent* event) { return event->start; });
    const int first = threads + 1;
    std::vector<double> ends;  // of the last event of each thread of the lane
    TraceJson rows = TraceJson::array();
    for (const TraceEvent* event : sorted) {
      const double start = rounded(event->start);
      const double duration = rounded(event->start + event->duration) - start;
      size_t thread = 0;
      while (thread < ends.size() && ends[thread] > start) ++thread;
      if (thread == ends.size()) ends.push_back(0);
      ends[thread] = start + duration;
      rows.push_back({{"ph", "X"},
                      {"name", event->name},
                      {"cat", lane.name},
                      {"pid", 1},
                      {"tid", first + static_cast<int>(thread)},
                      {"ts", start},
                      {"dur", rounded(duration)},
                      {"args", event->details}});
    }
    for (size_t i = 0; i < std::max<size_t>(ends.size(), 1); ++i) {
      events.push_back(metadata("thread_name", first + static_cast<int>(i),
                                i == 0 ? lane.name : lane.name + ", in parallel"));
      TraceJson order = metadata("thread_sort_index", first + static_cast<int>(i), "");
      order["args"] = {{"sort_index", first + static_cast<int>(i)}};
      events.push_back(std::move(order));
    }
    threads += static_cast<int>(std::max<size_t>(ends.size(), 1));
    for (TraceJson& row : rows) events.push_back(std::move(row));
  }
  const TraceJson json = {
      {"traceEvents", std::move(events)},
      {"displayTimeUnit", "ns"},
      {"otherData", {{"unit", has_times ? "microseconds" : trace.unit}, {"notes", trace.notes}}}};
  return json.dump(-1, ' ', false, TraceJson::error_handler_t::replace) + "\n";
}

}  // namespace thimble::report
