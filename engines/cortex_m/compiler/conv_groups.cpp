// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/conv_groups.h"

#include <algorithm>

#include "base/rounding.h"
#include "engines/cortex_m/compiler/pack.h"
#include "ir/op_cost.h"

namespace thimble::engine::cortex_m {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

/// Cycles that a fast kernel saves per multiplication, at least.
constexpr int64_t kSavedPerMac = 5;
/// Cycles of a copied byte, and of the calls that a group adds.
constexpr int64_t kCyclesPerByte = 4;
constexpr int64_t kCyclesPerGroup = 4000;
/// Each group adds about 600 bytes to the file.
constexpr int64_t kGroupsMax = 32;
/// Channels of a block of the depthwise kernels of Helium and of the DSP extension.
constexpr int64_t kBlockChannels = 4;

/// With fewer multiplications, the copies of the added channels take more cycles than they save.
constexpr int64_t kDspMacsPerPixelMin = 80;
constexpr int64_t kDepthwiseMacsMin = 1000;

/// Constant operands of a convolution after its input.
enum ConvOperand : uint8_t { kWeights = 1, kBias, kMult, kShift, kOperands };

int64_t channels_of(const ir::Graph& graph, ValueId value) {
  return graph.type(value).shape[1];
}

/// Returns true if a call for each group takes fewer cycles than the general kernel.
bool splits(const ir::Graph& graph, const Op& op) {
  const int64_t groups = op.get(ir::attr::groups);
  if (groups == 1 || groups > kGroupsMax || is_depthwise(graph, op)) return false;
  const auto bytes = static_cast<int64_t>(graph.type(op.inputs[0]).bytes()) +
                     static_cast<int64_t>(graph.type(op.output).bytes());
  return kSavedPerMac * ir::macs_of(graph, op) > kCyclesPerGroup * groups + kCyclesPerByte * bytes;
}

/// Returns the block of which the channels of a depthwise convolution become a multiple: 1 if the
/// instruction set has no blocks, or if the copies take more cycles than the kernel saves.
int64_t block_of(const ir::Graph& graph, const Op& op, abi::Isa isa) {
  if (isa != abi::Isa::kMve && isa != abi::Isa::kDsp) return 1;
  const ir::Shape& w = graph.type(op.inputs[kWeights]).shape;
  const int64_t macs_per_pixel = w[0] * w[2] * w[3];
  const bool pays = isa == abi::Isa::kMve || macs_per_pixel >= kDspMacsPerPixelMin;
  return pays && ir::macs_of(graph, op) >= kDepthwiseMacsMin ? kBlockChannels : 1;
}

bool changes_depthwise(const ir::Graph& graph, const Op& op, abi::Isa isa) {
  const int64_t out = channels_of(graph, op.output);
  return out != channels_of(graph, op.inputs[0]) || out % block_of(graph, op, isa) != 0;
}

class GroupRewriter {
 public:
  GroupRewriter(const Op& op, ir::Rewriter* rewriter)
      : op_(op), from_(rewriter->from()), rewriter_(*rewriter), to_(rewriter->to()) {}

  /// A convolution per group.
  Result<ValueId> split() {
    const int64_t groups = op_.get(ir::attr::groups);
    const int64_t in = channels_of(from_, op_.inputs[0]) / groups;
    const int64_t out = channels_of(from_, op_.output) / groups;
    std::vector<ValueId> parts;
    for (int64_t group = 0; group < groups; ++group) {
      THIMBLE_TRY(const ValueId x, slice(rewriter_.map(op_.inputs[0]), group * in, in));
      THIMBLE_TRY(const ValueId part,
                  convolution(x, 1, constants(group * out, out, fmt::format(".{}", group))));
      parts.push_back(part);
    }
    return to_.add(OpKind::concat, std::move(parts), {{ir::attr::dim, int64_t{1}}}, op_.source,
                   result());
  }

  /// A depthwise convolution with one output channel per input channel, in whole blocks.
  Result<ValueId> depthwise(int64_t block) {
    const int64_t in = channels_of(from_, op_.inputs[0]);
    const int64_t out = channels_of(from_, op_.output);
    const int64_t missing = round_up(out, block) - out;
    ValueId x = rewriter_.map(op_.inputs[0]);
    if (out != in) {
      THIMBLE_TRY(x, repeated(x, out / in));
    }
    if (missing == 0) return convolution(x, out, constants(0, out, ""), true);
    const std::vector<int64_t> none(4, 0), after = {0, missing, 0, 0};
    THIMBLE_TRY(x, to_.add(OpKind::pad, {x},
                           {{ir::attr::before, none},
                            {ir::attr::after, after},
                            {ir::attr::value, static_cast<double>(op_.get(ir::attr::x_zp))}},
                           op_.source, {"", {}, from_.type(op_.inputs[0]).quant}));
    THIMBLE_TRY(const ValueId y,
                convolution(x, out + missing, constants(0, out + missing, ".blocks")));
    return slice(y, 0, out, result());
  }

 private:
  ir::Graph::ResultHint result() const {
    const ir::Value& y = from_.value(op_.output);
    return {y.name, y.type.dim_order, y.type.quant};
  }

  Result<ValueId> slice(ValueId x, int64_t first, int64_t count, ir::Graph::ResultHint info = {}) {
    if (info.name.empty()) info.quant = to_.type(x).quant;
    return to_.add(OpKind::slice, {x},
                   {{ir::attr::dim, int64_t{1}},
                    {ir::attr::start, first},
                    {ir::attr::end, first + count},
                    {ir::attr::step, int64_t{1}}},
                   op_.source, std::move(info));
  }

