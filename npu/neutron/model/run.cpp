// The kernels of a list in order, with the weights of the next on their way.

#include "npu/neutron/model/kernel.h"
#include "npu/neutron/model/model.h"

namespace thimble::neutron {
namespace {

using model::Work;

const uint8_t* base_of(const Job& job, const View& view, const Work& work) {
  switch (view.memory) {
    case Memory::kInput:
      return job.inputs[view.index] + view.offset;
    case Memory::kOutput:
      return job.outputs[view.index] + view.offset;
    case Memory::kScratch:
      return job.scratch + view.offset;
    case Memory::kWeights:
      return work.constants(view.offset);
    case Memory::kNone:
      break;
  }
  return nullptr;
}

/// What check() has found to lie in an output or in the scratch memory.
int8_t* written(const Job& job, const View& view) {
  uint8_t* const memory = view.memory == Memory::kOutput ? job.outputs[view.index] : job.scratch;
  return reinterpret_cast<int8_t*>(memory + view.offset);
}

void execute(const Work& work) {
  switch (work.record.kernel) {
#define NEUTRON_KERNEL(name, number, operands, shape, run) \
  case Kernel::k##name:                                    \
    return model::run(work);
#include "npu/neutron/kernels.def"
#undef NEUTRON_KERNEL
  }
}

uint32_t channel_of(uint32_t kernel) {
  return kernel % kPrefetchChannels;
}

/// Starts to bring what kernel `index` has to be brought, if there is such a kernel.
void start_prefetch(const Job& job, uint32_t index, uint32_t kernel_count) {
  if (job.prefetch == nullptr || index >= kernel_count) return;
  const KernelRecord record = job.program.kernel(index);
  if (record.prefetch_bytes == 0) return;
  uint8_t* const to = job.prefetch + record.prefetch_to;
  const uint8_t* const from = job.weights + record.prefetch_from;
  if (job.copy == nullptr) {
    memcpy(to, from, record.prefetch_bytes);
  } else {
    // The vendor's signature has no const; nobody writes there.
    job.copy(to, const_cast<uint8_t*>(from), record.prefetch_bytes, channel_of(index));
  }
}

void await_prefetch(const Job& job, const KernelRecord& record, uint32_t index) {
  if (job.prefetch == nullptr || record.prefetch_bytes == 0 || job.wait == nullptr) return;
  job.wait(channel_of(index));
}

Work work_of(const Job& job, const KernelRecord& record) {
  Work work = {};
  work.record = record;
  work.weights = job.weights;
  work.prefetched = job.prefetch == nullptr ? nullptr : job.prefetch + record.prefetch_to;
  work.a = reinterpret_cast<const int8_t*>(base_of(job, record.operands[0], work));
  if (record.operand_count == 2) {
    work.b = reinterpret_cast<const int8_t*>(base_of(job, record.operands[1], work));
  }
  work.y = written(job, record.output);
  if (record.kernel == Kernel::kPad) work.outside = written(job, record.outside);
  return work;
}

/// Records of the run's kernels, and one of the whole.
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
  start_prefetch(job, 0, header.kernel_count);
  for (uint32_t i = 0; i < header.kernel_count; ++i) {
    const KernelRecord record = job.program.kernel(i);
    await_prefetch(job, record, i);
    start_prefetch(job, i + 1, header.kernel_count);
    execute(work_of(job, record));
    profile.kernel(i, record);
  }
  profile.end(header.kernel_count);
}

}  // namespace thimble::neutron
