// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/prefetch.h"

#include <algorithm>
#include <map>

namespace thimble::engine::ethos_u {
namespace {

using memory::Lifetime;

/// Returns the first and last kernel that use each slice.
std::map<std::pair<int, int>, Lifetime> uses_of(const std::vector<Step>& steps) {
  std::map<std::pair<int, int>, Lifetime> uses;
  for (size_t i = 0; i < steps.size(); ++i) {
    uses[{steps[i].op, steps[i].slice}].add(static_cast<int>(i));
  }
  return uses;
}

size_t dma_limit(const Config& config) {
  return config.generation == Generation::kU55 ? 1 : config.generation == Generation::kU65 ? 2 : 4;
}
double back(const std::vector<double>& ends, size_t count) {
  return ends.size() >= count ? ends[ends.size() - count] : 0;
}

/// Simulates the kernels in order and inserts copies while the DMA engine would be idle.
class PrefetchPlanner {
 public:
  PrefetchPlanner(const Config& config, Kernels kernels, memory::Arena arena,
                  std::vector<WeightCopy>* copies)
      : limit_(dma_limit(config)),
        kernels_(std::move(kernels)),
        arena_(std::move(arena)),
        uses_(uses_of(kernels_.steps)),
        queue_(*copies) {
    std::stable_sort(queue_.begin(), queue_.end(), [&](const WeightCopy& a, const WeightCopy& b) {
      return use(a).first < use(b).first;
    });
  }

  PrefetchPlan run() {
    // Every slice needs a buffer at least during its own kernels.
    for (WeightCopy& copy : queue_) {
      const std::optional<int64_t> address = arena_.allocate({copy.bytes, use(copy)});
      if (!address) {
        result_.failed = copy.op;
        return std::move(result_);
      }
      copy.address = *address;
    }
    for (int k = -1; k < static_cast<int>(kernels_.steps.size()); ++k) {
      if (k >= 0) kernel(k);
      insert_copies_after(k);
    }
    result_.cycles = std::max(back(kernel_ends_, 1), back(dma_ends_, 1));
    result_.peak = arena_.peak_bytes();
    return std::move(result_);
  }

 private:
  [[nodiscard]] Lifetime use(const WeightCopy& copy) const {
    return uses_.at({copy.op, copy.slice});
  }

  /// Moves a copy's buffer so that it is allocated from kernel `first` on.
  bool extend(WeightCopy* copy, int first) {
    const memory::PlacedBuffer before = {{copy->bytes, use(*copy)}, copy->address};
    arena_.release(before);
    const std::optional<int64_t> address =
        arena_.allocate({copy->bytes, {first, before.buffer.life.last}});
    if (address) {
      copy->address = *address;
    } else {
      arena_.add(before);
    }
    return address.has_value();
  }

  void issue(int k, bool late) {
    const WeightCopy& copy = queue_[next_++];
    const Lifetime life = {late ? k + 1 : std::max(0, k), use(copy).last};
    if (late) now_ = std::max(now_, back(kernel_ends_, 1));
    // The copy waits for the kernel before the running one if that kernel uses the buffer.
    if (k > 0 && arena_.is_shared({{copy.bytes, life}, copy.address}, k - 1)) {
      now_ = std::max(now_, back(kernel_ends_, 2));
    }
    now_ = std::max(now_, back(dma_ends_, limit_));
    dma_ends_.push_back(std::max(now_, back(dma_ends_, 1)) + copy.cycles);
    ready_[{copy.op, copy.slice}] = dma_ends_.back();
    Step step;
    step.kind = Step::Kind::kWeightDma;
    step.op = copy.op;
    step.slice = copy.slice;
    step.late = late;
    result_.steps.push_back(step);
  }

  /// Copies the LUTs of kernel `k`, and of later kernels if several copies can be outstanding.
  void tables(int k) {
    const auto until = static_cast<size_t>(k + (limit_ > 1 ? 5 : 1));
    table_ready_.resize(kernels_.tables.size(), 0);
    for (; next_table_ < std::min(until, kernels_.tables.size()); ++next_table_) {
      const double table = kernels_.tables[next_table_];
      if (table <= 0) continue;
      now_ = std::max(now_, back(dma_ends_, limit_));
      dma_ends_.push_back(std::max(now_, back(dma_ends_, 1)) + table);
      table_ready_[next_table_] = dma_ends_.back();
    }
  }

  void kernel(int k) {
    const Step& step = kernels_.steps[static_cast<size_t>(k)];
    if (step.kind == Step::Kind::kOpDma) now_ = std::max(now_, back(kernel_ends_, 1));
    tables(k);
    now_ = std::max(now_, table_ready_[static_cast<size_t>(k)]);
    const auto at = ready_.find({step.op, step.slice});
    now_ = std::max({now_, back(kernel_ends_, 2), at == ready_.end() ? 0 : at->second});
    kernel_ends_.push_back(std::max(now_, back(kernel_ends_, 1)) +
                           kernels_.cycles[static_cast<size_t>(k)]);
    result_.steps.push_back(step);
  }

  /// Inserts copies after kernel `k` (-1: before the first): those that the next kernel needs, and
  /// others while they do not delay the kernels.
  void insert_copies_after(int k) {
    while (next_ < queue_.size()) {
      WeightCopy& copy = queue_[next_];
      const bool must = use(copy).first == k + 1;
      const double free = std::max(now_, back(dma_ends_, limit_));
      const bool idle = free < back(kernel_ends_, 1) || k < 0;
      if (!must && (!idle || (k < 0 && !dma_ends_.empty()))) return;
      const bool room = k < 0 && must ? true : extend(&copy, std::max(0, k));
      if (!must && !room) return;
      issue(k, !room && k >= 0);
    }
  }

  size_t limit_;
  Kernels kernels_;
  memory::Arena arena_;
  std::map<std::pair<int, int>, Lifetime> uses_;
  std::vector<WeightCopy>& queue_;
  size_t next_ = 0;
  double now_ = 0;
  std::vector<double> kernel_ends_, dma_ends_, table_ready_;
  size_t next_table_ = 0;
  std::map<std::pair<int, int>, double> ready_;
  PrefetchPlan result_;
};

}  // namespace

PrefetchPlan insert_copies(const Config& config, Kernels kernels, memory::Arena arena,
                           std::vector<WeightCopy>* copies) {
  return PrefetchPlanner(config, std::move(kernels), std::move(arena), copies).run();
}

}  // namespace thimble::engine::ethos_u
