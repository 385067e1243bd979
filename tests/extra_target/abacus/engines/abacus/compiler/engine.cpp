// SPDX-License-Identifier: Apache-2.0
#include "engines/abacus/compiler/engine.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "engines/abacus/container/program.h"
#include "ir/op_cost.h"

namespace thimble::engine::abacus {
namespace {

namespace npu = thimble::abacus;
using ir::OpKind;
using ir::ValueId;
using npu::Code;
using npu::Command;
using npu::Operand;
using npu::Where;

constexpr int64_t kChannelsMost = 1 << 14;
constexpr int64_t kElementsMost = 1 << 24;
constexpr int64_t kDispatchSteps = 200;

// --- supported operators -----------------------------------------------------------------------

constexpr std::string_view kElementLimits = "int8, equal shapes, no constant operand";
constexpr std::string_view kConvLimits = "int8, 1 x 1 with stride 1, no padding, one group";

struct Row {
  OpKind kind;
  Code code;
  std::string_view limits;
};
constexpr Row kRows[] = {
    {OpKind::maximum, Code::kMaximum, kElementLimits},
    {OpKind::qadd, Code::kAdd, kElementLimits},
    {OpKind::qconv2d, Code::kConv, kConvLimits},
    {OpKind::qmul, Code::kMul, kElementLimits},
};

const Row* row_of(OpKind kind) {
  const auto* const row = std::ranges::find(kRows, kind, &Row::kind);
  return row == std::end(kRows) ? nullptr : row;
}

bool is_int8_variable(const ir::Graph& graph, ValueId id) {
  return graph.type(id).dtype == ir::DType::kI8 && !graph.value(id).constant;
}

std::string element_refusal(const ir::Graph& graph, const ir::Op& op) {
  for (const ValueId input : op.inputs) {
    if (!is_int8_variable(graph, input)) return "an operand is not an int8 variable";
    if (graph.type(input).shape != graph.type(op.output).shape) return "operands of unequal shape";
  }
  if (op.kind != OpKind::maximum && op.get(ir::attr::bytes) != 1) return "a result wider than int8";
  if (op.kind != OpKind::maximum && op.get(ir::attr::rounding) != 0) return "another rounding";
  return "";
}

std::string conv_refusal(const ir::Graph& graph, const ir::Op& op) {
  const ir::Shape& weights = graph.type(op.inputs[1]).shape;
  if (!is_int8_variable(graph, op.inputs[0])) return "the input is not an int8 variable";
  const auto all = [&](ir::AttrKey<std::vector<int64_t>> key, int64_t value) {
    return std::ranges::all_of(op.get(key), [&](int64_t each) { return each == value; });
  };
  if (weights[2] != 1 || weights[3] != 1 || !all(ir::attr::stride, 1) ||
      !all(ir::attr::padding, 0)) {
    return fmt::format("a window of {} x {}, stride {}, padding {}: 1 x 1 alone", weights[2],
                       weights[3], fmt::join(op.get(ir::attr::stride), ","),
                       fmt::join(op.get(ir::attr::padding), ","));
  }
  if (op.get(ir::attr::groups) != 1) return "more than one group";
  if (op.get(ir::attr::bytes) != 1 || op.get(ir::attr::leaky) != 0 ||
      op.get(ir::attr::rounding) != 0) {
    return "another arithmetic than that of int8 with double rounding";
  }
  if (std::max(weights[0], weights[1]) > kChannelsMost) return "too many channels";
  if (graph.type(op.inputs[0]).shape[0] > kChannelsMost) return "too many images";
  return "";
}

Legality legal(const ir::Graph& graph, const ir::Op& op, const PartNpu& /*use*/) {
  if (row_of(op.kind) == nullptr) return {false, "the Abacus has no command for this operator"};
  if (graph.type(op.output).elements() > kElementsMost) return {false, "too many elements"};
  const std::string reason =
      op.kind == OpKind::qconv2d ? conv_refusal(graph, op) : element_refusal(graph, op);
  return {reason.empty(), reason};
}

std::vector<OpSupport> supported(const PartNpu& /*use*/) {
  std::vector<OpSupport> list;
  for (const Row& row : kRows) {
    list.push_back({std::string(ir::op_name(row.kind)), std::string(row.limits)});
  }
  return list;
}

// --- a subgraph as a program -------------------------------------------------------------------

class Writer {
 public:
  Writer(const ir::Graph& subgraph, const NpuOptions& options) : subgraph_(subgraph) {
    for (size_t i = 0; i < subgraph.inputs().size(); ++i) {
      place_[subgraph.inputs()[i]] = {Where::kInput, static_cast<uint32_t>(i)};
      header_.input_bytes[i] = size_of(subgraph.inputs()[i]);
    }
    for (size_t i = 0; i < subgraph.outputs().size(); ++i) {
      const ValueId output = subgraph.outputs()[i];
      header_.output_bytes[i] = size_of(output);
      // A state's output may share memory with an input that a later command still reads.
      const bool state =
          std::ranges::any_of(options.states, [&](const auto& pair) { return pair.second == i; });
      const bool again = place_.contains(output);
      if (!state && !again) place_[output] = {Where::kOutput, static_cast<uint32_t>(i)};
      if (state || again) late_.emplace_back(output, static_cast<uint32_t>(i));
    }
  }

