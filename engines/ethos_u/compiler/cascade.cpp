// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/cascade.h"

#include <algorithm>

#include "memory/row_schedule.h"

namespace thimble::engine::ethos_u {
namespace {

class CascadeBuilder {
 public:
  CascadeBuilder(const ProgramAnalysis& network, int first, int end, int64_t rows)
      : net_(network), first_(first), end_(end), rows_(rows) {}

  std::optional<Cascade> run() {
    if (!legal() || !schedule()) return std::nullopt;
    rolling_buffers();
    return std::move(cascade_);
  }

 private:
  [[nodiscard]] bool inside(int op) const { return op >= first_ && op < end_; }

  /// Checks that operations of the cascade read the results of other operations of the cascade as
  /// whole tensors.
  [[nodiscard]] bool legal() const {
    for (int i = first_; i < end_; ++i) {
      const NpuOp& op = net_.op(i);
      if (!can_split_rows(op)) return false;
      const TensorUse& made = net_.use(op.ofm.tensor);
      const bool read = std::any_of(made.readers.begin(), made.readers.end(),
                                    [&](int reader) { return inside(reader); });
      if (read && (!made.whole || made.writers.size() != 1)) return false;
      if (!read && i + 1 < end_) return false;  // no operation requests its rows
    }
    return true;
  }

  bool schedule() {
    std::vector<memory::RowResult> results;
    for (int i = first_; i < end_; ++i) {
      const Operand& ofm = net_.op(i).ofm;
      results.push_back({ofm.shape.h, !is_internal(net_, ofm.tensor, first_, end_)});
    }
    const auto reads = [&](int index, const IndexRange& rows, const auto& read) {
      const NpuOp& op = net_.op(first_ + index);
      const auto read_tensor = [&](int tensor, const IndexRange& operand_rows) {
        for (const int writer : net_.use(tensor).writers) {
          if (inside(writer)) read(writer - first_, operand_rows);
        }
      };
      read_tensor(op.ifm.tensor, input_rows(op, rows).rows);
      if (op.ifm2) read_tensor(op.ifm2->tensor, second_input_rows(op, rows));
    };
    for (const std::vector<memory::RowStep>& tile : memory::row_schedule(results, rows_, reads)) {
      for (const memory::RowStep& row_step : tile) {
        if (row_step.made.size() == 0) continue;
        Step step;
        step.op = first_ + row_step.op;
        step.rows = row_step.made;
        // With an upscaled IFM, a step must begin at the first copy of an IFM row.
        const NpuOp& op = net_.op(step.op);
        const int64_t begin = step.rows.begin * op.window.stride_h - op.window.pad_top;
        if (op.upscale != Upscale::kNone && begin > 0 && begin % 2 != 0) return false;
        cascade_.steps.push_back(step);
      }
    }
    return true;
  }

  void rolling_buffers() {
    for (int i = first_; i < end_; ++i) {
      const int tensor = net_.op(i).ofm.tensor;
      if (!is_internal(net_, tensor, first_, end_)) continue;
      // Iterates from the last step: `lowest` is the lowest row still to be read. A step also needs
      // space for the rows it writes that no window reads.
      int64_t lowest = net_.op(i).ofm.shape.h, held = 1;
      for (auto step = cascade_.steps.rbegin(); step != cascade_.steps.rend(); ++step) {
        const NpuOp& op = net_.op(step->op);
        if (step->op == i) {
          held = std::max(held, step->rows.end - std::min(lowest, step->rows.begin));
        }
        if (op.ifm.tensor == tensor) {
          lowest = std::min(lowest, input_rows(op, step->rows).rows.begin);
        }
        if (op.ifm2 && op.ifm2->tensor == tensor) {
          lowest = std::min(lowest, second_input_rows(op, step->rows).begin);
        }
      }
      cascade_.rolling_buffers[tensor] = std::min(held, net_.op(i).ofm.shape.h);
    }
  }

  const ProgramAnalysis& net_;
  int first_, end_;
  int64_t rows_;
  Cascade cascade_;
};

}  // namespace

std::optional<Cascade> make_cascade(const ProgramAnalysis& network, int first, int end,
                                    int64_t rows) {
  return CascadeBuilder(network, first, end, rows).run();
}

bool is_internal(const ProgramAnalysis& network, int tensor, int first, int end) {
  const TensorUse& use = network.use(tensor);
  const TensorRole role = network.program->tensors[static_cast<size_t>(tensor)].role;
  return role == TensorRole::kIntermediate && use.life.first >= first && use.life.last < end &&
         !use.readers.empty();
}

}  // namespace thimble::engine::ethos_u
