#pragma once
// Blocks and cycles of the operations of one program, remembered.

#include <map>
#include <optional>
#include <tuple>

#include "target/ethos_u/cost.h"
#include "target/ethos_u/draft.h"
#include "target/ethos_u/network.h"

namespace thimble::target::ethos_u {

/// Where the tensors of an operation lie, as far as its cost is concerned.
struct OpMemories {
  Memory ifm = Memory::kSram, ifm2 = Memory::kSram, ofm = Memory::kSram;
  Memory weights = Memory::kExternal;
  auto operator<=>(const OpMemories&) const = default;
};

class Chooser {
 public:
  Chooser(const Network& network, const ScheduleOptions& options, Encoders* encoders)
      : network_(network), options_(options), encoders_(*encoders) {}

  /// The block for `rows` of the OFM, not deeper than `depth_limit`; null if none is legal.
  [[nodiscard]] const OpDraft* draft(int op, int64_t rows, const OpMemories& memories,
                                     int64_t depth_limit = 1 << 20);
  /// Cycles of one kernel with that block: rows and channels of the OFM, and the bytes of the
  /// weights that go with them.
  [[nodiscard]] KernelCost cost(int op, const OpDraft& draft, Span rows, int64_t channels,
                                const OpMemories& memories) const;
  [[nodiscard]] double cycles(int op, const OpDraft& draft, Span rows, int64_t channels,
                              const OpMemories& memories) const {
    return cost(op, draft, rows, channels, memories).cycles();
  }
  /// Encoded bytes, estimated; scales included.
  [[nodiscard]] int64_t weight_bytes(int op, const OpDraft& draft);
  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] const System& system() const { return *options_.system; }
  [[nodiscard]] const Config& config() const { return *network_.program->config; }

 private:
  [[nodiscard]] Placement placement(int op, const OpMemories& memories) const;
  [[nodiscard]] OpShape part(int op, Span rows, int64_t channels) const;
  [[nodiscard]] int64_t rough_bytes(int op) const;

  const Network& network_;
  const ScheduleOptions& options_;
  Encoders& encoders_;
  std::map<std::tuple<int, int64_t, OpMemories, int64_t>, std::optional<OpDraft>> drafts_;
  std::map<std::pair<int, WeightOptions>, int64_t> bytes_;
};

}  // namespace thimble::target::ethos_u
