// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/timeline.h"

#include "engines/ethos_u/sim/decode.h"
#include "engines/ethos_u/sim/hazard.h"

namespace thimble::ethos_u::sim {
namespace {

#define ETHOS_U_TIMING(name, value, source) [[maybe_unused]] constexpr double name = value;
#include "engines/ethos_u/sim/timing.def"

/// An operation that is issued and not complete.
struct Active {
  OperationTime time;
  double ready = 0;       // earliest start
  double fixed = 0;       // cycles before the first transfer
  bool overlaps = false;  // can start while the previous kernel drains
  double alone = 0;       // cycles from the first transfer to the end without contention
  double drain = 0;       // final part of `alone` that the next kernel can overlap
  double block = 0;       // cycles of one block
  uint8_t blockdep = 0;
  double left = 1;  // remaining fraction of `alone`
  double bytes[kPorts] = {};
  bool begun = false;
};

/// Queue of an engine, oldest operation first; only the oldest runs.
template <uint32_t kMost>
struct Engine {
  Active items[kMost];
  uint32_t count = 0;
  double free_at = 0;  // end of the last complete operation
  double overlap = 0;  // drain of that operation
  double early = 0;    // lead of the next operation's input fetch over the start of the drain

  [[nodiscard]] Active* running() { return count == 0 ? nullptr : &items[0]; }
  void pop() {
    for (uint32_t i = 1; i < count; ++i) items[i - 1] = items[i];
    --count;
  }
};

class Clock {
 public:
  Clock(const TimelineJob& job, Timeline* timeline) : job_(job), result_(*timeline) {}
  Fault run();

 private:
  void issue_kernel(uint32_t word, const KernelOperation& operation);
  void issue_dma(uint32_t word, const DmaOperation& operation);
  void wait_for_kernels(uint32_t most);
  void wait_for_dmas(uint32_t most);
  /// Advances time until the running kernel or the running DMA changes state.
  void pass();
  void begin(Active& active, double free_at, double overlap, double early);
  double rate_of(const Active& active, const Active* other) const;
  void finish(Active& active, double end);
  void add(const PortBytes& read, const PortBytes& written, Active* active);

