// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/block_chooser.h"

#include <algorithm>
#include <cmath>

namespace thimble::engine::ethos_u {
namespace {

/// Maximum ratio of cycles, fast format to standard format, at which the fast format is chosen.
constexpr double kFastGain = 0.98;

}  // namespace

BlockChooser::BlockChooser(const ProgramAnalysis& network, const ScheduleOptions& options,
                           Encoders* encoders)
    : network_(network), options_(options), encoders_(*encoders) {
  weight_formats_.resize(static_cast<size_t>(network.op_count()));
  if (config().generation != Generation::kU85) return;
  for (int i = 0; i < network.op_count(); ++i) {
    const NpuOp& op = network.op(i);
    if (!op.weights || op.kind != NpuOpKind::kConv) continue;
    WeightFormats& signatures = weight_formats_[static_cast<size_t>(i)];
    signatures.sparse = is_sparse(*op.weights);
    signatures.fast_rate = fast_rate(*op.weights);
  }
}

OperandStorage BlockChooser::storage(int op, const OpMemories& memories) const {
  const NpuOp& from = network_.op(op);
  OperandStorage storage;
  storage.ifm = memories.ifm;
  storage.ifm2 = memories.ifm2;
  storage.ofm = memories.ofm;
  storage.weights = memories.weights;
  storage.ifm_format = network_.use(from.ifm.tensor).format;
  storage.ofm_format = network_.use(from.ofm.tensor).format;
  storage.ifm_dense = from.ifm.shape.w == 1 || from.ifm.stride_w == from.ifm.shape.c;
  storage.ofm_dense = from.ofm.shape.w == 1 || from.ofm.stride_w == from.ofm.shape.c;
  if (from.ifm2) storage.ifm2_format = network_.use(from.ifm2->tensor).format;
  return storage;
}

OpShape BlockChooser::part(int op, const OpDraft& draft, IndexRange rows, int64_t channels) const {
  OpShape shape = network_.shapes[static_cast<size_t>(op)];
  const NpuOp& from = network_.op(op);
  shape.sparse = draft.sparse;
  shape.fast_rate = draft.fast_weights ? weight_formats_[static_cast<size_t>(op)].fast_rate : 0;
  shape.ofm.h = rows.size();
  shape.ofm.c = channels;
  shape.ifm.h = input_rows(from, rows).rows.size();
  if (from.kind == NpuOpKind::kDepthwise) shape.ifm.c = std::min(shape.ifm.c, channels);
  if (from.ifm2) shape.ifm2.h = second_input_rows(from, rows).size();
  return shape;
}

int64_t BlockChooser::rough_bytes(int op) const {
  const NpuOp& from = network_.op(op);
  if (!from.weights) return 0;
  return static_cast<int64_t>(from.weights->values.size()) * 7 / 8 + from.ofm.shape.c * 10;
}

const OpDraft* BlockChooser::draft(int op, int64_t rows, const OpMemories& memories,
                                   int64_t depth_limit) {
  const auto key = std::tuple{op, rows, memories, depth_limit};
  const auto found = drafts_.find(key);
  if (found != drafts_.end()) return found->second ? &*found->second : nullptr;
  std::optional<OpDraft>& result = drafts_[key];
  const NpuOp& from = network_.op(op);
  const WeightFormats& signatures = weight_formats_[static_cast<size_t>(op)];
  OperandStorage where = storage(op, memories);
  where.weight_bytes = rough_bytes(op);
  // Compares both weight orders: selects the faster one, or the shorter stream if the difference is
  // small.
  double best_cycles = 0;
  int64_t best_bytes = 0;
  for (const bool sparse : {false, true}) {
    if (sparse && !signatures.sparse) continue;
    OpDraft draft;
    draft.sparse = sparse;
    if (from.weights) draft.starts = {0};
    const OpShape shape = part(op, draft, {0, rows}, from.ofm.shape.c);
    for (const bool order : {false, true}) {
      const auto choice = choose_block(config(), system(), shape, where, depth_limit, order);
      if (!choice) continue;
      draft.block = choice->block;
      const int64_t bytes = weight_bytes(op, draft);
      const double cycles = choice->cost.cycles();
      const bool near = result && std::abs(cycles - best_cycles) <= 0.005 * best_cycles;
      if (!result || (near ? bytes < best_bytes : cycles < best_cycles)) {
        result = draft;
        best_cycles = cycles, best_bytes = bytes;
      }
    }
  }
  if (!result) return nullptr;
  if (signatures.fast_rate > 0) try_fast(op, rows, memories, &*result);
  return &*result;
}

void BlockChooser::try_fast(int op, int64_t rows, const OpMemories& memories, OpDraft* draft) {
  const int64_t channels = network_.op(op).ofm.shape.c;
  OpDraft fast = *draft;
  fast.fast_weights = true;
  // When optimizing for size, fewer cycles do not justify more bytes.
  const bool longer = weight_bytes(op, fast) > weight_bytes(op, *draft);
  if (longer && options_.optimise == Optimise::kSize) return;
  // Buffered weights also pass through the external memory, while other kernels run.
  const auto copying = [&](const OpDraft& form) {
    const bool copied = options_.mode != MemoryMode::kSramOnly && memories.weights == Memory::kSram;
    const Memory from = copied ? Memory::kExternal : Memory::kSram;
    return copy_cycles(system(), from, Memory::kSram, weight_bytes(op, form));
  };
  const auto needed = [&](const OpDraft& form) {
    return std::max(cycles(op, form, {0, rows}, channels, memories), copying(form));
  };
  // The additional copy time is counted in full, as if no kernel overlapped it.
  const double more = copying(fast) - copying(*draft);
  if (needed(fast) + more < kFastGain * needed(*draft)) *draft = fast;
}

BlockChooser::Key BlockChooser::key_of(int op, const OpDraft& draft) const {
  Key key = {op, weight_options(*network_.program, op, draft)};
  key.second.block_depth = 0;
  return key;
}

KernelCost BlockChooser::cost(int op, const OpDraft& draft, IndexRange rows, int64_t channels,
                              const OpMemories& memories) const {
  const NpuOp& from = network_.op(op);
  OperandStorage where = storage(op, memories);
  where.weight_bytes = rough_bytes(op) * channels / from.ofm.shape.c;
  if (from.weights) {
    const auto at = bytes_.find(key_of(op, draft));
    if (at != bytes_.end()) where.weight_bytes = at->second * channels / from.ofm.shape.c;
  }
  return kernel_cost(config(), system(), part(op, draft, rows, channels), draft.block, where);
}

int64_t BlockChooser::weight_bytes(int op, const OpDraft& draft) {
  const NpuOp& from = network_.op(op);
  if (!from.weights) return 0;
  const auto [at, added] = bytes_.try_emplace(key_of(op, draft), 0);
  if (added) {
    const WeightOptions options = weight_options(*network_.program, op, draft);
    const auto slice = encoders_.of(op)->estimate(options, 0, from.weights->out);
    at->second = slice.ok() ? (slice->all.length + 15) / 16 * 16 : rough_bytes(op);
  }
  return at->second;
}

}  // namespace thimble::engine::ethos_u
