// SPDX-License-Identifier: Apache-2.0
#include "neutron_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/aligned_bytes.h"
#include "engine/single_op.h"
#include "engines/neutron/compiler/engine.h"
#include "engines/neutron/compiler/lower.h"
#include "engines/neutron/container/payload.h"
#include "engines/neutron/formats/payload.h"
#include "engines/neutron/model/model.h"
#include "eval/evaluate.h"
#include "ir/op_cost.h"
#include "numerics/multiplier.h"

namespace thimble::test {
namespace {

using ir::OpKind;
using ir::ValueId;

/// Memory filled with a nonzero byte, or with a copy of `bytes`.
class Memory : public AlignedBytes {
 public:
  explicit Memory(size_t bytes) : AlignedBytes(bytes) { memset(data(), 0xA5, bytes); }
  explicit Memory(ByteView bytes) : AlignedBytes(bytes) {}
};

/// One call of a delegate on the host.
class Call {
 public:
  Call(const engine::Delegate& delegate, const ir::Graph& graph)
      : delegate_(delegate), graph_(graph), scratch_(size(delegate.scratch_bytes)) {}

  /// `shared`: tensors are stored in the scratch at the offsets that the delegate assigns.
  std::vector<ir::Tensor> run(const std::vector<ir::Tensor>& inputs, bool shared) {
    const auto payload = formats::neutron::read_payload(delegate_.payload);
    EXPECT_TRUE(payload.ok()) << payload.error().message;
    Memory program(payload->program), weights(payload->weights);
    neutron::Job job;
    job.program = neutron::Program(program.data());
    const neutron::Header header = job.program.header();
    Memory prefetch(header.prefetch_bytes);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const ir::Type& type = graph_.type(graph_.inputs()[i]);
      const std::vector<std::byte> bytes = ir::to_memory(inputs[i], type.dim_order);
      from_.push_back(place(delegate_.inputs[i], bytes.size(), shared));
      memcpy(from_.back(), bytes.data(), bytes.size());
    }
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const size_t bytes = graph_.type(graph_.outputs()[i]).bytes();
      to_.push_back(place(delegate_.outputs[i], bytes, shared));
    }
    job.weights = weights.data();
    job.inputs = from_.data();
    job.outputs = to_.data();
    job.scratch = scratch_.data() + front(header);
    job.prefetch = header.prefetch_bytes > 0 ? prefetch.data() : nullptr;
    neutron::run(job);
    std::vector<ir::Tensor> results;
    for (size_t i = 0; i < to_.size(); ++i) {
      const ir::Type& type = graph_.type(graph_.outputs()[i]);
      const auto* bytes = reinterpret_cast<const std::byte*>(to_[i]);
      results.push_back(
          ir::from_memory({bytes, type.bytes()}, type.dtype, type.shape, type.dim_order));
    }
    return results;
  }

 private:
  static size_t size(int64_t bytes) { return static_cast<size_t>(bytes); }
  /// Number of bytes that the delegate uses before the program's scratch.
  static size_t front(const neutron::Header& header) {
    abi::neutron::PayloadView view;
    view.input_count = header.input_count;
    view.output_count = header.output_count;
    return abi::neutron::call_bytes(view);
  }

  uint8_t* place(const engine::DelegateIo& io, size_t bytes, bool shared) {
    if (shared && io.bytes >= 0) {
      EXPECT_EQ(io.bytes, static_cast<int64_t>(bytes));
      EXPECT_LE(io.offset + io.bytes, delegate_.scratch_bytes);
      return scratch_.data() + io.offset;
    }
    own_.push_back(std::make_unique<Memory>(bytes));
    return own_.back()->data();
  }

  const engine::Delegate& delegate_;
  const ir::Graph& graph_;
  Memory scratch_;
  std::vector<std::unique_ptr<Memory>> own_;
  std::vector<uint8_t*> from_, to_;
};

std::string difference(const std::vector<ir::Tensor>& expected,
                       const std::vector<ir::Tensor>& got) {
  for (size_t i = 0; i < expected.size(); ++i) {
    for (size_t k = 0; k < expected[i].bytes.size(); ++k) {
      if (expected[i].bytes[k] == got[i].bytes[k]) continue;
      return fmt::format("output {} element {}: evaluator {}, model {}", i, k,
                         static_cast<int>(static_cast<int8_t>(expected[i].bytes[k])),
                         static_cast<int>(static_cast<int8_t>(got[i].bytes[k])));
    }
  }
  return "";
}

