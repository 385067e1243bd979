// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/search.h"
#include "engines/ethos_u/compiler/place.h"

#include <algorithm>
#include <limits>

namespace thimble::engine::ethos_u {
namespace {

constexpr int kLongest = 14;            // maximum number of operations in a cascade
constexpr double kExposed = 0.5;        // fraction of a copy that no kernel overlaps
constexpr int64_t kSliceBytes = 24576;  // of weights, if the size does not affect the cycles
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

Search::Search(const ProgramAnalysis& network, const ScheduleOptions& options,
               BlockChooser* chooser, PieceCosts* costs, std::vector<bool> counted, bool cascades)
    : network_(network),
      options_(options),
      chooser_(*chooser),
      costs_(*costs),
      counted_(std::move(counted)) {
  pieces_.resize(static_cast<size_t>(network.op_count()));
  for (int i = 0; i < network.op_count(); ++i) {
    add_piece(i, i + 1, 0);
    if (!pieces_[static_cast<size_t>(i)].empty()) {
      whole_ = std::max(whole_, pieces_[static_cast<size_t>(i)].front().held);
    }
    if (cascades) add_pieces(i);
  }
}

void Search::add_pieces(int first) {
  static constexpr int64_t kStripes[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48};
  const int end = std::min(first + kLongest, network_.op_count());
  for (int last = first + 1; last < end; ++last) {
    if (!can_split_rows(network_.op(last)) || !can_split_rows(network_.op(first))) return;
    const int64_t height = network_.op(last).ofm.shape.h;
    for (const int64_t rows : kStripes) {
      if (rows * 2 > height + 1) break;
      add_piece(first, last + 1, rows);
    }
  }
}

Memory Search::memory_of(int tensor, int first, int end) const {
  if (network_.program->tensors[static_cast<size_t>(tensor)].role == TensorRole::kConstant) {
    return may_buffer() ? Memory::kExternal : Memory::kSram;
  }
  const bool ring = end - first > 1 && is_internal(network_, tensor, first, end);
  return ring || options_.mode != MemoryMode::kDedicatedSram ||
                 counted_[static_cast<size_t>(tensor)]
             ? Memory::kSram
             : Memory::kExternal;
}

OpMemories Search::memories(int op, int first, int end, bool from_sram) const {
  const NpuOp& from = network_.op(op);
  OpMemories result;
  result.ifm = memory_of(from.ifm.tensor, first, end);
  result.ofm = memory_of(from.ofm.tensor, first, end);
  if (from.ifm2) result.ifm2 = memory_of(from.ifm2->tensor, first, end);
  result.weights = from_sram || !may_buffer() ? Memory::kSram : Memory::kExternal;
  return result;
}

std::vector<double> Search::table_cycles(const std::vector<Step>& steps) const {
  std::vector<double> cycles(steps.size(), 0);
  std::vector<const std::vector<std::byte>*> held;  // most recently used last
  const Config& config = chooser_.config();
  const bool stay = config.generation == Generation::kU85 || config.banks > 16;
  for (size_t i = 0; i < steps.size(); ++i) {
    const std::vector<std::byte>& table = network_.op(steps[i].op).table.content;
    if (table.empty()) {
      if (!stay) held.clear();
      continue;
    }
    const auto known =
        std::find_if(held.begin(), held.end(), [&](const auto* other) { return *other == table; });
    if (known != held.end()) {
      held.erase(known);
    } else {
      cycles[i] = copy(static_cast<int64_t>(table.size()));
      const size_t most = std::max<size_t>(1, thimble::ethos_u::kLutBytes / table.size());
      while (held.size() >= most) held.erase(held.begin());
    }
    held.push_back(&table);
  }
  return cycles;
}

double Search::copy(int64_t bytes) const {
  return copy_cycles(chooser_.system(), Memory::kExternal, Memory::kSram, bytes);
}

int64_t Search::held(int first, int end, const Cascade* cascade) const {
  int64_t bytes = 0;
  for (size_t t = 0; t < network_.tensors.size(); ++t) {
    const TensorUse& use = network_.tensors[t];
    if (!use.life.overlaps({first, end - 1})) continue;
    const int tensor = static_cast<int>(t);
    const auto ring = cascade != nullptr ? cascade->rolling_buffers.find(tensor)
                                         : decltype(cascade->rolling_buffers.end()){};
    if (cascade != nullptr && ring != cascade->rolling_buffers.end()) {
      bytes += network_.rolling_buffer_bytes(tensor, ring->second);
    } else if (counted_[t]) {
      bytes += use.bytes;
    }
  }
  const int over = end - first == 1 ? network_.in_place[static_cast<size_t>(first)] : -1;
  if (over >= 0 && counted_[static_cast<size_t>(over)] &&
      counted_[static_cast<size_t>(network_.op(first).ofm.tensor)]) {
    bytes -= network_.use(over).bytes;
  }
  return bytes;
}

void Search::add_piece(int first, int end, int64_t tile_rows) {
  PieceCosts::Piece* const known = costs_.find(first, end, tile_rows);
  if (known == nullptr) return;
  Piece piece;
  piece.first = first;
  piece.end = end;
  piece.tile_rows = tile_rows;
  piece.cascade = known->cascade();
  piece.held = held(first, end, piece.cascade);
  for (int i = first; i < end; ++i) {
    const NpuOp& op = network_.op(i);
    PartCost part;
    if (op.kind != NpuOpKind::kDma) {
      part = costs_.cost(known, first, i, memories(i, first, end, true));
      if (part.from_sram == nullptr) return;
    } else if (!is_omitted_copy(op)) {
      part.from_sram_cycles = part.from_external_cycles = copy(network_.use(op.ofm.tensor).bytes);
    }
    piece.parts.push_back(part);
  }
  list_bufferable(&piece);
  pieces_[static_cast<size_t>(first)].push_back(std::move(piece));
}

int64_t Search::smallest() const {
  // Computes the minimum over all paths of the maximum of `held`.
  std::vector<int64_t> ceiling(pieces_.size() + 1, std::numeric_limits<int64_t>::max());
  ceiling[0] = 0;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    for (const Piece& piece : pieces_[i]) {
      int64_t& at = ceiling[static_cast<size_t>(piece.end)];
      at = std::min(at, std::max(ceiling[i], piece.held));
    }
  }
  return ceiling.back();
}

int64_t Search::with_weights(int64_t some, size_t ahead) const {
  std::vector<int64_t> weights;
  for (const std::vector<Piece>& pieces : pieces_) {
    weights.push_back(0);
    if (pieces.empty() || !may_buffer()) continue;
    const PartCost& part = pieces.front().parts.front();
    if (part.from_sram == nullptr) continue;
    const Shape4& ofm = network_.op(pieces.front().first).ofm.shape;
    const bool once = ofm.h <= part.from_sram->block.h && ofm.w <= part.from_sram->block.w;
    weights.back() = once ? std::min(part.weight_bytes, some) : part.weight_bytes;
  }
  int64_t bytes = 0;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].empty()) continue;
    int64_t all = pieces_[i].front().held;
    for (size_t k = i; k <= i + ahead && k < weights.size(); ++k) all += weights[k];
    bytes = std::max(bytes, all);
  }
  return bytes;
}

