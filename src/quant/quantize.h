// SPDX-License-Identifier: Apache-2.0
#pragma once
// quantize(float graph, calibration data): returns the int8 graph and its measured quality.
//
//   THIMBLE_TRY(ir::Graph graph, passes::run_float_passes(model.graph));
//   THIMBLE_TRY(quant::QuantizedModel q, quant::quantize(graph, data, spec, options));
//
// Before: the graph has been through passes::run_float_passes. After: only integer operators,
// except one quantize after each float input and one dequantize before each float output (none for
// inputs and outputs with an integer type). Inputs and outputs keep order, names and dim_order.
// Equal arguments give an equal graph on every machine, with any number of threads.
// docs/quantization.md states the rules.
//
// A graph that PyTorch quantized (with quantize and dequantize operators) keeps its parameters:
// pins.h. If it is quantized completely, no calibration data is needed.
//
// Errors. Bad input: calibration data that does not match the graph (`calibration data: x: sample
// 3, element 17 is nan`). Not supported: every operator without an integer form, with source lines.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "ir/graph.h"
#include "ir/refused_op.h"
#include "ir/tensor.h"

namespace thimble::quant {

/// Weight scales of linear. Some kernels have one multiplier for all channels. kPerTensorIfClose:
/// one scale wherever it costs little accuracy. kPerTensor: one scale always, for NPUs on which a
/// multiplier per channel takes several times the cycles. Weights that PyTorch quantized do not
/// change.
enum class LinearWeights : uint8_t { kPerChannel, kPerTensorIfClose, kPerTensor };

/// Quantization requirements of the target.
struct QuantSpec {
  LinearWeights linear_weights = LinearWeights::kPerChannel;
  double per_tensor_tolerance_db = 0.3;  // SQNR loss of the outputs allowed per linear
  bool wide_softmax = false;             // 16 bits for a softmax at an output, if io is float
  bool own_means = false;                // an average over a whole image has its own scale
  bool symmetric_products = false;       // zero points 0 for products of two activations
  bool tied_tables = false;  // a table that is also a linear's weights has their scale (tied.h)
  /// A sigmoid or tanh has a finer scale than the fixed one if its results are small. No effect if
  /// `tables` has names: an NPU with own functions has fixed scales.
  bool sigmoid_scale_from_range = false;
  /// Functions allowed in tables, by the names of named_function.h; empty: any function.
  std::vector<std::string_view> tables;

  bool operator==(const QuantSpec&) const = default;
};

/// Type of a float input or output of the graph. Scale and zero point of an integer type are part
/// of the value's Type.
enum class Io : uint8_t { kFloat, kInt8, kUint8, kInt16 };
inline constexpr Io kIos[] = {Io::kFloat, Io::kInt8, Io::kUint8, Io::kInt16};
[[nodiscard]] std::string_view io_name(Io io);  // "float", "int8", "uint8", "int16"

/// Type of each input and output: one for all, and others by name.
struct IoTypes {
  IoTypes(Io all = Io::kFloat) : all(all) {}  // NOLINT(google-explicit-constructor)
  Io all;
  std::map<std::string, Io, std::less<>> named;

