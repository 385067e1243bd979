// A draft becomes a schedule: weights are encoded, constants laid one after the other, and memory
// is planned over the steps. A tensor lives from the first step that writes it to the last that
// reads it. A buffer of weights lives from the kernel that runs while it is filled to the last
// kernel that reads it.

#include <algorithm>
#include <map>

#include "plan/planner.h"
#include "target/ethos_u/draft.h"

namespace thimble::target::ethos_u {
namespace {

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

class Assembler {
 public:
  Assembler(const NpuProgram& program, const ScheduleOptions& options, const Draft& draft,
            Encoders* encoders)
      : program_(program), options_(options), draft_(draft), encoders_(*encoders) {}

  Result<Schedule> run() {
    schedule_.steps = draft_.steps;
    schedule_.ops.resize(program_.ops.size());
    for (size_t i = 0; i < program_.ops.size(); ++i) THIMBLE_CHECK(constants_of(i));
    place_tensors();
    place_all();
    return std::move(schedule_);
  }

 private:
  /// Bytes that begin at a multiple of 16; equal ones are laid once.
  int64_t lay(const std::vector<std::byte>& bytes) {
    std::vector<std::byte>& all = schedule_.constants;
    const auto [at, added] = laid_.try_emplace(bytes, static_cast<int64_t>(all.size()));
    if (added) {
      all.insert(all.end(), bytes.begin(), bytes.end());
      all.resize(static_cast<size_t>(round_up(static_cast<int64_t>(all.size()), kAlignment)));
    }
    return at->second;
  }

  Status constants_of(size_t index) {
    const NpuOp& op = program_.ops[index];
    const OpDraft& draft = draft_.ops[index];
    OpPlan& plan = schedule_.ops[index];
    plan.block = draft.block;
    plan.cascade = draft.cascade;
    if (!op.table.content.empty()) plan.table_offset = lay(op.table.content);
    if (!op.weights) return ok();
    THIMBLE_TRY(const EncodedWeights encoded,
                encoders_.of(static_cast<int>(index))
                    ->encode(weight_options(program_, static_cast<int>(index), draft),
                             draft.starts));
    const int64_t offset = lay(encoded.bytes);
    plan.weights.fast = draft.fast_weights;
    plan.weights.sparse = draft.sparse;
    for (const WeightSlice& slice : encoded.slices) {
      SlicePlan piece;
      piece.channels = {slice.channel, slice.channel + slice.channels};
      piece.offset = offset + slice.all.offset;
      piece.bytes = round_up(slice.all.length, kAlignment);
      const auto move = [&](const ByteRange& range) {
        return Piece{range.offset - slice.all.offset, round_up(range.length, kAlignment)};
      };
      for (size_t i = 0; i < slice.weights.size(); ++i) piece.weights[i] = move(slice.weights[i]);
      for (size_t i = 0; i < slice.scales.size(); ++i) piece.scales[i] = move(slice.scales[i]);
      plan.weights.slices.push_back(piece);
    }
    plan.weights.address.assign(plan.weights.slices.size(), -1);
    return ok();
  }

  void place_tensors() {
    schedule_.tensors.resize(program_.tensors.size());
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      const NpuTensor& tensor = program_.tensors[i];
      const TensorDraft& draft = draft_.tensors[i];
      TensorPlace& place = schedule_.tensors[i];
      place.format = draft.format;
      place.rows = draft.rows;
      place.bytes = round_up(place_bytes(tensor, draft.format, draft.rows), kAlignment);
      if (tensor.role == TensorRole::kConstant) {
        place.region = kConstantRegion;
        place.address = lay(tensor.content);
      } else {
        place.region = draft.fast ? kFastRegion : kArenaRegion;
      }
    }
  }

  struct Item {
    plan::Buffer buffer;
    uint8_t region;
    int tensor = -1;          // or
    int op = -1, slice = -1;  // a slice of its weights
  };

  void use(int tensor, int step) {
    while (draft_.tensors[static_cast<size_t>(tensor)].same_place >= 0) {
      tensor = draft_.tensors[static_cast<size_t>(tensor)].same_place;
    }
    plan::Buffer& life = lives_[static_cast<size_t>(tensor)];
    if (life.bytes == 0) {
      life = {schedule_.tensors[static_cast<size_t>(tensor)].bytes, step, step};
    }
    life.first = std::min(life.first, step);
    life.last = std::max(life.last, step);
  }