std::vector<std::string> kernels_of(const engine::Delegate& delegate) {
  const auto payload = formats::neutron::read_payload(delegate.payload);
  Memory program(payload->program);
  const neutron::Program list(program.data());
  std::vector<std::string> names;
  for (uint32_t i = 0; i < list.header().kernel_count; ++i) {
    const neutron::KernelRecord record = list.kernel(i);
    names.emplace_back(neutron::kernel_name(record.kernel));
    if (record.table != neutron::kAbsent && record.kernel != neutron::Kernel::kTable) {
      names.back() += "+";
    }
  }
  return names;
}

engine::Legality bare_legal(const ir::Graph& graph, const ir::Op& op, const engine::PartNpu&) {
  const auto one = engine::single_op_graph(graph, op);
  if (!one.ok()) return {false, one.error().message};
  const auto network = engine::neutron::lower(*one);
  return network.ok() ? engine::Legality{true, ""}
                      : engine::Legality{false, network.error().message};
}

const engine::Npu& unlegalized_engine() {
  static const engine::Npu kBare = [] {
    engine::Npu engine = engine::neutron::kEngine;
    engine.legal = bare_legal;
    engine.adapt = nullptr;
    engine.decline_reason = nullptr;
    return engine;
  }();
  return kBare;
}

}  // namespace

const engine::PartNpu& neutron_use() {
  static const engine::PartNpu kUse = {&engine::neutron::kEngine, "neutron-n3-64", "", "", {}};
  return kUse;
}

const engine::PartNpu& unlegalized_neutron_use() {
  static const engine::PartNpu kUse = {&unlegalized_engine(), "neutron-n3-64", "", "", {}};
  return kUse;
}

NeutronOutcome run_neutron(const ir::Graph& region, const engine::PartNpu& use, uint64_t seed) {
  Result<ir::Graph> adapted = region;
  if (use.engine->adapt != nullptr) adapted = use.engine->adapt(region, use);
  NeutronOutcome outcome;
  if (!adapted.ok()) {
    outcome.refused = true;
    outcome.message = adapted.error().message;
    return outcome;
  }
  const std::vector<ir::Tensor> inputs = random_inputs(*adapted, seed);
  const auto expected = eval::evaluate(*adapted, inputs);
  if (!expected.ok()) return {false, expected.error().message, 0, 0, {}};
  for (const bool prefetch : {false, true}) {
    engine::NpuOptions options;
    options.vendor.prefetch = prefetch;
    if (prefetch && !inputs.empty()) options.read_only_inputs = {inputs.size() - 1};
    const auto delegate = use.engine->compile(*adapted, use, options);
    if (!delegate.ok()) {
      outcome.message = delegate.error().message;
      // A list that its own check refuses is a bug, not a limit of the NPU.
      outcome.refused = outcome.message.find("internal error") == std::string::npos;
      return outcome;
    }
    outcome.cycles = delegate->cycles.value_or(0);
    outcome.kernels = kernels_of(*delegate);
    if (!prefetch) outcome.scratch_bytes = delegate->scratch_bytes;
    for (const bool shared : {false, true}) {
      outcome.message = difference(*expected, Call(*delegate, *adapted).run(inputs, shared));
      if (outcome.message.empty()) continue;
      outcome.message +=
          fmt::format("{}{}", shared ? ", in one scratch" : "", prefetch ? ", prefetched" : "");
      return outcome;
    }
  }
  return outcome;
}

std::optional<PrefetchSlots> prefetch_slots(const ir::Graph& region) {
  const engine::PartNpu& use = neutron_use();
  const auto adapted = use.engine->adapt(region, use);
  if (!adapted.ok()) return std::nullopt;
  engine::NpuOptions options;
  options.vendor.prefetch = true;
  const auto delegate = use.engine->compile(*adapted, use, options);
  if (!delegate.ok()) return std::nullopt;
  const auto payload = formats::neutron::read_payload(delegate->payload);
  Memory program(payload->program);
  const neutron::Program list(program.data());
  PrefetchSlots slots{list.header().prefetch_bytes, {}};
  for (uint32_t i = 0; i < list.header().kernel_count; ++i) {
    const neutron::KernelRecord record = list.kernel(i);
    if (record.prefetch_bytes == 0) continue;
    slots.kernels.emplace_back(record.prefetch_to, record.prefetch_bytes);
  }
  if (slots.kernels.empty()) return std::nullopt;
  return slots;
}