  /// Repeats each channel, in the memory order of images.
  Result<ValueId> repeated(ValueId x, int64_t times) {
    const ir::Shape in = to_.type(x).shape;
    const std::optional<ir::Quant> quant = to_.type(x).quant;
    const auto add = [&](OpKind kind, ir::Attrs attrs) -> Status {
      THIMBLE_TRY(x, to_.add(kind, {x}, std::move(attrs), op_.source, {"", {}, quant}));
      return ok();
    };
    const std::vector<int64_t> to_last = {0, 2, 3, 1}, to_first = {0, 3, 1, 2};
    THIMBLE_CHECK(add(OpKind::permute, {{ir::attr::dims, to_last}}));
    THIMBLE_CHECK(
        add(OpKind::reshape, {{ir::attr::shape, ir::Shape{in[0] * in[2] * in[3], in[1], 1}}}));
    THIMBLE_CHECK(
        add(OpKind::expand, {{ir::attr::shape, ir::Shape{in[0] * in[2] * in[3], in[1], times}}}));
    THIMBLE_CHECK(
        add(OpKind::reshape, {{ir::attr::shape, ir::Shape{in[0], in[2], in[3], in[1] * times}}}));
    THIMBLE_CHECK(add(OpKind::permute, {{ir::attr::dims, to_first}}));
    return x;
  }

  /// The constants of output channels `first` to `first + count`; channels that the convolution
  /// does not have contain zeros.
  std::vector<ValueId> constants(int64_t first, int64_t count, std::string_view suffix) {
    std::vector<ValueId> result;
    for (size_t i = kWeights; i < kOperands; ++i) {
      if (op_.inputs[i] == ir::kNoValue) {
        result.push_back(ir::kNoValue);
        continue;
      }
      const ir::Value& value = from_.value(op_.inputs[i]);
      const ir::Tensor& all = *value.constant;
      const auto row = static_cast<int64_t>(all.bytes.size()) / all.shape[0];
      // One bias, multiplier or shift may belong to all channels.
      if (i != kWeights && all.shape[0] == 1) {
        result.push_back(rewriter_.map(op_.inputs[i]));
        continue;
      }
      ir::Tensor part = all;
      part.shape[0] = count;
      const auto begin = all.bytes.begin() + first * row;
      part.bytes.assign(begin, begin + std::min(count, all.shape[0] - first) * row);
      // Any scale is right for a channel of zeros; the kernels support that of the last channel.
      const auto last = std::vector<std::byte>(all.bytes.end() - row, all.bytes.end());
      while (i >= kMult && std::ssize(part.bytes) < count * row) {
        part.bytes.insert(part.bytes.end(), last.begin(), last.end());
      }
      part.bytes.resize(static_cast<size_t>(count * row));
      result.push_back(to_.add_constant(fmt::format("{}{}", value.name, suffix),
                                        std::make_shared<const ir::Tensor>(std::move(part)),
                                        scales(value.type.quant, first, count)));
    }
    return result;
  }

  /// The scales of output channels `first` to `first + count`; channels of zeros have the last one.
  static std::optional<ir::Quant> scales(const std::optional<ir::Quant>& all, int64_t first,
                                         int64_t count) {
    if (!all || all->axis != 0) return all;
    ir::Quant part{{}, {}, all->axis};
    for (int64_t i = first; i < first + count; ++i) {
      const auto from = static_cast<size_t>(std::min(i, std::ssize(all->scale) - 1));
      part.scale.push_back(all->scale[from]);
      part.zero_point.push_back(all->zero_point[from]);
    }
    return part;
  }

  Result<ValueId> convolution(ValueId x, int64_t groups, std::vector<ValueId> operands,
                              bool is_result = false) {
    operands.insert(operands.begin(), x);
    ir::Attrs attrs = op_.attrs;
    attrs.set(ir::attr::groups, groups);
    ir::Graph::ResultHint info = result();
    if (!is_result) info = {"", {}, info.quant};
    return to_.add(op_.kind, std::move(operands), std::move(attrs), op_.source, std::move(info));
  }

  const Op& op_;
  const ir::Graph& from_;
  ir::Rewriter& rewriter_;
  ir::Graph& to_;
};

}  // namespace

Result<ir::Graph> regularize_groups(const ir::Graph& graph, abi::Isa isa) {
  ir::Rewriter rewriter(graph);
  for (const Op& op : graph.ops()) {
    // The fast kernels compute one image.
    const bool has_fast_kernels =
        op.kind == OpKind::qconv2d && graph.type(op.inputs[0]).shape[0] == 1;
    if (has_fast_kernels && splits(graph, op)) {
      THIMBLE_TRY(const ValueId y, GroupRewriter(op, &rewriter).split());
      rewriter.set(op.output, y);
      continue;
    }
    if (has_fast_kernels && is_depthwise(graph, op) && changes_depthwise(graph, op, isa)) {
      THIMBLE_TRY(const ValueId y,
                  GroupRewriter(op, &rewriter).depthwise(block_of(graph, op, isa)));
      rewriter.set(op.output, y);
      continue;
    }
    THIMBLE_CHECK(rewriter.copy(op));
  }
  return rewriter.finish();
}

}  // namespace thimble::engine::cortex_m
