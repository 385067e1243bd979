// SPDX-License-Identifier: Apache-2.0
// find_overlap_conflict(): reads only the calls and the final addresses, and shares no code with
// the passes that choose them.

#include <algorithm>

#include "abi/named_data.h"
#include "base/rounding.h"
#include "memory/delegate_overlap.h"

namespace thimble::memory {
namespace {

using ir::ValueId;

/// Bytes of the arena that a call accesses.
struct ByteRange {
  int64_t begin, end;
  std::string what;
};
struct Accesses {
  std::vector<ByteRange> reads, writes;
};

class Checker {
 public:
  Checker(const engine::Lowered& lowered, const MemoryPlan& memory_plan)
      : lowered_(lowered), memory_plan_(memory_plan) {}

  [[nodiscard]] std::optional<std::string> conflict_of(size_t step) const {
    const engine::KernelCall& call = calls()[step];
    if (call.overlap == 0) return std::nullopt;
    if (call.delegate < 0) return fmt::format("call {} is no delegate and has an overlap", step);
    if (call.overlap > UINT8_MAX) return fmt::format("the overlap of call {} has no 8 bits", step);
    const size_t last = step + static_cast<size_t>(call.overlap);
    if (last >= calls().size()) return fmt::format("the overlap of call {} has no end", step);
    const Accesses device = accesses_of(step);
    for (size_t other = step + 1; other <= last; ++other) {
      const engine::KernelCall& next = calls()[other];
      if (next.overlap != 0) return fmt::format("calls {} and {} both overlap", step, other);
      if (next.delegate >= 0 && engine_of(next) == engine_of(call)) {
        return fmt::format("calls {} and {} need the engine {}", step, other, engine_of(call));
      }
      const Accesses core = accesses_of(other);
      const Accesses lines = {cache_lines(device.reads), cache_lines(device.writes)};
      for (const auto& [ours, theirs] :
           {std::pair(&core.writes, &lines.writes), std::pair(&core.writes, &lines.reads),
            std::pair(&core.reads, &device.writes)}) {
        const std::optional<std::string> met = find_common(*ours, *theirs);
        if (met) return fmt::format("call {} while call {} works: {}", other, step, *met);
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] const std::vector<engine::KernelCall>& calls() const { return lowered_.calls; }
  [[nodiscard]] const std::string& engine_of(const engine::KernelCall& call) const {
    return lowered_.delegates[static_cast<size_t>(call.delegate)].engine;
  }

  /// Returns the cache lines of the ranges, of which the core may write no byte.
  static std::vector<ByteRange> cache_lines(std::vector<ByteRange> ranges) {
    constexpr int64_t kLine = abi::kCacheLine;
    for (ByteRange& range : ranges) {
      range.begin = range.begin / kLine * kLine;
      range.end = round_up(range.end, kLine);
    }
    return ranges;
  }

  static std::optional<std::string> find_common(const std::vector<ByteRange>& a,
                                                const std::vector<ByteRange>& b) {
    for (const ByteRange& x : a) {
      for (const ByteRange& y : b) {
        if (x.begin >= y.end || y.begin >= x.end) continue;
        return fmt::format("{} at {} to {}, {} at {} to {}", x.what, x.begin, x.end, y.what,
                           y.begin, y.end);
      }
    }
    return std::nullopt;
  }

  void add_value(ValueId value, std::vector<ByteRange>* to) const {
    const int range = memory_plan_.range_of_value[static_cast<size_t>(value)];
    if (range < 0) return;  // a constant, or an input in the application's memory
    const int64_t begin = memory_plan_.placement.offsets[static_cast<size_t>(range)];
    const auto bytes = static_cast<int64_t>(lowered_.graph.type(value).bytes());
    to->push_back({begin, begin + bytes, lowered_.graph.value(value).name});
  }

  void add_range(int range, int64_t bytes, const char* what, std::vector<ByteRange>* to) const {
    if (range < 0) return;
    const int64_t begin = memory_plan_.placement.offsets[static_cast<size_t>(range)];
    to->push_back({begin, begin + bytes, what});
  }

  [[nodiscard]] Accesses accesses_of(size_t step) const {
    const engine::KernelCall& call = calls()[step];
    Accesses accesses;
    engine::for_each_operand(call, [&](ValueId value) { add_value(value, &accesses.reads); });
    add_value(call.out, &accesses.writes);
    for (const ValueId more : call.extra_outputs) add_value(more, &accesses.writes);
    const int scratch = memory_plan_.scratch_of_call[step];
    if (call.delegate < 0) {
      add_range(scratch, engine::scratch_bytes(call), "scratch", &accesses.writes);
      return accesses;
    }
    const auto row = static_cast<size_t>(call.delegate);
    const engine::Delegate& delegate = lowered_.delegates[row];
    add_range(scratch, delegate.scratch_bytes, "scratch", &accesses.writes);
    add_range(memory_plan_.persistent_of_delegate[row], delegate.kept_bytes, "kept memory",
              &accesses.writes);
    return accesses;
  }

  const engine::Lowered& lowered_;
  const MemoryPlan& memory_plan_;
};

}  // namespace

std::optional<std::string> find_overlap_conflict(const engine::Lowered& lowered,
                                                 const MemoryPlan& memory_plan) {
  const Checker checker(lowered, memory_plan);
  for (size_t step = 0; step < lowered.calls.size(); ++step) {
    std::optional<std::string> conflict = checker.conflict_of(step);
    if (conflict) return conflict;
  }
  return std::nullopt;
}

}  // namespace thimble::memory
