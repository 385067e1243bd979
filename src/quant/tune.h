// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tries transformations that raise the accuracy of some models and lower that of others. Those that
// gain on the calibration data are kept (thimble compile --tune).
//
// A trial is measured on samples that did not determine its ranges: ranges from one half of the
// samples, SQNR of the outputs on the other half, then the halves are swapped. It is kept if
// neither half loses, the mean of all outputs gains at least kMinGainDb, and no output loses that
// much. Trials stop when kTrialMacs are used; the report lists the trials.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "quant/quantize.h"

namespace thimble::quant {

inline constexpr double kMinGainDb = 0.5;
inline constexpr double kObserverGainDb = 1;

struct Tuned {
  ir::Graph graph;                            // equalized if that trial was kept
  std::map<ir::ValueId, Observer> observers;  // observers of single values of `graph`
  std::vector<Trial> trials;
};

/// Requires a graph that PyTorch did not quantize.
[[nodiscard]] Result<Tuned> tune(const ir::Graph& graph, const CalibrationData& data,
                                 const QuantSpec& spec, const QuantizeOptions& options);

/// Compares the observers on all values, on halves of the samples as tune() does. Returns one that
/// is better than options.observer by kObserverGainDb on the mean; none if there is none, if there
/// are few samples, or if the trials would need more work than options.effort allows.
[[nodiscard]] Result<std::optional<ObserverChoice>> choose_observer(const ir::Graph& graph,
                                                                    const CalibrationData& data,
                                                                    const QuantSpec& spec,
                                                                    const QuantizeOptions& options);

/// Equalizes every group (equalize.h) with the channel magnitudes observed in calibration.
[[nodiscard]] Result<ir::Graph> equalize(const ir::Graph& graph, const CalibrationData& data,
                                         int threads);

}  // namespace thimble::quant