  [[nodiscard]] Io of(std::string_view name) const {
    const auto found = named.find(name);
    return found == named.end() ? all : found->second;
  }
  bool operator==(const IoTypes&) const = default;
};

/// Method that chooses a range from the calibration statistics.
enum class Observer : uint8_t { kMinMax, kPercentile, kMse, kExtrapolate };
inline constexpr Observer kObservers[] = {Observer::kExtrapolate, Observer::kMinMax,
                                          Observer::kPercentile, Observer::kMse};
inline constexpr Observer kDefaultObserver = Observer::kExtrapolate;
[[nodiscard]] std::string_view observer_name(Observer observer);  // "min-max", ...

/// One array per graph input, in the order of graph.inputs().
struct CalibrationInput {
  std::string name;  // used in messages
  /// f32, or an integer type whose values are exact in f32. The first axis counts samples. For an
  /// input [batch, ...] the shape is [samples * batch, ...] or [samples, batch, ...].
  ir::Tensor data;
};
struct CalibrationData {
  std::vector<CalibrationInput> inputs;
};

/// Metric of an accuracy goal.
enum class Metric : uint8_t {
  kSqnr,       // SQNR of the worst output, in dB
  kTop1,       // fraction of rows in which the maximum of output 0 is at the label
  kAgreement,  // fraction of rows in which output 0 has its maximum at the same index as in float
};
inline constexpr Metric kMetrics[] = {Metric::kSqnr, Metric::kTop1, Metric::kAgreement};
[[nodiscard]] std::string_view metric_name(Metric metric);  // "sqnr", ...
struct AccuracyGoal {
  Metric metric = Metric::kSqnr;
  double least = 0;
  std::vector<int64_t> labels;  // for kTop1: of all samples, one per row of output 0
};

class JointCalibration;  // joint.h

inline constexpr int kDefaultEffort = 1, kEffortMax = 3;

struct QuantizeOptions {
  IoTypes io;
  Observer observer = kDefaultObserver;
  bool equalize = false;  // equalizes channel magnitudes (equalize.h)
  bool tune = false;      // tries equalization and other observers, keeps gains (tune.h)
  /// 0: weights have the nearest codes. 1 to 3: they are rounded together (adaptive_rounding.h),
  /// and observers are compared (choose_observer), each level with more work at most.
  int effort = 0;
  bool choose_observer = false;  // replaces `observer` by a better one (tune.h)
  int threads = 0;               // 0: hardware threads, at most 8; does not change the result
  int64_t quality_samples = 8;   // number of samples for the SQNR of the report; 0: no SQNR
  /// Requantization rounds once instead of twice, as in PyTorch, for operators with both forms.
  /// Kernels round twice; this option is for comparisons only.
  bool single_rounding = false;
  /// Selects operators of the prepared graph that get 16-bit activations; empty: none. Operators
  /// without a 16-bit form and values that PyTorch quantized do not change.
  std::function<bool(const ir::Graph&, const ir::Op&)> wide;
  /// Selects operators of the prepared graph that stay in float32; empty: none. Values between them
  /// are not quantized. An operator without a float32 result does not change.
  std::function<bool(const ir::Graph&, const ir::Op&)> keep_float;
  /// Selects operators of the prepared graph whose weights get 4 bits; empty: none. Operators
  /// without such a form keep 8 bits, and are reported.
  std::function<bool(const ir::Graph&, const ir::Op&)> int4;
  bool int4_groups = false;  // with a factor for each group of weights (group_weights.h)
  /// Selects operators that report.int4_candidates has; empty: none. Requires calibration data.
  std::function<bool(const ir::Graph&, const ir::Op&)> int4_candidates;
  ProgressFunction progress;  // may be empty
  /// Called after the calibration with the number of first samples that are read afterwards: the
  /// others may be released. May be empty.
  std::function<void(int64_t)> keep_samples;
  /// Promotes the fewest further operators to 16-bit activations that reach the goal.
  std::optional<AccuracyGoal> goal;
  /// Null unless the graph is a method of several, and observe_method() was called for all of
  /// them. The first call of quantize() records its decisions there.
  JointCalibration* joint = nullptr;
};

/// Error of an integer value against the float value that it represents.
struct OpQuality {
  ir::ValueId value = ir::kNoValue;  // value of the integer graph
  std::string op;                    // name of the integer operator: "qconv2d"
  ir::Source source;
  double sqnr_db = 0;  // infinite without an error, NaN if the float value is constant
};

/// An operator whose width is reported, with the reason.
struct WidthNote {
  std::string name;  // name of its result
  ir::Source source;
  std::string reason;
};

/// An operator whose weights have 8 bits and can have 4, and what the outputs lose by it.
struct Int4Candidate {
  std::string output;   // name of its result in the prepared graph
  std::string integer;  // name of its result in the integer graph
  ir::Source source;
  int64_t weights = 0;  // number of weights
  double sqnr_db = 0;   // of the worst output, if only its weights have 4 bits
  double noise = 0;     // that is added to the outputs then, relative to their signals, summed
};

/// Result of the choice of weights with 4 bits within a limit of flash (driver/int4_choice.h).
struct Int4Choice {
  int64_t limit_bytes = 0, int8_bytes = 0, bytes = 0;  // flash: allowed; with int8; of the result
  std::vector<double> int8_sqnr_db;                    // by output; empty if it was not measured
  std::vector<Int4Candidate> chosen;                   // in execution order
  int64_t candidates = 0;
};

/// Result of the search for an accuracy goal.
struct GoalReport {
  Metric metric = Metric::kSqnr;
  double least = 0, narrow = 0, wide = 0, reached = 0;  // requested; int8; int16; final graph
  std::vector<WidthNote> promoted;
  bool rounded = false;  // the weights were rounded together
};

/// One trial of tune.h.
struct Trial {
  std::string tool;                    // "equalize", or the name of an observer
  std::string where;                   // "all layers", "all values", or a value
  double before_db = 0, after_db = 0;  // SQNR, mean over outputs, on held-out samples
  bool kept = false;
};

/// Gain of adaptive_rounding.h and output_bias.h. The SQNRs are means over the outputs on samples
/// that determined neither.
struct RoundingReport {
  int operators = 0;    // with adapted weights
  int biases = 0;       // number of operators with a corrected bias
  int64_t samples = 0;  // number of samples of the SQNRs
  double before_db = 0, after_db = 0;
};

/// The observer that replaced QuantizeOptions::observer. The SQNRs are means over the outputs on
/// samples that did not determine the ranges.
struct ObserverChoice {
  Observer observer = kDefaultObserver;
  double before_db = 0, after_db = 0;
};

/// Options of the compiler that were tried because of a low SQNR (driver/tried_options.h).
struct TriedOption {
  std::string text;          // "--quant lstm=float"
  double sqnr_db = 0;        // lowest of the outputs
  int64_t weight_bytes = 0;  // constants of the integer graph
};

struct QuantReport {
  int64_t samples = 0;                                  // number of calibration samples
  double calibrate_seconds = 0;                         // float forward passes, observers
  double quality_seconds = 0;                           // integer forward passes of the report
  int64_t quality_samples = 0;                          // the SQNRs are those of the first ones
  std::vector<double> output_sqnr_db;                   // Quality::output_db; empty without samples
  std::vector<std::optional<double>> output_agreement;  // Quality::output_agreement
  std::vector<OpQuality> ops;        // in execution order; only values with a float counterpart
  std::optional<size_t> weakest;     // index into ops: lowest finite SQNR
  int per_tensor_linears = 0;        // number of linears with one multiplier
  int wide_ops = 0;                  // operators of the integer graph with 16-bit results
  std::vector<WidthNote> kept_int8;  // remained int8 although 16 bits were requested
  std::vector<WidthNote> kept_int8_weights;    // although 4 bits were requested
  std::vector<Int4Candidate> int4_candidates;  // in execution order
  std::optional<Int4Choice> int4_choice;
  int int4_ops = 0;          // operators with weights of 4 bits
  int int4_grouped_ops = 0;  // those of them with a factor for each group
  int64_t int4_bytes = 0;    // of their weights and scales (a multiplier and shift per channel)
  int64_t int4_as_int8_bytes = 0;   // the same with weights of 8 bits
  int64_t macs_without_effect = 0;  // of channels that passes::remove_channels removed
  std::optional<GoalReport> goal;
  /// Index into ops: the operator that adds the largest noise, relative to its result.
  std::optional<size_t> largest_loss;
  std::optional<RoundingReport> rounding;         // if it was kept
  std::optional<ObserverChoice> observer_choice;  // if another observer is better
  std::vector<TriedOption> tried_options;
  std::vector<Trial> trials;  // trials of QuantizeOptions::tune, in execution order
};

struct QuantizedModel {
  ir::Graph graph;
  QuantReport report;
};

/// If `data` has no inputs and PyTorch did not quantize everything, returns a bad-input error with
/// source lines.
[[nodiscard]] Result<QuantizedModel> quantize(const ir::Graph& prepared,
                                              const CalibrationData& data, const QuantSpec& spec,
                                              const QuantizeOptions& options);

/// Calibrates a method of several and adds what it observed to `joint`, before quantize() is called
/// for any of them. `data` and the options are those of quantize(), without `joint`, tune and
/// equalize.
[[nodiscard]] Status observe_method(const ir::Graph& prepared, const CalibrationData& data,
                                    const QuantSpec& spec, const QuantizeOptions& options,
                                    JointCalibration* joint);

/// Returns the nodes for which quantize() without calibration data returns an error: PyTorch's
/// quantizer did not quantize their results, or they have no integer form. An input that is not
/// quantized is a node with its name.
[[nodiscard]] Result<std::vector<ir::RefusedNode>> unquantized_nodes(
    const ir::Graph& prepared, const QuantSpec& spec, const QuantizeOptions& options);

}  // namespace thimble::quant
