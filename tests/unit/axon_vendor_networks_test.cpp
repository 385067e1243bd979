// SPDX-License-Identifier: Apache-2.0
// Whole networks with the user's SDK. The vendor's compiler accepts the output of `compile` for the
// examples and for networks like MLPerf Tiny's; its simulator computes the bytes of our integer
// model. Prints the simulator's cycles next to our estimate. A final softmax is left out, because
// the library computes it in float arithmetic of its own. Skipped without SDK_EDGE_AI_PATH.

#include <cstdlib>
#include <map>

#include "axon_vendor_support.h"
#include "driver/compile.h"
#include "engines/axon/compiler/vendor/layers_to_ir.h"
#include "engines/axon/compiler/vendor/sdk.h"
#include "tests/folders.h"

namespace thimble::axon_vendor_test {
namespace {

using axon::IoRecord;
using axon_test::Tensor;

struct Network {
  const char* folder;
  const char* name;
  int delegates;
  bool state = false;    // has a state: its vectors are not independent, and only one is compared
  bool softmax = false;  // ends with a softmax
};
constexpr Network kNetworks[] = {
    {"examples/nordic", "anomaly", 1},     {"examples/nordic", "hello_axon", 1},
    {"examples/nordic", "image_cnn", 1},   {"examples/nordic", "keywords", 1},
    {"examples/nordic", "multi_layer", 1}, {"examples/nordic", "simple_rnn", 1, true},
    {"models", "ad_autoencoder", 1},       {"models", "dscnn_kws", 1, false, true},
    {"models", "mobilenet_v1_vww", 1},     {"models", "resnet8", 1, false, true},
};

std::vector<engine::Delegate> delegates_of(const Network& network) {
  const std::filesystem::path folder = test::source_folder() / network.folder / network.name;
  driver::CompileOptions options;
  options.target = "nrf54lm20b";
  options.calibration = folder / "calibrate.npz";
  options.keep_small = true;
  if (network.softmax) options.engine_off = {"softmax"};
  auto compiled = driver::compile(folder / fmt::format("{}.pt2", network.name), options);
  EXPECT_TRUE(compiled.ok()) << compiled.error().message;
  if (!compiled.ok()) return {};
  return compiled->lowered.delegates;
}

/// Returns input values, the same in each run. A variable has its initial values.
Tensor some_tensor(const IoRecord& io, uint32_t seed) {
  Tensor tensor = {{io.n, io.c, io.h, io.w}, io.element_bytes, io.zero_point, {}};
  for (uint32_t i = 0; i < tensor.shape.elements(); ++i) {
    seed = seed * 1664525 + 1013904223;
    const auto value = static_cast<int32_t>(seed >> 24) - 128;
    tensor.values.push_back(io.source == axon::Source::kPersistent ? io.zero_point : value);
  }
  return tensor;
}

/// Returns our model's outputs in the order of the layers, which is the simulator's order.
std::vector<int32_t> ours(const std::vector<uint8_t>& bytes, const std::vector<Tensor>& inputs,
                          const engine::axon::IrOfLayers& ir, const axon::Container& container) {
  const std::vector<Tensor> outputs = axon_test::execute(bytes, inputs);
  std::map<int, std::vector<int32_t>> by_maker;
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    if (container.output(i).source == axon::Source::kPersistent) continue;
    by_maker[ir.outputs[i]] = outputs[i].values;
  }
  std::vector<int32_t> all;
  for (const auto& [maker, values] : by_maker) all.insert(all.end(), values.begin(), values.end());
  return all;
}

class AxonVendorNetworks : public testing::TestWithParam<Network> {};

TEST_P(AxonVendorNetworks, OutputsEqualVendorSimulator) {
  const char* const sdk = std::getenv("SDK_EDGE_AI_PATH");
  if (sdk == nullptr || *sdk == 0) {
    GTEST_SKIP() << "SDK_EDGE_AI_PATH is not set: skipped, the vendor's compiler and simulator are "
                    "in Nordic's sdk-edge-ai";
  }
  const Network& network = GetParam();
  const std::vector<engine::Delegate> delegates = delegates_of(network);
  ASSERT_EQ(delegates.size(), static_cast<size_t>(network.delegates));
  for (const engine::Delegate& delegate : delegates) {
    const runtime_test::AlignedBytes data{ByteView(delegate.payload)};
    const std::vector<uint8_t> bytes(data.data(), data.data() + delegate.payload.size());
    const axon::Container container(data.data());
    const auto ir = engine::axon::layers_to_ir(container, "network");
    ASSERT_TRUE(ir.ok()) << ir.error().message;
    std::vector<std::vector<int32_t>> vectors, wanted;
    for (uint32_t seed = 1; seed <= (network.state ? 1U : 3U); ++seed) {
      std::vector<Tensor> inputs;
      for (uint32_t i = 0; i < container.header().input_count; ++i) {
        inputs.push_back(some_tensor(container.input(i), seed));
        const bool external = container.input(i).source != axon::Source::kPersistent;
        if (external) vectors.push_back(inputs.back().values);
      }
      wanted.push_back(ours(bytes, inputs, *ir, container));
    }
    const auto answer = engine::axon::infer_with_sdk(
        ir->file, vectors, {sdk, THIMBLE_AXON_HELPER, std::chrono::seconds(300)});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->results, wanted) << network.name;
    fmt::print("  {:20} {:9} cycles by the vendor's model, {:9} by ours\n", network.name,
               answer->cycles, delegate.cycles.value_or(0));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, AxonVendorNetworks, testing::ValuesIn(kNetworks),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace thimble::axon_vendor_test
