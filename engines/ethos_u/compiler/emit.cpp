// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/emit.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>

#include "engines/ethos_u/compiler/blockdep.h"
#include "engines/ethos_u/compiler/dma.h"
#include "engines/ethos_u/compiler/registers.h"

namespace thimble::engine::ethos_u {
namespace {

using Accesses = std::vector<Access>;

bool conflict(const Accesses& a, const Accesses& b) {
  for (const Access& x : a) {
    for (const Access& y : b) {
      if ((x.write || y.write) && x.internal == y.internal && x.region == y.region &&
          x.begin < y.end && y.begin < x.end) {
        return true;
      }
    }
  }
  return false;
}

/// Operations of an engine that may still be running, oldest first.
class Outstanding {
 public:
  explicit Outstanding(size_t limit) : limit_(limit) {}
  /// Returns the maximum number of operations that may stay outstanding without a conflict, and
  /// removes the others. Returns nullopt if no operation conflicts.
  std::optional<uint32_t> wait_for(const Accesses& accesses) {
    for (size_t i = queue_.size(); i-- > 0;) {
      if (!conflict(queue_[i], accesses)) continue;
      const size_t stay = queue_.size() - 1 - i;
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return static_cast<uint32_t>(stay);
    }
    return std::nullopt;
  }
  /// Adds an operation. The engine's limit implies that the oldest one has finished.
  void add(Accesses accesses) {
    queue_.push_back(std::move(accesses));
    if (queue_.size() > limit_) queue_.pop_front();
  }

 private:
  size_t limit_;
  std::deque<Accesses> queue_;
};

/// Contents of the LUT memory, in slots of 256 bytes.
class TableMemory {
 public:
  /// Returns the slot of a LUT; `load` is set to true if the LUT must be copied there.
  int slot_of(int64_t offset, int64_t bytes, bool* load) {
    const size_t slots = static_cast<size_t>((bytes + 255) / 256);
    ++time_;
    size_t best = 0;
    *load = true;
    for (size_t i = 0; i + slots <= pieces_.size(); i += slots) {
      if (pieces_[i].offset == offset && pieces_[i].bytes == bytes) {
        best = i;
        *load = false;
        break;
      }
      if (used(i, slots) < used(best, slots)) best = i;
    }
    for (size_t i = best; i < best + slots; ++i)
      pieces_[i] = {i == best ? offset : -1, bytes, time_};
    return static_cast<int>(best);
  }
  void forget() { pieces_.fill({}); }

 private:
  struct Content {
    int64_t offset = -1, bytes = 0, last_use = 0;
  };
  [[nodiscard]] int64_t used(size_t first, size_t count) const {
    int64_t latest = 0;
    for (size_t i = first; i < first + count; ++i) latest = std::max(latest, pieces_[i].last_use);
    return latest;
  }
  std::array<Content, 8> pieces_{};
  int64_t time_ = 0;
};

constexpr std::array<size_t, 3> kDmaLimits = {1, 2, 4};

class Emitter {
 public:
  Emitter(const NpuProgram& program, const Schedule& schedule)
      : program_(program),
        schedule_(schedule),
        words_of_op_(program.ops.size()),
        dmas_(kDmaLimits[static_cast<size_t>(program.config->generation)]) {}

  Result<Emitted> run() {
    if (program_.config->generation == Generation::kU65) {
      stream_.set(Reg0::PARALLEL_MODE, program_.config->cores > 1 ? 1 : 0);
    }
    for (size_t i = 0; i < schedule_.steps.size(); ++i) {
      const Step& step = schedule_.steps[i];
      switch (step.kind) {
        case Step::Kind::kKernel:
          preload_tables(i);
          THIMBLE_CHECK(kernel(step));
          break;
        case Step::Kind::kWeightDma:
          i = weight_dma(i);
          break;
        case Step::Kind::kOpDma:
          THIMBLE_CHECK(op_dma(step));
          break;
      }
    }
    stream_.run(Operation::STOP, 0xFFFF);
    return Emitted{stream_.words(), std::move(words_of_op_)};
  }

 private:
  void dma(const Copy& copy) {
    write_copy(*program_.config, copy, &stream_);
    Accesses accesses = {
        {copy.source_region, false, false, copy.source, copy.source + copy.source_reach()},
        {copy.destination_region, copy.internal, true, copy.destination,
         copy.destination + copy.destination_reach()}};
    if (copy.indexed) {
      accesses.push_back(
          {copy.index_region, false, false, copy.index, copy.index + 4 * copy.counts[0]});
    }
    if (const auto stay = dmas_.wait_for(accesses)) stream_.run(Operation::DMA_WAIT, *stay);
    if (const auto stay = kernels_.wait_for(accesses)) stream_.run(Operation::KERNEL_WAIT, *stay);
    stream_.run(Operation::DMA_START);
    dmas_.add(std::move(accesses));
  }

