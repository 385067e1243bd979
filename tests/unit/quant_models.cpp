// SPDX-License-Identifier: Apache-2.0
#include "quant_models.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/npy/npy.h"
#include "formats/pt2/reader.h"
#include "import/import.h"
#include "passes/pipeline.h"
#include "quant/fast_float.h"
#include "quant/simulate.h"

namespace thimble::test {
namespace {

ir::Tensor as_tensor(const formats::npy::NpyArray& array) {
  ir::Tensor tensor = ir::zeros(ir::DType::kF32, array.shape);
  std::memcpy(tensor.bytes.data(), array.bytes.data(), tensor.bytes.size());
  return tensor;
}

Result<ir::Tensor> read_x(const std::filesystem::path& path) {
  THIMBLE_TRY(const auto arrays, formats::npy::read_npz(path));
  for (const auto& [name, array] : arrays) {
    if (name == "x" && array.dtype == formats::npy::DType::kFloat32) return as_tensor(array);
  }
  return bad_input("{}: no float32 array x", path.string());
}

}  // namespace

Result<Network> load_network(const std::filesystem::path& folder, size_t tests_max) {
  const std::string name = folder.filename().string();
  THIMBLE_TRY(const auto program, formats::pt2::read(folder / (name + ".pt2")));
  THIMBLE_TRY(const auto model, import_pt2::import_program(program, {}, name));
  Network network;
  THIMBLE_TRY(network.graph, passes::run_float_passes(model.graph));
  THIMBLE_TRY(ir::Tensor calibration, read_x(folder / "calibrate.npz"));
  network.calibration.inputs.push_back({"x", std::move(calibration)});
  THIMBLE_TRY(const ir::Tensor tests, read_x(folder / "test.npz"));
  const ir::Shape shape = network.graph.type(network.graph.inputs()[0]).shape;
  const size_t bytes = network.graph.type(network.graph.inputs()[0]).bytes();
  for (size_t i = 0; i < std::min(tests_max, tests.bytes.size() / bytes); ++i) {
    ir::Tensor sample = ir::zeros(ir::DType::kF32, shape);
    std::memcpy(sample.bytes.data(), tests.bytes.data() + i * bytes, bytes);
    network.tests.push_back({std::move(sample)});
  }
  return network;
}

double measure_sqnr_db(const ir::Graph& float_graph, const ir::Graph& integer_graph,
                       const std::vector<std::vector<ir::Tensor>>& tests) {
  quant::FastExecutor real(float_graph, quant::float_kernels());
  quant::FastExecutor integer(integer_graph, quant::integer_kernels());
  std::vector<ir::Tensor> expected, got;
  for (const auto& inputs : tests) {
    real.run(inputs, {});
    expected.push_back(real.outputs()[0]);
    integer.run(inputs, {});
    got.push_back(integer.outputs()[0]);
  }
  double signal = 0, noise = 0;
  for (size_t i = 0; i < expected[0].data<float>().size(); ++i) {
    double mean = 0;
    for (const auto& sample : expected) mean += static_cast<double>(sample.data<float>()[i]);
    mean /= static_cast<double>(expected.size());
    for (size_t s = 0; s < expected.size(); ++s) {
      const double value = static_cast<double>(expected[s].data<float>()[i]);
      signal += std::pow(value - mean, 2);
      noise += std::pow(value - static_cast<double>(got[s].data<float>()[i]), 2);
    }
  }
  return 10 * std::log10(signal / noise);
}

}  // namespace thimble::test
