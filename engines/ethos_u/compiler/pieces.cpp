#include "engines/ethos_u/compiler/pieces.h"

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

double Pieces::traffic(const KernelCost& cost) const {
  if (options_.mode != MemoryMode::kDedicatedSram) return 0;
  return kTraffic * cost.external + std::max(0.0, cost.charged - cost.cycles());
}

Pieces::Piece* Pieces::find(int first, int end, int64_t stripe) {
  const auto [at, added] = pieces_.try_emplace({first, end, stripe});
  if (!added) return at->second ? &*at->second : nullptr;
  Piece piece;
  if (stripe > 0) {
    piece.stripes_ = make_stripes(network_, first, end, stripe);
    if (!piece.stripes_ || piece.stripes_->rings.empty()) return nullptr;
  }
  count_kernels(&piece, first, end);
  at->second = std::move(piece);
  return &*at->second;
}

void Pieces::count_kernels(Piece* piece, int first, int end) const {
  piece->parts_.resize(static_cast<size_t>(end - first));
  if (!piece->stripes_) {
    const int64_t height = network_.op(first).ofm.shape.h;
    piece->parts_[0].kernels.push_back({1, {0, height}});
    piece->parts_[0].most = height;
    return;
  }
  std::vector<std::map<int64_t, Piece::Kernels>> by_rows(piece->parts_.size());
  for (const Step& step : piece->stripes_->steps) {
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

const PartCost& Pieces::cost(Piece* piece, int first, int op, OpMemories where) {
  Piece::Part& part = piece->parts_[static_cast<size_t>(op - first)];
  std::optional<PartCost>& cost = part.by_place[place_of(where)];
  if (!cost) cost = work_out(part, op, where);
  return *cost;
}

PartCost Pieces::work_out(const Piece::Part& part, int op, OpMemories where) {
  const bool may_buffer = options_.mode != MemoryMode::kSramOnly;
  PartCost cost;
  for (const bool near : {true, false}) {
    where.weights = near || !may_buffer ? Memory::kSram : Memory::kExternal;
    const OpDraft* draft = chooser_.draft(op, part.most, where);
    if (draft == nullptr) return {};
    if (near) cost.weight_bytes = chooser_.weight_bytes(op, *draft);
    double cycles = 0;
    for (const Piece::Kernels& kernels : part.kernels) {
      const KernelCost one =
          chooser_.cost(op, *draft, kernels.rows, network_.op(op).ofm.shape.c, where);
      cycles += static_cast<double>(kernels.count) * (one.cycles() + kKernelStart + traffic(one));
    }
    (near ? cost.near : cost.far) = draft;
    (near ? cost.near_cycles : cost.far_cycles) = cycles;
  }
  return cost;
}

}  // namespace thimble::engine::ethos_u