  [[nodiscard]] Copy copy_of(const Step& step) const {
    const WeightPlan& weights = schedule_.ops[static_cast<size_t>(step.op)].weights;
    const SlicePlan& slice = weights.slices[static_cast<size_t>(step.slice)];
    const SlicePlace place = slice_place(weights, step.slice);
    Copy copy;
    copy.source_region = kConstantRegion;
    copy.source = slice.offset;
    copy.destination_region = place.region;
    copy.destination = place.address;
    copy.bytes = slice.bytes;
    return copy;
  }

  /// Emits the weight copy of step `at`. Small copies that follow it are merged if both source and
  /// destination are contiguous. Returns the last merged step.
  size_t weight_dma(size_t at) {
    constexpr int64_t kTogether = 2048;
    Copy copy = copy_of(schedule_.steps[at]);
    for (; at + 1 < schedule_.steps.size(); ++at) {
      const Step& next = schedule_.steps[at + 1];
      if (next.kind != Step::Kind::kWeightDma) break;
      const Copy more = copy_of(next);
      const bool follows = more.source == copy.source + copy.bytes &&
                           more.destination == copy.destination + copy.bytes &&
                           more.destination_region == copy.destination_region;
      if (!follows || copy.bytes + more.bytes > kTogether) break;
      copy.bytes += more.bytes;
    }
    dma(copy);
    return at;
  }

  Status op_dma(const Step& step) {
    THIMBLE_TRY(const std::vector<Copy> copies,
                copies_of(program_, schedule_, program_.ops[static_cast<size_t>(step.op)]));
    for (const Copy& copy : copies) {
      dma(copy);
      add_word(step);
    }
    return ok();
  }

  [[nodiscard]] bool tables_stay() const {
    return program_.config->generation == Generation::kU85 || program_.config->banks > 16;
  }

  /// Copies small LUTs of the next kernels in advance, while earlier kernels run. Not on the U55,
  /// where a second outstanding copy would stall the kernels.
  void preload_tables(size_t at) {
    constexpr size_t kAhead = 5;
    if (program_.config->generation == Generation::kU55) return;
    for (size_t i = at, seen = 0; i < schedule_.steps.size() && seen < kAhead; ++i) {
      const Step& step = schedule_.steps[i];
      if (step.kind == Step::Kind::kOpDma) return;
      if (step.kind != Step::Kind::kKernel) continue;
      ++seen;
      const NpuOp& op = program_.ops[static_cast<size_t>(step.op)];
      if (op.table.content.empty()) continue;
      if (table_bytes(op.table) != 256) return;
      (void)load_table(op, schedule_.ops[static_cast<size_t>(step.op)]);
    }
  }

  int load_table(const NpuOp& op, const OpPlan& plan) {
    bool load = false;
    const int slot = tables_.slot_of(plan.table_offset, table_bytes(op.table), &load);
    if (load) {
      Copy copy;
      copy.source_region = kConstantRegion;
      copy.source = plan.table_offset;
      copy.internal = true;
      copy.destination = table_address(*program_.config, slot);
      copy.bytes = table_bytes(op.table);
      dma(copy);
    }
    return slot;
  }

  Status kernel(const Step& step) {
    Kernel kernel = kernel_of(program_, schedule_, step);
    if (!kernel.op->table.content.empty()) {
      kernel.table_slot = load_table(*kernel.op, *kernel.plan);
    } else if (!tables_stay()) {
      tables_.forget();
    }
    THIMBLE_CHECK(write_registers(kernel, &stream_));
    stream_.set(Reg0::BLOCKDEP, block_dependency(earlier_ ? &*earlier_ : nullptr,
                                                 before_ ? &*before_ : nullptr, kernel));
    Accesses accesses = accesses_of(kernel);
    if (const auto stay = dmas_.wait_for(accesses)) stream_.run(Operation::DMA_WAIT, *stay);
    kernels_.add(std::move(accesses));
    write_operation(kernel, &stream_);
    add_word(step);
    earlier_ = before_;
    before_ = kernel;
    return ok();
  }

  /// Records the last word of the stream as an operation of the step's operator.
  void add_word(const Step& step) {
    const auto word = static_cast<uint32_t>(stream_.words().size() - 1);
    words_of_op_[static_cast<size_t>(step.op)].push_back(word);
  }

  const NpuProgram& program_;
  const Schedule& schedule_;
  std::vector<std::vector<uint32_t>> words_of_op_;
  CommandStream stream_;
  Outstanding kernels_{2};
  Outstanding dmas_;
  TableMemory tables_;
  std::optional<Kernel> earlier_, before_;
};

}  // namespace

Result<Emitted> emit(const NpuProgram& program, const Schedule& schedule) {
  return Emitter(program, schedule).run();
}

}  // namespace thimble::engine::ethos_u
