// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/piece_costs.h"

#include <algorithm>

namespace thimble::engine::ethos_u {
namespace {

constexpr double kTraffic = 2;  // weight of a busy DRAM cycle that causes no delay

size_t place_of(const OpMemories& where) {
  const auto bit = [](Memory memory) {
    return memory == Memory::kExternal ? size_t{1} : size_t{0};
  };
  return bit(where.ifm) + 2 * bit(where.ifm2) + 4 * bit(where.ofm);
}

}  // namespace

double PieceCosts::traffic(const KernelCost& cost) const {
  if (options_.mode != MemoryMode::kDedicatedSram) return 0;
  return kTraffic * cost.external + std::max(0.0, cost.latency_penalty - cost.cycles());
}

double PieceCosts::copy_traffic(int64_t bytes) const {
  if (options_.mode != MemoryMode::kDedicatedSram) return 0;
  return kTraffic * static_cast<double>(bytes) / chooser_.system().external.bytes_per_cycle;
}

double PieceCosts::waiting_copy(int64_t bytes) const {
  if (options_.mode != MemoryMode::kDedicatedSram) return 0;
  return waiting_copy_cycles(chooser_.config(), chooser_.system(), bytes);
}

PieceCosts::Piece* PieceCosts::find(int first, int end, int64_t tile_rows) {
  const auto [at, added] = pieces_.try_emplace({first, end, tile_rows});
  if (!added) return at->second ? &*at->second : nullptr;
  Piece piece;
  if (tile_rows > 0) {
    piece.cascade_ = make_cascade(network_, first, end, tile_rows);
    if (!piece.cascade_ || piece.cascade_->rolling_buffers.empty()) return nullptr;
  }
  count_kernels(&piece, first, end);
  at->second = std::move(piece);
  return &*at->second;
}

void PieceCosts::count_kernels(Piece* piece, int first, int end) const {
  piece->parts_.resize(static_cast<size_t>(end - first));
  if (!piece->cascade_) {
    const int64_t height = network_.op(first).ofm.shape.h;
    piece->parts_[0].kernels.push_back({1, {0, height}});
    piece->parts_[0].most = height;
    return;
  }
  std::vector<std::map<int64_t, Piece::Kernels>> by_rows(piece->parts_.size());
  for (const Step& step : piece->cascade_->steps) {
    Piece::Kernels& kernels = by_rows[static_cast<size_t>(step.op - first)][step.rows.size()];
    ++kernels.count, kernels.rows = step.rows;
  }
  for (size_t i = 0; i < by_rows.size(); ++i) {
    int64_t often = 0;
    for (const auto& [rows, kernels] : by_rows[i]) {
      piece->parts_[i].kernels.push_back(kernels);
      if (kernels.count > often) often = kernels.count, piece->parts_[i].most = rows;
    }
  }
}

const PartCost& PieceCosts::cost(Piece* piece, int first, int op, OpMemories where) {
  Piece::Part& part = piece->parts_[static_cast<size_t>(op - first)];
  std::optional<PartCost>& cost = part.by_place[place_of(where)];
  if (!cost) cost = work_out(part, op, where);
  return *cost;
}

PartCost PieceCosts::work_out(const Piece::Part& part, int op, OpMemories where) {
  const bool may_buffer = options_.mode != MemoryMode::kSramOnly;
  PartCost cost;
  for (const bool from_sram : {true, false}) {
    where.weights = from_sram || !may_buffer ? Memory::kSram : Memory::kExternal;
    const OpDraft* draft = chooser_.draft(op, part.most, where);
    if (draft == nullptr) return {};
    if (from_sram) cost.weight_bytes = chooser_.weight_bytes(op, *draft);
    double cycles = 0;
    for (const Piece::Kernels& kernels : part.kernels) {
      const KernelCost one =
          chooser_.cost(op, *draft, kernels.rows, network_.op(op).ofm.shape.c, where);
      cycles += static_cast<double>(kernels.count) * (one.cycles() + kKernelStart + traffic(one));
    }
    (from_sram ? cost.from_sram : cost.from_external) = draft;
    (from_sram ? cost.from_sram_cycles : cost.from_external_cycles) = cycles;
  }
  return cost;
}

}  // namespace thimble::engine::ethos_u