void Search::list_bufferable(Piece* piece) const {
  for (const PartCost& part : piece->parts) piece->external_cycles += part.from_external_cycles;
  if (!may_buffer()) return;
  for (size_t i = 0; i < piece->parts.size(); ++i) {
    const PartCost& part = piece->parts[i];
    if (part.weight_bytes <= 0) continue;
    // Copies run in parallel with kernels. If a copy takes longer than its own kernel, other
    // kernels overlap about half of the excess. Nothing overlaps the first slice of the first
    // operation.
    const double copied = std::max(copy(part.weight_bytes), costs_.waiting_copy(part.weight_bytes));
    double cycles = part.from_sram_cycles + costs_.copy_traffic(part.weight_bytes) +
                    kExposed * std::max(0.0, copied - part.from_sram_cycles);
    if (piece->first + static_cast<int>(i) == 0) {
      cycles += copy(std::min(part.weight_bytes, kSliceBytes));
    }
    const double gain = part.from_external_cycles - cycles;
    if (gain < 0) continue;
    // The weights of a single operation are copied in slices, with two slices in memory at a time.
    const int64_t channels = network_.op(piece->first + static_cast<int>(i)).ofm.shape.c;
    const int64_t slice = part.weight_bytes * 32 / std::max<int64_t>(32, channels) + 512;
    const int64_t least =
        piece->tile_rows == 0 ? std::min(part.weight_bytes, slice) : part.weight_bytes;
    piece->bufferable.push_back({i, least, gain});
  }
  const auto gain_per_byte = [&](const Bufferable& weights) {
    return weights.gain / static_cast<double>(piece->parts[weights.part].weight_bytes);
  };
  std::stable_sort(piece->bufferable.begin(), piece->bufferable.end(),
                   [&](const Bufferable& a, const Bufferable& b) {
                     return gain_per_byte(a) > gain_per_byte(b);
                   });
}

