// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples from a `.npz`: one array per graph input, named like the input; the array of a single
// input may also be named `x` or `arg0`, or be the only one. A `.npy` holds the samples of a single
// input. The first axis is the sample index. SampleArrays are samples in memory.

#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.h"
#include "formats/npy/npy.h"
#include "ir/graph.h"
#include "quant/quantize.h"

namespace thimble::driver {

struct Samples {
  quant::CalibrationData data;                 // in the order of graph.inputs()
  std::optional<std::vector<int64_t>> labels;  // one per sample
};

[[nodiscard]] Result<Samples> read_samples(const std::filesystem::path& path,
                                           const ir::Graph& graph);

/// Samples in memory. An item has an array for each input and no other: by exactly its name, and
/// `labels`, or by position with empty names; then an additional last array has the labels. An
/// array holds one sample, with or without the first axis, or several samples, as in a file. The
/// items of a list are joined.
struct SampleArrays {
  std::string label = "calibration";  // names the data in messages
  std::vector<formats::npy::NpzArrays> items;
};
[[nodiscard]] Result<Samples> join_samples(const SampleArrays& arrays, const ir::Graph& graph);

/// Returns a few samples of pseudo-random numbers, the same ones on each call: uniform in [-1, 1)
/// for float inputs, 0 for inputs of other types, which may be indices.
[[nodiscard]] Samples random_samples(const ir::Graph& graph);

/// Reads a `.npz`, or a `.npy` as one array without a name.
[[nodiscard]] Result<formats::npy::NpzArrays> read_arrays(const std::filesystem::path& path);
/// Returns the array for an input of a model that has `inputs` inputs. `file` names the data.
[[nodiscard]] Result<const formats::npy::NpyArray*> array_of(const formats::npy::NpzArrays& arrays,
                                                             std::string_view input, size_t inputs,
                                                             std::string_view file);

/// Lowest and highest value of an array.
struct ValueRange {
  double low = 0, high = 0;
  [[nodiscard]] double width() const { return high - low; }
};
[[nodiscard]] ValueRange range_of(const ir::Tensor& data);
/// Returns a question about each float input whose samples have the range of 8-bit pixels.
[[nodiscard]] std::vector<std::string> pixel_questions(const Samples& samples,
                                                       const ir::Graph& graph);
/// Returns a warning if the data of an input is far outside or far inside the range [`low`, `high`]
/// that calibration found; empty if not.
[[nodiscard]] std::string range_warning(std::string_view input, const ir::Tensor& data,
                                        const ValueRange& calibrated);
/// SQNR in dB below which an output has little in common with the float output.
inline constexpr double kLowSqnrDb = 5;
/// Returns a warning if the SQNR of an output is low; empty if not.
[[nodiscard]] std::string sqnr_warning(std::string_view output, double sqnr_db);

/// Returns text for a message if the array has channels last and the input has channels first, or
/// an empty string. The array has the rank of the input, or has in addition or lacks the first
/// axis.
[[nodiscard]] std::string channels_last_hint(const ir::Shape& array, const ir::Shape& input);

/// Checks that each array holds complete calls in the input's shape, and the same number of calls
/// for all inputs. Checks that all values are finite, and that there is one label per sample, a
/// class of the first output. `file` names the data in messages.
[[nodiscard]] Status check_samples(const Samples& samples, const ir::Graph& graph,
                                   std::string_view file);

/// call_count() returns how many times the graph can be called with these samples. call_inputs()
/// returns the inputs of one call.
[[nodiscard]] int64_t call_count(const Samples& samples, const ir::Graph& graph);
/// Frees the samples of all but the first calls.
void keep_first_calls(int64_t calls, const ir::Graph& graph, Samples* samples);
[[nodiscard]] std::vector<ir::Tensor> call_inputs(const Samples& samples, const ir::Graph& graph,
                                                  int64_t call);

[[nodiscard]] Result<ir::Tensor> to_tensor(formats::npy::NpyArray array, std::string_view label);
[[nodiscard]] formats::npy::NpyArray to_npy(const ir::Tensor& tensor);

}  // namespace thimble::driver
