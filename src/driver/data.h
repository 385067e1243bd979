#pragma once
// Samples from a `.npz`: one array per graph input, by input name, or `x`/`arg0` for the only one;
// the first axis counts samples.

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

[[nodiscard]] Result<Samples> read_samples(const std::filesystem::path& npz,
                                           const ir::Graph& graph);

/// Each input's array holds whole calls in the input's shape, equally many, all finite; labels are
/// one per sample. `file` is what messages call the data.
[[nodiscard]] Status check_samples(const Samples& samples, const ir::Graph& graph,
                                   std::string_view file);

/// How many times the graph can be called with these samples, and the inputs of one call, converted
/// to the inputs' types.
[[nodiscard]] int64_t call_count(const Samples& samples, const ir::Graph& graph);
[[nodiscard]] std::vector<ir::Tensor> call_inputs(const Samples& samples, const ir::Graph& graph,
                                                  int64_t call);

[[nodiscard]] Result<ir::Tensor> to_tensor(const formats::npy::NpyArray& array,
                                           std::string_view label);
[[nodiscard]] formats::npy::NpyArray to_npy(const ir::Tensor& tensor);

}  // namespace thimble::driver