double Search::cost(const Piece& piece, int64_t budget, std::vector<bool>* buffered) const {
  if (buffered != nullptr) buffered->assign(piece.parts.size(), false);
  int64_t room = budget - piece.held;
  if (room < 0) return kNever;
  double cycles = piece.external_cycles;
  for (const Bufferable& weights : piece.bufferable) {
    if (weights.least_bytes > room) continue;
    room -= weights.least_bytes;
    cycles -= weights.gain;
    if (buffered != nullptr) (*buffered)[weights.part] = true;
  }
  return cycles;
}

std::optional<Search::Found> Search::solve(int64_t budget) const {
  std::vector<double> least(pieces_.size() + 1, kNever);
  std::vector<const Piece*> from(pieces_.size() + 1, nullptr);
  least[0] = 0;
  for (size_t i = 0; i < pieces_.size(); ++i) {
    if (least[i] == kNever) continue;
    for (const Piece& piece : pieces_[i]) {
      const double cycles = least[i] + cost(piece, budget, nullptr);
      double& at = least[static_cast<size_t>(piece.end)];
      if (cycles < at) at = cycles, from[static_cast<size_t>(piece.end)] = &piece;
    }
  }
  if (least.back() == kNever) return std::nullopt;
  std::vector<const Piece*> path;
  for (size_t at = pieces_.size(); at > 0; at = static_cast<size_t>(from[at]->first)) {
    path.push_back(from[at]);
  }
  std::reverse(path.begin(), path.end());
  return build(path, budget);
}

/// Divides the weights of a single operation into slices. Small slices can share the available
/// memory one after another. They are chosen as small as possible without additional cycles, and
/// smaller if they do not fit.
void Search::slice_weights(int op, const Piece& piece, int64_t room, OpDraft* draft) const {
  const PartCost& part = piece.parts[static_cast<size_t>(op - piece.first)];
  const NpuOp& from = network_.op(op);
  const int64_t channels = from.ofm.shape.c;
  const OpMemories where = memories(op, piece.first, piece.end, true);
  const IndexRange rows{0, from.ofm.shape.h};
  for (int64_t wanted = std::clamp<int64_t>(part.weight_bytes / kSliceBytes, 1, 32); wanted > 0;
       wanted = wanted * 3 / 4) {
    if (!cut(op, where, rows, (channels + wanted - 1) / wanted, draft)) return;
    double cycles = 0;
    for (size_t s = 0; s < draft->starts.size(); ++s) {
      const int64_t end = s + 1 < draft->starts.size() ? draft->starts[s + 1] : channels;
      cycles += chooser_.cycles(op, *draft, rows, end - draft->starts[s], where) + kKernelStart;
    }
    if (cycles <= part.from_sram_cycles * 1.05 + 2 * kKernelStart) break;
  }
  const auto fits = [&] {
    const auto count = static_cast<int64_t>(draft->starts.size());
    return part.weight_bytes * std::min<int64_t>(2, count) / count + 128 <= room;
  };
  for (int64_t depth = channels / 2; !fits() && depth >= 8; depth /= 2) {
    if (!cut(op, where, rows, depth, draft)) return;
  }
}

/// Divides the first slice of the first operation, whose copy no kernel overlaps, into a short
/// slice and the rest, if that saves cycles.
void Search::shorten_first_slice(const Piece& piece, int64_t room, OpDraft* draft) const {
  constexpr int kOp = 0;
  const int64_t bytes = piece.parts[0].weight_bytes, channels = network_.op(kOp).ofm.shape.c;
  if (draft->starts.size() != 1 || bytes + 128 > room) return;
  const OpMemories where = memories(kOp, piece.first, piece.end, true);
  const IndexRange rows{0, network_.op(kOp).ofm.shape.h};
  double least = copy(bytes) + chooser_.cycles(kOp, *draft, rows, channels, where);
  for (int64_t depth = channels / 2; depth >= 8; depth /= 2) {
    OpDraft divided = *draft;
    if (!cut(kOp, where, rows, depth, &divided) || divided.starts.size() < 2) continue;
    divided.starts.resize(2);
    const int64_t first = divided.starts[1];
    const double first_copy = copy(bytes * first / channels);
    const double first_kernel = chooser_.cycles(kOp, divided, rows, first, where);
    const double rest_copy = copy(bytes * (channels - first) / channels);
    const double rest_kernel = chooser_.cycles(kOp, divided, rows, channels - first, where);
    const double cycles =
        first_copy + std::max(first_kernel, rest_copy) + rest_kernel + kKernelStart;
    if (cycles >= least) continue;
    least = cycles;
    *draft = std::move(divided);
  }
}

