#include "target/ethos_u/prefetch.h"

#include <algorithm>
#include <map>

namespace thimble::target::ethos_u {
namespace {

/// First and last kernel of each slice.
std::map<std::pair<int, int>, Span> uses_of(const std::vector<Step>& steps) {
  std::map<std::pair<int, int>, Span> uses;
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const auto [use, added] = uses.try_emplace({steps[i].op, steps[i].slice}, Span{at, at});
    use->second.end = at;
  }
  return uses;
}

struct Issue {
  int64_t after;  // the kernel that it is issued behind; -1: before all
  Copying copy;
  bool late;
};

}  // namespace

int insert_copies(Kernels kernels, const std::vector<Copying>& copies, std::vector<Step>* steps) {
  const auto uses = uses_of(kernels.steps);
  std::vector<double> start(kernels.steps.size() + 1, 0);
  for (size_t i = 0; i < kernels.steps.size(); ++i) start[i + 1] = start[i] + kernels.cycles[i];
  std::vector<Copying> order = copies;
  std::stable_sort(order.begin(), order.end(), [&](const Copying& a, const Copying& b) {
    return uses.at({a.op, a.slice}).begin < uses.at({b.op, b.slice}).begin;
  });
  std::vector<Issue> issues;
  double next = start.back();
  int64_t next_after = static_cast<int64_t>(kernels.steps.size());
  for (auto copy = order.rbegin(); copy != order.rend(); ++copy) {
    const Span use = uses.at({copy->op, copy->slice});
    const double end = std::min(start[static_cast<size_t>(use.begin)], next);
    const double begin = end - copy->cycles * 1.05;
    next = begin;
    // The kernel that runs then; its memory cannot be the buffer's.
    const auto running = std::upper_bound(start.begin(), start.end() - 1, begin) - start.begin() - 1;
    int64_t after = std::min<int64_t>({running, use.begin - 1, next_after});
    int64_t low = use.end;
    while (low >= 0 && low >= after && kernels.room[static_cast<size_t>(low)] >= copy->bytes) --low;
    const int64_t first_free = low + 1;  // kernels from here on leave room
    if (first_free > use.begin) return copy->op;
    const bool late = first_free == use.begin && use.begin > 0;
    after = late ? use.begin - 1 : std::max(after, first_free);
    after = std::min(after, use.begin - 1);
    const int64_t from = late ? use.begin : std::max<int64_t>(0, after);
    for (int64_t i = from; i <= use.end; ++i) kernels.room[static_cast<size_t>(i)] -= copy->bytes;
    next_after = std::min(next_after, after);
    issues.push_back({after, *copy, late});
  }
  std::reverse(issues.begin(), issues.end());
  // Copies stay in the order of their use.
  int64_t after = -1;
  for (Issue& issue : issues) after = issue.after = std::max(after, issue.after);
  steps->clear();
  size_t at = 0;
  for (int64_t i = -1; i < static_cast<int64_t>(kernels.steps.size()); ++i) {
    if (i >= 0) steps->push_back(kernels.steps[static_cast<size_t>(i)]);
    for (; at < issues.size() && issues[at].after == i; ++at) {
      Step step;
      step.kind = Step::Kind::kWeightDma;
      step.op = issues[at].copy.op;
      step.slice = issues[at].copy.slice;
      step.late = issues[at].late;
      steps->push_back(step);
    }
  }
  return -1;
}

double timeline(const Config& config, const std::vector<Step>& steps,
                const std::vector<double>& cycles) {
  const size_t limit = config.generation == Generation::kU55   ? 1
                       : config.generation == Generation::kU65 ? 2
                                                               : 4;
  std::map<std::pair<int, int>, double> ready;
  std::vector<double> kernel_ends, dma_ends;
  double issue = 0;
  const auto last = [](const std::vector<double>& ends, size_t back) {
    return ends.size() >= back ? ends[ends.size() - back] : 0;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const std::pair<int, int> slice{step.op, step.slice};
    if (step.kind == Step::Kind::kKernel) {
      const auto at = ready.find(slice);
      issue = std::max({issue, last(kernel_ends, 2), at == ready.end() ? 0 : at->second});
      kernel_ends.push_back(std::max(issue, last(kernel_ends, 1)) + cycles[i]);
      continue;
    }
    if (step.late || step.kind == Step::Kind::kOpDma) {
      issue = std::max(issue, last(kernel_ends, 1));
    }
    issue = std::max(issue, last(dma_ends, limit));
    dma_ends.push_back(std::max(issue, last(dma_ends, 1)) + cycles[i]);
    ready[slice] = dma_ends.back();
    if (step.kind == Step::Kind::kOpDma) issue = dma_ends.back();
  }
  return std::max(last(kernel_ends, 1), last(dma_ends, 1));
}

std::vector<int64_t> live_bytes(const Network& network, const Draft& draft,
                                const std::vector<bool>& counted) {
  const size_t count = draft.steps.size();
  std::vector<Span> lives(network.tensors.size(), Span{static_cast<int64_t>(count), -1});
  const auto root = [&](int tensor) {
    while (draft.tensors[static_cast<size_t>(tensor)].same_place >= 0) {
      tensor = draft.tensors[static_cast<size_t>(tensor)].same_place;
    }
    return static_cast<size_t>(tensor);
  };
  const auto use = [&](int tensor, int64_t at) {
    Span& life = lives[root(tensor)];
    life.begin = std::min(life.begin, at);
    life.end = std::max(life.end, at);
  };
  for (size_t i = 0; i < count; ++i) {
    const NpuOp& op = network.op(draft.steps[i].op);
    const auto at = static_cast<int64_t>(i);
    use(op.ifm.tensor, at);
    use(op.ofm.tensor, at);
    if (op.ifm2) use(op.ifm2->tensor, at);
  }
  for (const int tensor : network.program->inputs) use(tensor, 0);
  for (const int tensor : network.program->outputs) use(tensor, static_cast<int64_t>(count) - 1);
  std::vector<int64_t> bytes(count, 0);
  for (size_t t = 0; t < lives.size(); ++t) {
    if (!counted[t]) continue;
    const int64_t size = network.ring_bytes(static_cast<int>(t), draft.tensors[t].rows);
    for (int64_t i = lives[t].begin; i <= lives[t].end; ++i) bytes[static_cast<size_t>(i)] += size;
  }
  return bytes;
}

}  // namespace thimble::target::ethos_u
