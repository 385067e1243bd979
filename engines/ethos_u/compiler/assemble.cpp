// SPDX-License-Identifier: Apache-2.0
// Converts a draft to a schedule: encodes weights and assigns offsets to constants.

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "base/rounding.h"
#include "engines/ethos_u/compiler/draft.h"

namespace thimble::engine::ethos_u {
namespace {

class Assembler {
 public:
  Assembler(const NpuProgram& program, Draft* draft, Encoders* encoders)
      : program_(program), draft_(*draft), encoders_(*encoders) {}

  Result<std::optional<Schedule>> run() {
    schedule_.steps = draft_.steps;
    schedule_.ops.resize(program_.ops.size());
    encode_weights();
    for (size_t i = 0; i < program_.ops.size(); ++i) THIMBLE_CHECK(constants_of(i));
    if (!fits_) return std::optional<Schedule>();
    place_tensors();
    schedule_.arena_bytes = draft_.arena_bytes;
    schedule_.fast_bytes = draft_.fast_bytes;
    return std::optional<Schedule>(std::move(schedule_));
  }

 private:
  /// Appends bytes to the constants at a multiple of 16. Equal contents are stored once.
  int64_t add_constant(const std::vector<std::byte>& bytes) {
    std::vector<std::byte>& all = schedule_.constants;
    const auto [at, added] = constant_offsets_.try_emplace(bytes, static_cast<int64_t>(all.size()));
    if (added) {
      all.insert(all.end(), bytes.begin(), bytes.end());
      all.resize(static_cast<size_t>(round_up(static_cast<int64_t>(all.size()), kAlignment)));
    }
    return at->second;
  }

  /// Encodes all weights in parallel. Every operation has its own encoder, so no locks are needed.
  void encode_weights() {
    encoded_.resize(program_.ops.size());
    const auto count = static_cast<int64_t>(program_.ops.size());
    const int threads = static_cast<int>(std::min<int64_t>(machine_threads(), count));
    for_each_index(count, threads, [this](int64_t at, int) {
      const int op = static_cast<int>(at);
      const OpDraft& draft = draft_.ops[static_cast<size_t>(at)];
      WeightEncoder* const encoder = encoders_.of(op);
      if (encoder == nullptr) return;
      encoded_[static_cast<size_t>(at)] =
          encoder->encode(weight_options(program_, op, draft), draft.starts);
    });
  }

  Status constants_of(size_t index) {
    const NpuOp& op = program_.ops[index];
    OpDraft& draft = draft_.ops[index];
    OpPlan& plan = schedule_.ops[index];
    plan.block = draft.block;
    plan.cascade = draft.cascade;
    if (!op.table.content.empty()) plan.table_offset = add_constant(op.table.content);
    if (!op.weights) return ok();
    THIMBLE_TRY(const EncodedWeights encoded, std::move(*encoded_[index]));
    const int64_t offset = add_constant(encoded.bytes);
    plan.weights.fast = draft.fast_weights;
    plan.weights.sparse = draft.sparse;
    for (const WeightSlice& slice : encoded.slices) {
      SlicePlan piece;
      piece.channels = {slice.channel, slice.channel + slice.channels};
      piece.offset = offset + slice.all.offset;
      piece.bytes = round_up(slice.all.length, kAlignment);
      const auto move = [&](const ByteRange& range) {
        return StreamRange{range.offset - slice.all.offset, round_up(range.length, kAlignment)};
      };
      for (size_t i = 0; i < slice.weights.size(); ++i) piece.weights[i] = move(slice.weights[i]);
      for (size_t i = 0; i < slice.scales.size(); ++i) piece.scales[i] = move(slice.scales[i]);
      int64_t& kept = draft.slice_bytes[plan.weights.slices.size()];
      if (piece.bytes > kept) {
        kept = piece.bytes;
        fits_ = fits_ && !draft.buffered;
      }
      plan.weights.slices.push_back(piece);
    }
    plan.weights.address.assign(plan.weights.slices.size(), -1);
    if (draft.buffered) plan.weights.address = draft.slice_address;
    plan.weights.region = draft_.fast_bytes > 0 ? kFastRegion : kArenaRegion;
    return ok();
  }

  void place_tensors() {
    schedule_.tensors.resize(program_.tensors.size());
    std::vector<bool> is_read(program_.tensors.size(), false);
    for (const NpuOp& op : program_.ops) {
      is_read[static_cast<size_t>(op.ifm.tensor)] = true;
      if (op.ifm2) is_read[static_cast<size_t>(op.ifm2->tensor)] = true;
    }
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const NpuTensor& tensor = program_.tensors[i];
      const TensorDraft& draft = draft_.tensors[i];
      TensorPlace& place = schedule_.tensors[i];
      place.format = draft.format;
      place.rows = draft.rows;
      place.bytes = round_up(place_bytes(tensor, draft.format, draft.rows), kAlignment);
      if (tensor.role == TensorRole::kConstant) {
        place.region = kConstantRegion;
        // A scalar of an operation is not read from memory.
        if (is_read[i]) place.address = add_constant(tensor.content);
      } else {
        place.region = draft.fast ? kFastRegion : kArenaRegion;
        place.address = draft.address;
      }
    }
  }

  const NpuProgram& program_;
  Draft& draft_;
  Encoders& encoders_;
  Schedule schedule_;
  std::vector<std::optional<Result<EncodedWeights>>> encoded_;
  bool fits_ = true;
  std::map<std::vector<std::byte>, int64_t> constant_offsets_;
};

}  // namespace

Encoders::Encoders(const NpuProgram& program) {
  for (const NpuOp& op : program.ops) {
    encoders_.push_back(op.weights ? std::make_unique<WeightEncoder>(*op.weights, op.requantize)
                                   : nullptr);
  }
}

WeightOptions weight_options(const NpuProgram& program, int op, const OpDraft& draft) {
  const NpuOp& from = program.ops[static_cast<size_t>(op)];
  const bool u85 = program.config->generation == Generation::kU85;
  WeightOptions options;
  options.config = program.config;
  options.depthwise = from.kind == NpuOpKind::kDepthwise;
  options.part_kernel_first = draft.block.part_kernel_first;
  options.block_depth = draft.block.d;
  options.microblock_depth = u85 ? draft.block.microblock.depth : 0;
  options.stride_h = from.window.stride_h;
  options.stride_w = from.window.stride_w;
  options.dilation_h = from.window.dilation_h;
  options.dilation_w = from.window.dilation_w;
  options.ifm_bits = from.ifm.element.bits;
  options.wide_accumulator = from.wide_accumulator;
  options.fast = draft.fast_weights;
  options.sparse = draft.sparse;
  return options;
}

Result<std::optional<Schedule>> assemble(const NpuProgram& program, Draft* draft,
                                         Encoders* encoders) {
  return Assembler(program, draft, encoders).run();
}

}  // namespace thimble::engine::ethos_u