bool Search::cut(int op, const OpMemories& where, IndexRange rows, int64_t depth,
                 OpDraft* draft) const {
  const int64_t channels = network_.op(op).ofm.shape.c;
  const OpDraft* shallow = chooser_.draft(op, rows.end, where, std::max<int64_t>(depth, 1));
  if (shallow == nullptr) return false;
  const int64_t step = std::max(shallow->block.d, depth / shallow->block.d * shallow->block.d);
  draft->block = shallow->block;
  draft->starts.clear();
  for (int64_t c = 0; c < channels; c += step) draft->starts.push_back(c);
  return true;
}

std::vector<double> Search::step_cycles(const Draft& draft,
                                        const std::vector<const Piece*>& piece_of,
                                        double* traffic_cycles) const {
  std::vector<double> cycles;
  *traffic_cycles = 0;
  for (const Step& step : draft.steps) {
    const NpuOp& op = network_.op(step.op);
    const OpDraft& one = draft.ops[static_cast<size_t>(step.op)];
    const Piece& piece = *piece_of[static_cast<size_t>(step.op)];
    if (step.kind == Step::Kind::kOpDma) {
      cycles.push_back(copy(network_.use(op.ofm.tensor).bytes));
      continue;
    }
    int64_t channels = op.ofm.shape.c;
    if (!one.starts.empty()) {
      const auto at = static_cast<size_t>(step.slice);
      const int64_t end = at + 1 < one.starts.size() ? one.starts[at + 1] : op.ofm.shape.c;
      channels = end - one.starts[at];
    }
    if (step.kind == Step::Kind::kWeightDma) {
      const int64_t bytes = one.slice_bytes[static_cast<size_t>(step.slice)];
      cycles.push_back(copy(bytes));
      *traffic_cycles += costs_.copy_traffic(bytes);
      continue;
    }
    const OpMemories where = memories(step.op, piece.first, piece.end, one.buffered);
    const KernelCost cost = chooser_.cost(step.op, one, step.rows, channels, where);
    cycles.push_back(cost.cycles() + kKernelStart);
    *traffic_cycles += costs_.traffic(cost);
  }
  return cycles;
}

void Search::estimate_slices(int op, OpDraft* draft) const {
  draft->slice_bytes.clear();
  const int64_t bytes = chooser_.weight_bytes(op, *draft);
  const int64_t channels = network_.op(op).ofm.shape.c;
  for (size_t s = 0; s < draft->starts.size(); ++s) {
    const int64_t end = s + 1 < draft->starts.size() ? draft->starts[s + 1] : channels;
    const int64_t slice = bytes * (end - draft->starts[s]) / channels;
    draft->slice_bytes.push_back((slice + (draft->starts.size() > 1 ? 63 : 15)) / 16 * 16);
  }
}

/// Assigns addresses and inserts weight copies between the kernels. Weights without a buffer are
/// read from region 0.
double Search::place_weight_copies(const std::vector<const Piece*>& piece_of, int64_t budget,
                                   Draft* draft) const {
  const bool dedicated = options_.mode == MemoryMode::kDedicatedSram;
  while (true) {
    const memory::Arena arena = place_tensors(network_, options_.mode, budget, draft);
    std::vector<WeightCopy> copies;
    for (int i = 0; i < network_.op_count(); ++i) {
      const OpDraft& one = draft->ops[static_cast<size_t>(i)];
      for (size_t s = 0; s < one.slice_bytes.size() && one.buffered; ++s) {
        copies.push_back({i, static_cast<int>(s), one.slice_bytes[s], copy(one.slice_bytes[s])});
      }
    }
    double unused = 0;
    Kernels kernels{draft->steps, step_cycles(*draft, piece_of, &unused),
                    table_cycles(draft->steps)};
    const PrefetchPlan inserted =
        insert_copies(chooser_.config(), std::move(kernels), arena, &copies);
    const int failed = inserted.failed;
    if (failed < 0) {
      draft->steps = inserted.steps;
      for (const WeightCopy& copy : copies) {
        std::vector<int64_t>& at = draft->ops[static_cast<size_t>(copy.op)].slice_address;
        at.resize(draft->ops[static_cast<size_t>(copy.op)].starts.size(), -1);
        at[static_cast<size_t>(copy.slice)] = copy.address;
      }
      int64_t& bytes = dedicated ? draft->fast_bytes : draft->arena_bytes;
      bytes = std::max(bytes, inserted.peak);
      return inserted.cycles;
    }
    const Piece& piece = *piece_of[static_cast<size_t>(failed)];
    OpDraft& one = draft->ops[static_cast<size_t>(failed)];
    const int cascade = one.cascade;
    one = *piece.parts[static_cast<size_t>(failed - piece.first)].from_external;
    one.cascade = cascade;
    estimate_slices(failed, &one);
    std::erase_if(draft->steps,
                  [&](const Step& step) { return step.op == failed && step.slice > 0; });
  }
}