  std::vector<std::byte> run() {
    for (const ir::Op& op : subgraph_.ops()) commands_.push_back(command(op));
    for (const auto& [value, output] : late_) {  // maximum(x, x) copies x
      Command copy = plain(Code::kMaximum, value);
      copy.a = copy.b = place_[value];
      copy.y = {Where::kOutput, output};
      commands_.push_back(copy);
    }
    header_.magic = npu::kMagic;
    header_.version = npu::kVersion;
    header_.input_count = static_cast<uint32_t>(subgraph_.inputs().size());
    header_.output_count = static_cast<uint32_t>(subgraph_.outputs().size());
    header_.command_count = static_cast<uint32_t>(commands_.size());
    const size_t commands = commands_.size() * sizeof(Command);
    header_.constants = static_cast<uint32_t>(sizeof header_ + commands);
    header_.bytes = static_cast<uint32_t>(header_.constants + constants_.size());
    std::vector<std::byte> program(header_.bytes);
    std::memcpy(program.data(), &header_, sizeof header_);
    std::memcpy(program.data() + sizeof header_, commands_.data(), commands);
    std::ranges::copy(constants_, program.begin() + header_.constants);
    return program;
  }

  [[nodiscard]] int64_t constant_bytes() const { return static_cast<int64_t>(constants_.size()); }
  [[nodiscard]] int64_t scratch_bytes() const { return header_.scratch_bytes; }

 private:
  [[nodiscard]] uint32_t size_of(ValueId id) const {
    return static_cast<uint32_t>(subgraph_.type(id).bytes());
  }

  Operand place_of(ValueId id) {
    const auto found = place_.find(id);
    if (found != place_.end()) return found->second;
    constexpr uint32_t kAlignment = 16;
    const Operand place = {Where::kScratch, header_.scratch_bytes};
    header_.scratch_bytes += (size_of(id) + kAlignment - 1) / kAlignment * kAlignment;
    return place_[id] = place;
  }

  [[nodiscard]] Command plain(Code code, ValueId y) const {
    Command command = {};
    command.code = code;
    command.count = static_cast<uint32_t>(subgraph_.type(y).elements());
    command.images = command.channels_in = command.channels_out = 1;
    command.low = -128;
    command.high = 127;
    return command;
  }

  static int32_t number(const ir::Op& op, ir::AttrKey<int64_t> key) {
    return static_cast<int32_t>(op.get(key));
  }

  Command command(const ir::Op& op) {
    Command command = plain(row_of(op.kind)->code, op.output);
    command.a = place_of(op.inputs[0]);
    if (op.kind == OpKind::qconv2d) {
      convolution(op, &command);
    } else {
      command.b = place_of(op.inputs[1]);
    }
    if (op.kind == OpKind::qadd || op.kind == OpKind::qmul) {
      command.a_zero = number(op, ir::attr::a_zp);
      command.b_zero = number(op, ir::attr::b_zp);
      command.y_zero = number(op, ir::attr::y_zp);
    }
    if (op.kind == OpKind::qadd) {
      command.a_factor = {number(op, ir::attr::a_mult), number(op, ir::attr::a_shift)};
      command.b_factor = {number(op, ir::attr::b_mult), number(op, ir::attr::b_shift)};
      command.y_factor = {number(op, ir::attr::y_mult), number(op, ir::attr::y_shift)};
    } else if (op.kind == OpKind::qmul) {
      command.y_factor = {number(op, ir::attr::mult), number(op, ir::attr::shift)};
    }
    if (op.kind != OpKind::maximum) {
      command.low = number(op, ir::attr::min);
      command.high = number(op, ir::attr::max);
    }
    command.y = place_of(op.output);
    return command;
  }