// --- one step ----------------------------------------------------------------------------------

ValueId NeutronNet::sub(ValueId a, ValueId b) {
  const ir::Quant quant = result((scale(a) + scale(b)) * random.real(0.4, 1.2));
  const double joint = 2 * std::max(scale(a), scale(b));
  ir::Attrs attrs = {{ir::attr::a_zp, zero_point(a)},
                     {ir::attr::b_zp, zero_point(b)},
                     {ir::attr::y_zp, int64_t{quant.zero_point[0]}}};
  const auto set = [&](const ir::MultiplierKeys& keys, double real) {
    const auto m = numerics::quantize_multiplier(real);
    attrs.set(keys.mult, int64_t{m.mult});
    attrs.set(keys.shift, int64_t{m.shift});
  };
  set(ir::attr::a_multiplier, scale(a) / joint);
  set(ir::attr::b_multiplier, scale(b) / joint);
  set(ir::attr::y_multiplier, joint / (0x1p20 * quant.scale[0]));
  bounds(&attrs, quant);
  return add_op(OpKind::qsub, {a, b}, attrs, quant);
}

ValueId NeutronNet::choose(OpKind kind, ValueId a, ValueId b) {
  return add_op(kind, {a, b}, {}, *graph.type(a).quant);
}

ValueId NeutronNet::matmul(ValueId a, ValueId b, bool transpose_b) {
  const double terms = static_cast<double>(shape(a).back());
  const ir::Quant quant = result(scale(a) * scale(b) * random.real(20, 60) * std::sqrt(terms));
  const auto m = numerics::quantize_multiplier(scale(a) * scale(b) / quant.scale[0]);
  return add_op(OpKind::qmatmul, {a, b},
                {{ir::attr::transpose_b, int64_t{transpose_b ? 1 : 0}},
                 {ir::attr::a_zp, zero_point(a)},
                 {ir::attr::b_zp, zero_point(b)},
                 {ir::attr::y_zp, int64_t{quant.zero_point[0]}},
                 {ir::attr::mult, int64_t{m.mult}},
                 {ir::attr::shift, int64_t{m.shift}}},
                quant);
}

ValueId NeutronNet::conv_transpose(ValueId x, int64_t channels, std::vector<int64_t> kernel,
                                   std::vector<int64_t> stride, std::vector<int64_t> padding) {
  // Uses the scales and bias of a convolution with the same channels; transposes the weights.
  const ValueId like = conv(x, channels, {1, 1});
  const ir::Op op = graph.ops().back();
  std::vector<ValueId> inputs = op.inputs;
  inputs[1] = graph.add_constant(
      "w", std::make_shared<ir::Tensor>(random_tensor(
               random, ir::DType::kI8, {shape(x)[1], channels, kernel[0], kernel[1]})));
  ir::Attrs attrs = {{ir::attr::stride, stride},
                     {ir::attr::padding, padding},
                     {ir::attr::output_padding, std::vector<int64_t>{0, 0}},
                     {ir::attr::dilation, std::vector<int64_t>{1, 1}}};
  for (const auto key : {ir::attr::x_zp, ir::attr::y_zp, ir::attr::min, ir::attr::max})
    attrs.set(key, op.get(key));
  return add_op(OpKind::qconv_transpose2d, inputs, attrs, *graph.type(like).quant);
}

ValueId NeutronNet::grouped(ValueId x, int64_t groups, int64_t channels,
                            std::vector<int64_t> kernel) {
  return weighted(OpKind::qconv2d, x, {channels, shape(x)[1] / groups, kernel[0], kernel[1]},
                  {{ir::attr::stride, std::vector<int64_t>{1, 1}},
                   {ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0}},
                   {ir::attr::dilation, std::vector<int64_t>{1, 1}},
                   {ir::attr::groups, groups}},
                  true);
}

