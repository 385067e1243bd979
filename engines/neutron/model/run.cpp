// SPDX-License-Identifier: Apache-2.0
// Executes the kernels in order and prefetches the weights of later ones.

#include "engines/neutron/model/kernel.h"
#include "engines/neutron/model/model.h"

namespace thimble::neutron {
namespace {

using model::KernelArgs;

const uint8_t* base_of(const Job& job, const View& view, const KernelArgs& args) {
  switch (view.memory) {
    case Memory::kInput:
      return job.inputs[view.index] + view.offset;
    case Memory::kOutput:
      return job.outputs[view.index] + view.offset;
    case Memory::kScratch:
      return job.scratch + view.offset;
    case Memory::kWeights:
      return args.constants(view.offset);
    case Memory::kNone:
      break;
  }
  return nullptr;
}

/// Returns the address of a view in an output or in the scratch memory; check() has verified it.
int8_t* written(const Job& job, const View& view) {
  uint8_t* const memory = view.memory == Memory::kOutput ? job.outputs[view.index] : job.scratch;
  return reinterpret_cast<int8_t*>(memory + view.offset);
}

void execute(const KernelArgs& args) {
  switch (args.record.kernel) {
#define NEUTRON_KERNEL(name, number, operands, check, run) \
  case Kernel::k##name:                                    \
    return model::run(args);
#include "engines/neutron/container/kernels.def"
#undef NEUTRON_KERNEL
  }
}

/// Prefetches weights: while a kernel with prefetched weights runs, the weights of the next such
/// kernel are copied.
class Prefetcher {
 public:
  explicit Prefetcher(const Job& job)
      : job_(job), kernel_count_(job.program.header().kernel_count) {
    if (job.prefetch != nullptr) start();
  }

  /// Must be called before kernel `index` runs; waits for its weights.
  void arrive(uint32_t index) {
    if (job_.prefetch == nullptr || index != next_) return;
    if (job_.wait != nullptr) job_.wait(channel_);
    channel_ = (channel_ + 1) % kPrefetchChannels;
    ++next_;
    start();
  }

 private:
  /// Starts the copy for the first kernel from `next_` on with prefetched weights. If none exists,
  /// `next_` becomes the number of kernels.
  void start() {
    for (; next_ < kernel_count_; ++next_) {
      const KernelRecord record = job_.program.kernel(next_);
      if (record.prefetch_bytes == 0) continue;
      uint8_t* const to = job_.prefetch + record.prefetch_to;
      const uint8_t* const from = job_.weights + record.prefetch_from;
      if (job_.copy == nullptr) {
        memcpy(to, from, record.prefetch_bytes);
      } else {
        // The vendor's signature has no const, but the callback does not write there.
        job_.copy(to, const_cast<uint8_t*>(from), record.prefetch_bytes, channel_);
      }
      return;
    }
  }

  const Job& job_;
  uint32_t kernel_count_;
  uint32_t next_ = 0;  // the kernel whose weights are being copied
  uint32_t channel_ = 0;
};

KernelArgs kernel_args(const Job& job, const KernelRecord& record) {
  KernelArgs args = {};
  args.record = record;
  args.weights = job.weights;
  args.prefetched = job.prefetch == nullptr ? nullptr : job.prefetch + record.prefetch_to;
  args.a = reinterpret_cast<const int8_t*>(base_of(job, record.operands[0], args));
  if (record.operand_count == 2) {
    args.b = reinterpret_cast<const int8_t*>(base_of(job, record.operands[1], args));
  }
  args.y = written(job, record.output);
  if (record.kernel == Kernel::kPad) args.padded = written(job, record.padded);
  return args;
}

/// Writes one profile record per kernel, and one for the whole run.
class Profile {
 public:
  Profile(uint8_t* buffer, bool wanted) : buffer_(wanted ? buffer : nullptr) {}

  void kernel(uint32_t index, const KernelRecord& record) {
    const uint32_t start = now_;
    now_ += record.cycles;
    put(index, kOperationKernel, static_cast<uint8_t>(record.kernel), start);
  }
  void end(uint32_t index) { put(index, kOperationRun, 0, 0); }

 private:
  void put(uint32_t index, uint8_t operation, uint8_t function, uint32_t start) {
    if (buffer_ == nullptr) return;
    const ProfileRecord record = {{kEventStart, operation, function, 0, start},
                                  {kEventStop, operation, function, 0, now_}};
    memcpy(buffer_ + index * sizeof record, &record, sizeof record);
  }

  uint8_t* buffer_;
  uint32_t now_ = 0;
};

}  // namespace

void run(const Job& job) {
  const Header header = job.program.header();
  Profile profile(job.profile, header.profile_bytes != 0);
  Prefetcher prefetcher(job);
  for (uint32_t i = 0; i < header.kernel_count; ++i) {
    const KernelRecord record = job.program.kernel(i);
    prefetcher.arrive(i);
    execute(kernel_args(job, record));
    profile.kernel(i, record);
  }
  profile.end(header.kernel_count);
}

}  // namespace thimble::neutron
