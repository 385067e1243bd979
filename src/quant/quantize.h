#pragma once
// quantize(float graph, calibration data): the int8 graph, and how good it is.
//
//   THIMBLE_TRY(ir::Graph graph, passes::run_float_passes(model.graph));
//   THIMBLE_TRY(quant::QuantizedModel q, quant::quantize(graph, data, spec, options));
//
// Before: the graph has been through passes::run_float_passes. After: integer operators only, but
// for one quantize behind each float input and one dequantize before each float output (none with
// Io::kInt8). Inputs and outputs keep order, names and dim_order. Equal arguments give an equal
// graph, on every machine and with any number of threads. The rules are in docs/quantization.md.
//
// A graph that PyTorch quantized (quantize and dequantize operators inside) keeps its parameters:
// pins.h. If it is quantized throughout, no calibration data is needed.
//
// Errors. Bad input: calibration data that does not fit (`calibration data: x: sample 3, element
// 17 is nan`). Not supported: every operator that has no integer form, with the user's lines.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace thimble::quant {

/// How the weights of linear may be held. Some kernels have one multiplier for all channels:
/// with kPerTensorIfClose such weights are used wherever they cost little accuracy. On an NPU for
/// which single multipliers cost a multiple, kPerTensor. What PyTorch quantized stays as it is.
enum class LinearWeights : uint8_t { kPerChannel, kPerTensorIfClose, kPerTensor };

/// What the target asks for.
struct QuantSpec {
  LinearWeights linear_weights = LinearWeights::kPerChannel;
  double per_tensor_tolerance_db = 0.3;  // SQNR that the outputs may lose by one of them
  bool wide_softmax = false;             // 16 bits for a softmax at the end, if io is float
  bool own_means = false;                // an average over a whole image has its own scale
  bool symmetric_products = false;       // operands of a product of activations: zero points 0
  /// What tables may hold, by the names of named_function.h; empty: anything.
  std::vector<std::string_view> tables;
};

/// Type of the graph's own inputs and outputs. kInt8: their scale and zero point are on the Type.
enum class Io : uint8_t { kFloat, kInt8 };

/// How a range is chosen from what calibration saw.
enum class Observer : uint8_t { kMinMax, kPercentile, kMse, kOutlook };
inline constexpr Observer kObservers[] = {Observer::kOutlook, Observer::kMinMax,
                                          Observer::kPercentile, Observer::kMse};
inline constexpr Observer kDefaultObserver = Observer::kOutlook;
[[nodiscard]] std::string_view observer_name(Observer observer);  // "min-max", ...

/// One array per graph input, in the order of graph.inputs().
struct CalibrationInput {
  std::string name;  // for messages
  /// f32, or an integer type whose values are exact in f32. The first axis counts samples, either
  /// [samples * batch, ...] or [samples, batch, ...] for an input [batch, ...].
  ir::Tensor data;
};
struct CalibrationData {
  std::vector<CalibrationInput> inputs;
};

/// What the result must reach, and the numbers that are compared.
enum class Metric : uint8_t {
  kSqnr,       // of the worst output, in dB
  kTop1,       // share of labels that are where output 0 is largest
  kAgreement,  // share of samples on which float and integers have output 0 largest at one place
};
inline constexpr Metric kMetrics[] = {Metric::kSqnr, Metric::kTop1, Metric::kAgreement};
[[nodiscard]] std::string_view metric_name(Metric metric);  // "sqnr", ...
struct AccuracyGoal {
  Metric metric = Metric::kSqnr;
  double least = 0;
  std::vector<int64_t> labels;  // of all samples, one per row of output 0: kTop1
};

struct QuantizeOptions {
  Io io = Io::kFloat;
  Observer observer = kDefaultObserver;
  bool equalize = false;        // channels of one value brought to the same magnitude (equalize.h)
  bool tune = false;            // tries equalization and other observers, keeps what gains (tune.h)
  int threads = 0;              // 0: as many as the machine has; never changes the result
  int64_t quality_samples = 8;  // samples that the SQNR of the report is measured on; 0: none
  /// Requantization in one step instead of two, where the operator knows both: PyTorch's meaning.
  /// Kernels round twice; this is for judging.
  bool single_rounding = false;
  /// Operators (of the prepared graph) that shall have 16-bit activations; empty: none. Those
  /// without such a form, and what PyTorch quantized, stay as they are.
  std::function<bool(const ir::Graph&, const ir::Op&)> wide;
  /// As few operators more get 16-bit activations as it takes.
  std::optional<AccuracyGoal> goal;
};

/// How close an integer value is to what the float graph computes there.
struct OpQuality {
  ir::ValueId value = ir::kNoValue;  // in the integer graph
  std::string op;                    // of the integer operator: "qconv2d"
  ir::Source source;
  double sqnr_db = 0;
};

/// An operator whose width is worth a line.
struct WidthNote {
  std::string name;  // of the value it makes
  ir::Source source;
  std::string reason;
};

/// How the search for a goal went.
struct GoalReport {
  Metric metric = Metric::kSqnr;
  double least = 0, narrow = 0, wide = 0, reached = 0;  // asked; in int8; in int16; as chosen
  std::vector<WidthNote> promoted;
};

/// A tool of tune.h, tried.
struct Trial {
  std::string tool;                    // "equalize", or the name of an observer
  std::string where;                   // "all layers", "all values", or a value
  double before_db = 0, after_db = 0;  // SQNR, mean over outputs, on samples held back
  bool kept = false;
};

struct QuantReport {
  int64_t samples = 0;                 // calibrated on
  double calibrate_seconds = 0;        // float forward passes, observers
  double quality_seconds = 0;          // integer forward passes of the report
  std::vector<double> output_sqnr_db;  // per output; empty without quality samples
  std::vector<OpQuality> ops;          // in execution order, where the float value exists
  std::optional<size_t> weakest;       // index into ops: lowest SQNR
  int per_tensor_linears = 0;          // how many linears have one multiplier
  int wide_ops = 0;                    // operators of the integer graph with 16-bit results
  std::vector<WidthNote> kept_int8;    // 16 bits were asked for
  std::optional<GoalReport> goal;
  std::vector<Trial> trials;  // of QuantizeOptions::tune, in their order
};

struct QuantizedModel {
  ir::Graph graph;
  QuantReport report;
};

/// Without inputs in `data`: bad input, with the user's lines, unless PyTorch quantized everything.
[[nodiscard]] Result<QuantizedModel> quantize(const ir::Graph& prepared,
                                              const CalibrationData& data, const QuantSpec& spec,
                                              const QuantizeOptions& options);

}  // namespace thimble::quant