  const TimelineJob& job_;
  Timeline& result_;
  Engine<kKernelsOutstanding> kernels_;
  Engine<kDmasOutstandingMost> dmas_;
  double now_ = 0;    // time up to which the engines are simulated
  double front_ = 0;  // issue time of the next command
};

double larger(double a, double b) {
  return a > b ? a : b;
}
double smaller(double a, double b) {
  return a < b ? a : b;
}

double bytes_per_cycle(const System& system, uint32_t port) {
  return port == 0 ? system.sram.bytes_per_cycle : system.external.bytes_per_cycle;
}

/// Returns the maximum of the compute cycles and the cycles of the ports; sets which one it is.
double longest(const System& system, double compute, Bound bound, const double* bytes,
               Bound* which) {
  *which = bound;
  for (uint32_t port = 0; port < kPorts; ++port) {
    const double cycles = bytes[port] / bytes_per_cycle(system, port);
    if (cycles <= compute) continue;
    compute = cycles;
    *which = port == 0 ? Bound::kSramPort : Bound::kExternalPort;
  }
  return compute;
}

Bound bound_of(const KernelCycles& cycles) {
  if (cycles.issue > cycles.multiply && cycles.issue > cycles.output) return Bound::kIssue;
  return cycles.multiply >= cycles.output ? Bound::kMultiply : Bound::kOutput;
}

void Clock::add(const PortBytes& read, const PortBytes& written, Active* active) {
  for (uint32_t port = 0; port < kPorts; ++port) {
    active->bytes[port] = read.of[port] + written.of[port];
    result_.read.of[port] += read.of[port];
    result_.written.of[port] += written.of[port];
  }
}

void Clock::issue_kernel(uint32_t word, const KernelOperation& operation) {
  wait_for_kernels(kKernelsOutstanding - 1);
  const KernelCycles cycles = sim::kernel_cycles(*job_.config, *job_.system, job_.mode, operation);
  Active& active = kernels_.items[kernels_.count];
  active = {};
  active.time.word = word;
  active.time.kernel = true;
  active.time.macs = cycles.macs;
  active.ready = front_;
  active.overlaps = operation.blockdep != 0;
  active.blockdep = operation.blockdep;
  active.fixed = cycles.fill;
  add(cycles.read, cycles.written, &active);
  active.alone =
      longest(*job_.system, cycles.compute(), bound_of(cycles), active.bytes, &active.time.bound) +
      cycles.drain;
  active.drain = cycles.drain;
  active.block = smaller(1, 1 / cycles.blocks) * (active.alone - cycles.drain);
  result_.macs += cycles.macs;
  ++kernels_.count;
}

void Clock::issue_dma(uint32_t word, const DmaOperation& operation) {
  wait_for_dmas(dmas_outstanding(job_.config->generation) - 1);
  const DmaCycles cycles = sim::dma_cycles(*job_.system, job_.mode, operation);
  Active& active = dmas_.items[dmas_.count];
  active = {};
  active.time.word = word;
  active.ready = front_;
  active.fixed = cycles.latency;
  add(cycles.read, cycles.written, &active);
  active.alone = longest(*job_.system, 0, Bound::kLatency, active.bytes, &active.time.bound);
  if (active.alone < active.fixed) active.time.bound = Bound::kLatency;
  ++dmas_.count;
}

/// Returns the speed of `active` while `other` runs, relative to its speed alone.
double Clock::rate_of(const Active& active, const Active* other) const {
  double rate = 1;
  if (other == nullptr || active.alone <= 0) return rate;
  for (uint32_t port = 0; port < kPorts; ++port) {
    const double most = bytes_per_cycle(*job_.system, port);
    const double wants = active.bytes[port] / active.alone;
    const double others = other->alone <= 0 ? 0 : other->bytes[port] / other->alone;
    if (wants + others <= most || wants <= 0) continue;
    const double gets = larger(most / 2, most - others);
    rate = smaller(rate, gets / wants);
  }
  return rate;
}

/// Starts an operation. `free_at`: end of the previous operation. During that operation's drain,
/// the next one fetches its input and multiplies its first blocks.
void Clock::begin(Active& active, double free_at, double overlap, double early) {
  if (active.begun) return;
  active.begun = true;
  active.time.start = larger(active.ready, free_at - overlap);
  // The first block's input may already be fetched while the previous kernel still multiplies.
  const double fetched = larger(active.ready, free_at - overlap - early) + active.fixed;
  active.fixed = larger(0, fetched - active.time.start);
  if (active.time.start + active.fixed >= now_ || active.alone <= 0) return;
  active.left = larger(0, 1 - (now_ - active.time.start - active.fixed) / active.alone);
}

void Clock::finish(Active& active, double end) {
  active.time.end = end;
  (active.time.kernel ? result_.kernel_cycles : result_.dma_cycles) += end - active.time.start;
  if (result_.operation_count < job_.operation_capacity && job_.operations != nullptr) {
    job_.operations[result_.operation_count] = active.time;
  }
  ++result_.operation_count;
}

void Clock::pass() {
  Active* kernel = kernels_.running();
  Active* dma = dmas_.running();
  if (kernel != nullptr) begin(*kernel, kernels_.free_at, kernels_.overlap, kernels_.early);
  if (dma != nullptr) begin(*dma, dmas_.free_at, 0, 0);
  // Each engine waits for its first transfer, transfers, or has no operation.
  const auto moves_from = [](const Active& active) { return active.time.start + active.fixed; };
  double step = -1;
  double rates[2] = {1, 1};
  Active* const both[2] = {kernel, dma};
  for (int i = 0; i < 2; ++i) {
    if (both[i] == nullptr) continue;
    const Active* other = both[1 - i];
    const bool shares = other != nullptr && moves_from(*other) <= now_;
    rates[i] = rate_of(*both[i], shares ? other : nullptr);
    const double from = moves_from(*both[i]);
    const double until = from > now_ ? from - now_ : both[i]->left * both[i]->alone / rates[i];
    if (step < 0 || until < step) step = until;
  }
  if (step < 0) return;
  for (int i = 0; i < 2; ++i) {
    if (both[i] == nullptr || moves_from(*both[i]) > now_) continue;
    const double done = both[i]->alone <= 0 ? 1 : step * rates[i] / both[i]->alone;
    both[i]->left = larger(0, both[i]->left - done);
  }
  now_ += step;
  constexpr double kDone = 1e-9;
  if (kernel != nullptr && kernel->left <= kDone && moves_from(*kernel) <= now_) {
    kernels_.free_at = now_;
    const bool overlaps = kernels_.count > 1 && kernels_.items[1].overlaps;
    kernels_.overlap = overlaps ? kernel->drain : 0;
    kernels_.early = overlaps ? kernel->block * (kernels_.items[1].blockdep - 1) : 0;
    finish(*kernel, now_);
    kernels_.pop();
  }
  if (dma != nullptr && dma->left <= kDone && moves_from(*dma) <= now_) {
    dmas_.free_at = now_;
    finish(*dma, now_);
    dmas_.pop();
  }
}

void Clock::wait_for_kernels(uint32_t most) {
  while (kernels_.count > most) {
    pass();
    front_ = larger(front_, now_);
  }
}

void Clock::wait_for_dmas(uint32_t most) {
  while (dmas_.count > most) {
    pass();
    front_ = larger(front_, now_);
  }
}

Fault Clock::run() {
  Decoder decoder(*job_.config, job_.words, job_.word_count);
  Step step;
  for (;;) {
    if (const Fault fault = decoder.next(&step); !fault.none()) return fault;
    switch (step.kind) {
      case StepKind::kStop:
        wait_for_kernels(0);
        wait_for_dmas(0);
        result_.cycles = larger(front_, now_);
        return {};
      case StepKind::kKernel:
        issue_kernel(step.word, step.kernel);
        break;
      case StepKind::kDma:
        issue_dma(step.word, step.dma);
        break;
      case StepKind::kKernelWait:
        wait_for_kernels(step.parameter);
        break;
      case StepKind::kDmaWait:
        wait_for_dmas(step.parameter);
        break;
      case StepKind::kIrq:
        front_ += kInterruptCycles;
        break;
      case StepKind::kBranch:
      case StepKind::kPmu:
        break;
    }
  }
}

}  // namespace

const char* bound_name(Bound bound) {
  constexpr const char* kNames[] = {"multiply",  "output",        "issue",
                                    "SRAM port", "external port", "latency"};
  return kNames[static_cast<unsigned>(bound)];
}

Fault make_timeline(const TimelineJob& job, Timeline* timeline) {
  *timeline = {};
  return Clock(job, timeline).run();
}

}  // namespace thimble::ethos_u::sim