  void find_lives() {
    lives_.assign(program_.tensors.size(), {});
    int last_kernel = 0;
    const int end = static_cast<int>(draft_.steps.size());
    for (int i = 0; i < end; ++i) {
      const Step& step = draft_.steps[static_cast<size_t>(i)];
      const std::pair<int, int> slice{step.op, step.slice};
      if (step.kind == Step::Kind::kWeightDma) {
        const int first = step.late ? i : last_kernel;
        slices_[slice] = {0, first, first};
        continue;
      }
      last_kernel = i;
      const NpuOp& op = program_.ops[static_cast<size_t>(step.op)];
      use(op.ifm.tensor, i);
      use(op.ofm.tensor, i);
      if (op.ifm2) use(op.ifm2->tensor, i);
      if (const auto at = slices_.find(slice); at != slices_.end()) at->second.last = i;
    }
    for (const int tensor : program_.inputs) use(tensor, 0);
    for (const int tensor : program_.outputs) use(tensor, end);
  }

  void place_all() {
    find_lives();
    const bool dedicated = options_.mode == MemoryMode::kDedicatedSram;
    std::vector<Item> items;
    for (size_t i = 0; i < lives_.size(); ++i) {
      const TensorPlace& place = schedule_.tensors[i];
      if (place.region == kConstantRegion || lives_[i].bytes == 0) continue;
      items.push_back({lives_[i], place.region, static_cast<int>(i)});
    }
    for (const auto& [slice, life] : slices_) {
      WeightPlan& weights = schedule_.ops[static_cast<size_t>(slice.first)].weights;
      weights.region = dedicated ? kFastRegion : kArenaRegion;
      plan::Buffer buffer = life;
      buffer.bytes = weights.slices[static_cast<size_t>(slice.second)].bytes;
      items.push_back({buffer, weights.region, -1, slice.first, slice.second});
    }
    schedule_.arena_bytes = place_region(items, kArenaRegion);
    schedule_.fast_bytes = place_region(items, kFastRegion);
    for (size_t i = 0; i < lives_.size(); ++i) {
      int root = static_cast<int>(i);
      while (draft_.tensors[static_cast<size_t>(root)].same_place >= 0) {
        root = draft_.tensors[static_cast<size_t>(root)].same_place;
      }
      if (root != static_cast<int>(i)) {
        schedule_.tensors[i].address = schedule_.tensors[static_cast<size_t>(root)].address;
        schedule_.tensors[i].region = schedule_.tensors[static_cast<size_t>(root)].region;
      }
    }
  }

  int64_t place_region(const std::vector<Item>& items, uint8_t region) {
    std::vector<plan::Buffer> buffers;
    std::vector<const Item*> chosen;
    for (const Item& item : items) {
      if (item.region != region) continue;
      buffers.push_back(item.buffer);
      chosen.push_back(&item);
    }
    const plan::Placement placement = plan::place(buffers, kAlignment);
    for (size_t i = 0; i < chosen.size(); ++i) {
      const Item& item = *chosen[i];
      if (item.tensor >= 0) {
        schedule_.tensors[static_cast<size_t>(item.tensor)].address = placement.offsets[i];
      } else {
        schedule_.ops[static_cast<size_t>(item.op)].weights.address[static_cast<size_t>(
            item.slice)] = placement.offsets[i];
      }
    }
    return placement.peak_bytes;
  }

  const NpuProgram& program_;
  const ScheduleOptions& options_;
  const Draft& draft_;
  Encoders& encoders_;
  Schedule schedule_;
  std::map<std::vector<std::byte>, int64_t> laid_;
  std::vector<plan::Buffer> lives_;  // per tensor
  std::map<std::pair<int, int>, plan::Buffer> slices_;
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

Result<Schedule> assemble(const NpuProgram& program, const ScheduleOptions& options,
                          const Draft& draft, Encoders* encoders) {
  return Assembler(program, options, draft, encoders).run();
}

int64_t budgeted_bytes(const Schedule& schedule, MemoryMode mode) {
  return mode == MemoryMode::kDedicatedSram ? schedule.fast_bytes : schedule.arena_bytes;
}

}  // namespace thimble::target::ethos_u