  void convolution(const ir::Op& op, Command* command) {
    const ir::Shape& image = subgraph_.type(op.inputs[0]).shape;
    const ir::Tensor& weights = *subgraph_.value(op.inputs[1]).constant;
    const auto out = static_cast<size_t>(weights.shape[0]);
    command->images = static_cast<uint32_t>(image[0]);
    command->count = static_cast<uint32_t>(image[2] * image[3]);
    command->channels_in = static_cast<uint32_t>(image[1]);
    command->channels_out = static_cast<uint32_t>(out);
    command->a_zero = number(op, ir::attr::x_zp);
    command->y_zero = number(op, ir::attr::y_zp);
    std::vector<int32_t> bias(out, 0);
    if (op.inputs[2] != ir::kNoValue) {
      std::ranges::copy(subgraph_.value(op.inputs[2]).constant->data<int32_t>(), bias.begin());
    }
    const auto mult = subgraph_.value(op.inputs[3]).constant->data<int32_t>();
    const auto shift = subgraph_.value(op.inputs[4]).constant->data<int32_t>();
    std::vector<npu::Factor> factors;
    for (size_t o = 0; o < out; ++o) {
      factors.push_back({mult[mult.size() == 1 ? 0 : o], shift[shift.size() == 1 ? 0 : o]});
    }
    command->weights = add_constants(weights.bytes.data(), weights.bytes.size());
    command->bias = add_constants(bias.data(), bias.size() * sizeof bias[0]);
    command->factors = add_constants(factors.data(), factors.size() * sizeof factors[0]);
  }

  uint32_t add_constants(const void* data, size_t bytes) {
    const auto at = static_cast<uint32_t>(constants_.size());
    const auto* const from = static_cast<const std::byte*>(data);
    constants_.insert(constants_.end(), from, from + bytes);
    while (constants_.size() % 4 != 0) constants_.push_back(std::byte{0});
    return at;
  }

  const ir::Graph& subgraph_;
  npu::Header header_ = {};
  std::map<ValueId, Operand> place_;
  std::vector<std::pair<ValueId, uint32_t>> late_;  // outputs copied at the end of the program
  std::vector<Command> commands_;
  std::vector<std::byte> constants_;
};

int64_t steps_of(const ir::Graph& subgraph) {
  int64_t steps = 0;
  for (const ir::Op& op : subgraph.ops()) steps += ir::macs_or_elements(subgraph, op);
  return steps;
}

int64_t adders_of(const PartNpu& use) {
  const auto found = use.settings.find("adders");
  return found == use.settings.end() ? 1 : static_cast<int64_t>(found->second);
}

Status check(const PartNpu& use) {
  for (const auto& [name, value] : use.settings) {
    if (name != "adders") return bad_input("engine {}: {}: adders was expected", use.name, name);
    if (value < 1 || value > 64) {
      return bad_input("engine {}: adders is {}, expected 1 to 64", use.name, value);
    }
  }
  return ok();
}

std::string decline_reason(const ir::Graph& subgraph, const PartNpu& use, bool ignore_cost) {
  if (std::max(subgraph.inputs().size(), subgraph.outputs().size()) > npu::kMaxPorts) {
    return fmt::format("more than {} values at the subgraph's border", npu::kMaxPorts);
  }
  const int64_t steps = steps_of(subgraph);
  if (ignore_cost || steps >= kDispatchSteps) return "";
  return fmt::format("the subgraph has {} steps, a call of {} costs {}: cheaper on the CPU", steps,
                     use.name, kDispatchSteps);
}

Result<Delegate> compile_subgraph(const ir::Graph& subgraph, const PartNpu& use,
                                  const NpuOptions& options) {
  Writer writer(subgraph, options);
  Delegate delegate;
  delegate.engine = use.name;
  delegate.id = npu::kDelegateId;
  delegate.payload = writer.run();
  delegate.constant_bytes = writer.constant_bytes();
  delegate.scratch_bytes = writer.scratch_bytes();
  delegate.cycles = 0;
  for (size_t i = 0; i < subgraph.ops().size(); ++i) {
    const ir::Op& op = subgraph.ops()[i];
    const int64_t cycles = ir::macs_or_elements(subgraph, op) / adders_of(use) + 1;
    delegate.rows.push_back({static_cast<int>(i), std::string(ir::op_name(op.kind)), cycles, ""});
    *delegate.cycles += cycles;
  }
  assert(npu::is_valid(reinterpret_cast<const uint8_t*>(delegate.payload.data()),
                       delegate.payload.size()));
  return delegate;
}

constexpr Npu kEngine{
    .kind = "abacus",
    .check = check,
    .legal = legal,
    .channels_last = false,
    .compile = compile_subgraph,
    .decline_reason = decline_reason,
    .supported = supported,
};

}  // namespace

std::vector<NpuName> npus() {
  return {{"abacus", &kEngine}};
}

}  // namespace thimble::engine::abacus
