#pragma once
// Tools that raise accuracy on some networks and lower it on others, tried on the calibration data
// and kept where they gain (thimble compile --tune).
//
// A trial is judged on samples that its ranges were not chosen from: ranges from one half of the
// samples, SQNR of the outputs on the other, then the other way round. It is kept if both halves
// gain and the mean of all outputs gains by kWorthDb or more, with no output losing as much. Trials
// stop when kTrialMacs are spent; the report says how many there were.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "quant/quantize.h"

namespace thimble::quant {

inline constexpr double kWorthDb = 0.5;

struct Tuned {
  ir::Graph graph;                            // equalized, if that was kept
  std::map<ir::ValueId, Observer> observers;  // of single values of that graph
  std::vector<Trial> trials;
};

/// `graph` is one that PyTorch did not quantize.
[[nodiscard]] Result<Tuned> tune(const ir::Graph& graph, const CalibrationData& data,
                                 const QuantSpec& spec, const QuantizeOptions& options);

/// Cross-layer equalization of every region (equalize.h), with what calibration sees of channels.
[[nodiscard]] Result<ir::Graph> equalize(const ir::Graph& graph, const CalibrationData& data,
                                         int threads);

}  // namespace thimble::quant
