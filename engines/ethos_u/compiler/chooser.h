#pragma once
// Blocks and cycles of the operations of one program, remembered.

#include <map>
#include <optional>
#include <tuple>

#include "engines/ethos_u/compiler/cost.h"
#include "engines/ethos_u/compiler/draft.h"
#include "engines/ethos_u/compiler/network.h"

namespace thimble::engine::ethos_u {

/// Where the tensors of an operation lie, as far as its cost is concerned.
struct OpMemories {
  Memory ifm = Memory::kSram, ifm2 = Memory::kSram, ofm = Memory::kSram;
  Memory weights = Memory::kExternal;
  auto operator<=>(const OpMemories&) const = default;
};

class Chooser {
 public:
  Chooser(const Network& network, const ScheduleOptions& options, Encoders* encoders);

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
  /// What tells estimates apart: the depth of blocks moves the length by less than they err.
  using Key = std::pair<int, WeightOptions>;
  [[nodiscard]] Key key_of(int op, const OpDraft& draft) const;
  /// What the weights of an operation can be beside the standard form (U85).
  struct Forms {
    bool sparse = false;
    int fast_rate = 0;  // weights a cycle, 0 if the fast format does not hold them
  };
  /// Takes the fast format if the decoder of the standard one is what the kernel waits for.
  void try_fast(int op, int64_t rows, const OpMemories& memories, OpDraft* draft);
  [[nodiscard]] OpShape part(int op, const OpDraft& draft, Span rows, int64_t channels) const;
  [[nodiscard]] int64_t rough_bytes(int op) const;

  const Network& network_;
  const ScheduleOptions& options_;
  Encoders& encoders_;
  std::vector<Forms> forms_;  // by operation
  std::map<std::tuple<int, int64_t, OpMemories, int64_t>, std::optional<OpDraft>> drafts_;
  std::map<Key, int64_t> bytes_;
};

}  // namespace thimble::engine::ethos_u
