#include "engines/ethos_u/compiler/cascade.h"

#include <algorithm>

namespace thimble::engine::ethos_u {
namespace {

class Maker {
 public:
  Maker(const ProgramAnalysis& network, int first, int end, int64_t rows)
      : net_(network), first_(first), end_(end), rows_(rows) {}

  std::optional<Cascade> run() {
    if (!legal()) return std::nullopt;
    const auto count = static_cast<size_t>(end_ - first_);
    done_.assign(count, 0);
    const int64_t height = net_.op(end_ - 1).ofm.shape.h;
    for (int64_t at = 0; at < height; at += rows_) {
      if (!stripe(std::min(height, at + rows_), at + rows_ >= height)) return std::nullopt;
    }
    rolling_buffers();
    return std::move(stripes_);
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

  /// Returns the end of the OFM rows of `op` that later operations need.
  [[nodiscard]] int64_t required_rows_end(int op, const std::vector<int64_t>& wanted) const {
    const int tensor = net_.op(op).ofm.tensor;
    int64_t rows = done_[static_cast<size_t>(op - first_)];
    for (const int reader : net_.use(tensor).readers) {
      if (!inside(reader)) continue;
      const auto at = static_cast<size_t>(reader - first_);
      if (wanted[at] <= done_[at]) continue;
      const Span new_rows{done_[at], wanted[at]};
      const NpuOp& from = net_.op(reader);
      if (from.ifm.tensor == tensor) rows = std::max(rows, input_rows(from, new_rows).rows.end);
      if (from.ifm2 && from.ifm2->tensor == tensor) {
        rows = std::max(rows, second_input_rows(from, new_rows).end);
      }
    }
    return rows;
  }

  bool stripe(int64_t target, bool last) {
    std::vector<int64_t> wanted = done_;
    wanted.back() = target;
    for (int i = end_ - 2; i >= first_; --i) {
      const int64_t all = net_.op(i).ofm.shape.h;
      const bool leaves = !is_internal(net_, net_.op(i).ofm.tensor, first_, end_);
      wanted[static_cast<size_t>(i - first_)] = last && leaves ? all : required_rows_end(i, wanted);
    }
    for (int i = first_; i < end_; ++i) {
      const auto at = static_cast<size_t>(i - first_);
      if (wanted[at] <= done_[at]) continue;
      Step step;
      step.op = i;
      step.rows = {done_[at], wanted[at]};
      // With an upscaled IFM, a step must begin at the first copy of an IFM row.
      const NpuOp& op = net_.op(i);
      const int64_t begin = step.rows.begin * op.window.stride_h - op.window.pad_top;
      if (op.upscale != Upscale::kNone && begin > 0 && begin % 2 != 0) return false;
      stripes_.steps.push_back(step);
      done_[at] = wanted[at];
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
      for (auto step = stripes_.steps.rbegin(); step != stripes_.steps.rend(); ++step) {
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
      stripes_.rolling_buffers[tensor] = std::min(held, net_.op(i).ofm.shape.h);
    }
  }

  const ProgramAnalysis& net_;
  int first_, end_;
  int64_t rows_;
  std::vector<int64_t> done_;
  Cascade stripes_;
};

}  // namespace

std::optional<Cascade> make_cascade(const ProgramAnalysis& network, int first, int end,
                                    int64_t rows) {
  return Maker(network, first, end, rows).run();
}

bool is_internal(const ProgramAnalysis& network, int tensor, int first, int end) {
  const TensorUse& use = network.use(tensor);
  const TensorRole role = network.program->tensors[static_cast<size_t>(tensor)].role;
  return role == TensorRole::kIntermediate && use.first >= first && use.last < end &&
         !use.readers.empty();
}

}  // namespace thimble::engine::ethos_u