/// Reallocates memory for slices that are longer than estimated.
void Search::replan_memory(Found* found, int64_t budget) const {
  Draft& draft = found->draft;
  std::erase_if(draft.steps, [](const Step& step) { return step.kind == Step::Kind::kWeightDma; });
  found->cycles = place_weight_copies(found->piece_of, budget, &draft);
  count(found);
}

void Search::count(Found* found) const {
  double traffic_cycles = 0;
  const std::vector<double> cycles = step_cycles(found->draft, found->piece_of, &traffic_cycles);
  found->score = found->cycles + traffic_cycles;
  found->op_cycles.assign(pieces_.size(), 0);
  for (size_t i = 0; i < cycles.size(); ++i) {
    if (found->draft.steps[i].kind == Step::Kind::kWeightDma) continue;
    found->op_cycles[static_cast<size_t>(found->draft.steps[i].op)] += cycles[i];
  }
}

Search::Found Search::build(const std::vector<const Piece*>& path, int64_t budget) const {
  Found found;
  Draft& draft = found.draft;
  draft.tensors.resize(network_.tensors.size());
  draft.ops.resize(pieces_.size());
  std::vector<const Piece*>& piece_of = found.piece_of;
  piece_of.assign(pieces_.size(), nullptr);
  for (size_t t = 0; t < network_.tensors.size(); ++t) {
    draft.tensors[t].format = network_.tensors[t].format;
    draft.tensors[t].rows = network_.program->tensors[t].shape.h;
    draft.tensors[t].fast = options_.mode == MemoryMode::kDedicatedSram && counted_[t];
  }
  int cascade_index = 0;
  for (const Piece* piece : path) {
    std::vector<bool> buffered;
    (void)cost(*piece, budget, &buffered);
    for (int i = piece->first; i < piece->end; ++i) {
      const auto at = static_cast<size_t>(i - piece->first);
      const PartCost& part = piece->parts[at];
      piece_of[static_cast<size_t>(i)] = piece;
      OpDraft& one = draft.ops[static_cast<size_t>(i)];
      const OpDraft* from = buffered[at] ? part.from_sram : part.from_external;
      if (from != nullptr) one = *from;
      one.buffered = buffered[at];
      if (one.buffered && piece->tile_rows == 0) {
        slice_weights(i, *piece, budget - piece->held, &one);
        if (i == 0) shorten_first_slice(*piece, budget - piece->held, &one);
      }
      if (piece->tile_rows > 0) one.cascade = cascade_index;
      estimate_slices(i, &one);
    }
    if (piece->tile_rows > 0) {
      ++cascade_index;
      const Cascade* const cascade = piece->cascade;
      for (const auto& [tensor, rows] : cascade->rolling_buffers) {
        draft.tensors[static_cast<size_t>(tensor)].rows = rows;
        draft.tensors[static_cast<size_t>(tensor)].fast =
            options_.mode == MemoryMode::kDedicatedSram;
      }
      draft.steps.insert(draft.steps.end(), cascade->steps.begin(), cascade->steps.end());
      continue;
    }
    const NpuOp& op = network_.op(piece->first);
    if (is_omitted_copy(op)) {
      draft.tensors[static_cast<size_t>(op.ofm.tensor)].shares_buffer_of = op.ifm.tensor;
      continue;
    }
    const int over = network_.in_place[static_cast<size_t>(piece->first)];
    if (over >= 0 &&
        counted_[static_cast<size_t>(over)] == counted_[static_cast<size_t>(op.ofm.tensor)]) {
      draft.tensors[static_cast<size_t>(op.ofm.tensor)].shares_buffer_of = over;
    }
    const size_t slices =
        std::max<size_t>(1, draft.ops[static_cast<size_t>(piece->first)].starts.size());
    for (size_t slice = 0; slice < slices; ++slice) {
      Step step;
      step.kind = op.kind == NpuOpKind::kDma ? Step::Kind::kOpDma : Step::Kind::kKernel;
      step.op = piece->first;
      step.rows = {0, op.ofm.shape.h};
      step.slice = static_cast<int>(slice);
      draft.steps.push_back(step);
    }
  }
  found.cycles = place_weight_copies(piece_of, budget, &draft);
  count(&found);
  return found;
}

}  // namespace thimble::engine::ethos_u
