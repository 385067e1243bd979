// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cache of block configurations and cycle counts of one program's operations.

#include <map>
#include <optional>
#include <tuple>

#include "engines/ethos_u/compiler/cost.h"
#include "engines/ethos_u/compiler/draft.h"
#include "engines/ethos_u/compiler/program_analysis.h"

namespace thimble::engine::ethos_u {

/// Memories of an operation's tensors, as far as they affect its cost.
struct OpMemories {
  Memory ifm = Memory::kSram, ifm2 = Memory::kSram, ofm = Memory::kSram;
  Memory weights = Memory::kExternal;
  auto operator<=>(const OpMemories&) const = default;
};

class BlockChooser {
 public:
  BlockChooser(const ProgramAnalysis& network, const ScheduleOptions& options, Encoders* encoders);

  /// Returns the block for `rows` of the OFM with a depth of at most `depth_limit`; null if no
  /// block is legal.
  [[nodiscard]] const OpDraft* draft(int op, int64_t rows, const OpMemories& memories,
                                     int64_t depth_limit = 1 << 20);
  /// Returns the cost of one kernel with that block for some rows and channels of the OFM,
  /// including the weights of these channels.
  [[nodiscard]] KernelCost cost(int op, const OpDraft& draft, IndexRange rows, int64_t channels,
                                const OpMemories& memories) const;
  [[nodiscard]] double cycles(int op, const OpDraft& draft, IndexRange rows, int64_t channels,
                              const OpMemories& memories) const {
    return cost(op, draft, rows, channels, memories).cycles();
  }
  /// Returns the estimated number of encoded bytes, scales included.
  [[nodiscard]] int64_t weight_bytes(int op, const OpDraft& draft);
  [[nodiscard]] const ProgramAnalysis& network() const { return network_; }
  [[nodiscard]] const System& system() const { return *options_.system; }
  [[nodiscard]] const Config& config() const { return *network_.program->config; }

 private:
  [[nodiscard]] OperandStorage storage(int op, const OpMemories& memories) const;
  /// Key of a size estimate. The block depth is excluded, because it changes the size by less than
  /// the error of the estimate.
  using Key = std::pair<int, WeightOptions>;
  [[nodiscard]] Key key_of(int op, const OpDraft& draft) const;
  /// Alternative weight formats of an operation (U85).
  struct WeightFormats {
    bool sparse = false;
    int fast_rate = 0;  // weights per cycle; 0 if the fast format cannot represent them
  };
  /// Selects the fast format if the decoder of the standard format limits the kernel.
  void try_fast(int op, int64_t rows, const OpMemories& memories, OpDraft* draft);
  [[nodiscard]] OpShape part(int op, const OpDraft& draft, IndexRange rows, int64_t channels) const;
  [[nodiscard]] int64_t rough_bytes(int op) const;

  const ProgramAnalysis& network_;
  const ScheduleOptions& options_;
  Encoders& encoders_;
  std::vector<WeightFormats> weight_formats_;  // indexed by operation
  std::map<std::tuple<int, int64_t, OpMemories, int64_t>, std::optional<OpDraft>> drafts_;
  std::map<Key, int64_t> bytes_;
};

}  // namespace thimble::engine::ethos_u