ValueId NeutronNet::extreme(OpKind kind, ValueId x, std::vector<int64_t> dims, bool keep) {
  return add_op(kind, {x}, {{ir::attr::dims, dims}, {ir::attr::keepdim, int64_t{keep ? 1 : 0}}},
                *graph.type(x).quant);
}

ValueId NeutronNet::permute(ValueId x, std::vector<int64_t> dims) {
  return add_op(OpKind::permute, {x}, {{ir::attr::dims, dims}}, *graph.type(x).quant);
}

ValueId NeutronNet::expand(ValueId x, ir::Shape shape) {
  return add_op(OpKind::expand, {x}, {{ir::attr::shape, std::move(shape)}}, *graph.type(x).quant);
}

ValueId NeutronNet::rescale(ValueId x) {
  const ir::Quant quant = result(scale(x) * random.real(0.5, 2));
  const auto m = numerics::quantize_multiplier(scale(x) / quant.scale[0]);
  return add_op(OpKind::rescale, {x},
                {{ir::attr::x_zp, zero_point(x)},
                 {ir::attr::y_zp, int64_t{quant.zero_point[0]}},
                 {ir::attr::mult, int64_t{m.mult}},
                 {ir::attr::shift, int64_t{m.shift}}},
                quant);
}

ValueId NeutronNet::quantized_table(ValueId x) {
  const ValueId table = graph.add_constant(
      "table", std::make_shared<ir::Tensor>(random_tensor(random, ir::DType::kI8, {256})));
  return add_op(OpKind::lut, {x, table}, {}, result(scale(x)));
}

ValueId NeutronNet::gather(ValueId x, int64_t dim, const std::vector<int64_t>& positions) {
  ir::Tensor index = ir::zeros(ir::DType::kI64, {static_cast<int64_t>(positions.size())});
  std::ranges::copy(positions, index.data<int64_t>().begin());
  const ValueId id = graph.add_constant("index", std::make_shared<ir::Tensor>(std::move(index)));
  return add_op(OpKind::gather, {x, id}, {{ir::attr::dim, dim}}, *graph.type(x).quant);
}

ValueId NeutronNet::reflect(ValueId x, int64_t dim, int64_t before, int64_t after) {
  const int64_t size = shape(x)[static_cast<size_t>(dim)];
  std::vector<int64_t> positions;
  for (int64_t i = -before; i < size + after; ++i) {
    positions.push_back(i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i);
  }
  return gather(x, dim, positions);
}

ValueId NeutronNet::nearest(ValueId x, int64_t scale) {
  for (const int64_t dim : {3, 2}) {
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < shape(x)[static_cast<size_t>(dim)] * scale; ++i) {
      positions.push_back(i / scale);
    }
    x = gather(x, dim, positions);
  }
  return x;
}

ValueId NeutronNet::bilinear(ValueId x, int64_t scale, bool align_corners) {
  std::vector<ValueId> inputs = {x};
  for (const size_t dim : {2, 3}) {
    const auto in = static_cast<double>(shape(x)[dim]);
    const int64_t out = shape(x)[dim] * scale;
    std::vector<int32_t> low, weight;
    for (int64_t i = 0; i < out; ++i) {
      const auto at = static_cast<double>(i);
      const double corner = out > 1 ? (in - 1) / static_cast<double>(out - 1) : 0;
      const double source = align_corners
                                ? at * corner
                                : std::max((at + 0.5) * in / static_cast<double>(out) - 0.5, 0.0);
      low.push_back(static_cast<int32_t>(std::min(std::floor(source), in - 1)));
      weight.push_back(
          static_cast<int32_t>(std::floor(std::min(source - low.back(), 1.0) * 2048 + 0.5)));
    }
    for (const auto& table : {low, weight}) {
      inputs.push_back(
          graph.add_constant("t", std::make_shared<ir::Tensor>(ir::make_i32({out}, table))));
    }
  }
  return add_op(OpKind::qresize_bilinear, inputs, {}, *graph.type(x).quant);
}

void set_channels_last(ir::Graph* graph) {
  const auto set = [&](ValueId id) {
    ir::Type& type = graph->value(id).type;
    if (type.shape.size() == 4) type.dim_order = ir::channels_last_order();
  };
  for (const ValueId id : graph->inputs()) set(id);
  for (const ValueId id : graph->outputs()) set(id);
}

}  // namespace thimble::test
