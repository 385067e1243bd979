// SPDX-License-Identifier: Apache-2.0
#include "axon_vendor_support.h"

#include "base/library.h"
#include "emit/emit.h"
#include "formats/pte/write.h"

namespace thimble::axon_vendor_test {

fs::path library_in(const fs::path& sdk) {
  const base::Host host = base::host();
  return sdk / "tools/axon/compiler/bin" / host.system /
         fmt::format("{}nrf-axon-nn-compiler-lib-{}{}", host.library_prefix, host.machine,
                     host.library_suffix);
}

StandinSdk::StandinSdk(const std::string& mode) {
  const fs::path library = library_in(folder_.path());
  fs::create_directories(library.parent_path());
  fs::copy_file(THIMBLE_AXON_STANDIN, library);
  ::setenv("AXON_STANDIN", mode.c_str(), 1);
}

engine::axon::SdkOptions StandinSdk::options() const {
  return {folder_.path(), THIMBLE_AXON_HELPER, std::chrono::seconds(20)};
}

engine::VendorTools StandinSdk::tools(const std::string& form) const {
  engine::VendorTools tools;
  tools.form = form;
  tools.folder = folder_.path();
  tools.helper = THIMBLE_AXON_HELPER;
  tools.model = "My-Model";
  return tools;
}

engine::Delegate delegate_of(const std::vector<uint8_t>& container) {
  engine::Delegate delegate;
  delegate.engine = "axon";
  delegate.id = axon::kDelegateId;
  const auto* const bytes = reinterpret_cast<const std::byte*>(container.data());
  delegate.payload.assign(bytes, bytes + container.size());
  return delegate;
}

List small_list(uint32_t inputs, uint32_t outputs) {
  List list;
  const auto in = list.external({1, 1, 1, inputs}, 1, -4);
  auto& layer =
      list.layer(axon::Operation::kFullyConnected, {in}, list.interlayer({1, 1, 1, outputs}, 1, 3));
  std::vector<uint8_t> weights;
  for (uint32_t i = 0; i < inputs * outputs; ++i) weights.push_back(static_cast<uint8_t>(i * 29));
  layer.weights = list.bytes(weights);
  layer.weight_bytes = inputs * outputs;
  layer.bias = list.ints(std::vector<int32_t>(outputs, 1000));
  axon_test::scale(list, layer, {77}, {14});
  list.output(list.last());
  list.inputs[0].scale = list.outputs[0].scale = 0.125;
  return list;
}

Bytes file_with(const engine::Delegate& delegate, const std::vector<int64_t>& input,
                const std::vector<std::vector<int64_t>>& outputs) {
  engine::Lowered lowered;
  ir::Graph& graph = lowered.graph;
  const ir::ValueId in = graph.add_input("x", {ir::DType::kI8, input, {}, {}});
  engine::KernelCall call;
  call.delegate = 0;
  call.ir_op = 0;
  call.arguments = {engine::ValueRef{in}};
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::Attrs attrs = {{ir::attr::subgraph, int64_t{0}},
                             {ir::attr::output, static_cast<int64_t>(i)},
                             {ir::attr::type, static_cast<int64_t>(ir::DType::kI8)},
                             {ir::attr::shape, outputs[i]},
                             {ir::attr::nhwc, int64_t{0}}};
    auto made = graph.add(ir::OpKind::delegate, {in}, attrs, {},
                          {fmt::format("y{}", i), ir::DimOrder{}, {}});
    EXPECT_TRUE(made.ok());
    graph.add_output(*made);
    if (i == 0) {
      call.out = *made;
    } else {
      call.extra_outputs.push_back(*made);
    }
  }
  lowered.calls.push_back(call);
  lowered.delegates.push_back(delegate);
  const memory::MemoryPlan memory_plan = memory::plan_memory(lowered);
  const auto cpu = engine::find_core("cortex-m33");
  EXPECT_TRUE(cpu.ok());
  auto emitted = emit::write_program(lowered, memory_plan, **cpu, {});
  EXPECT_TRUE(emitted.ok()) << emitted.error().message;
  return emitted->bytes;
}

}  // namespace thimble::axon_vendor_test
