#pragma once
// What pieces of a program cost, remembered: the searches of one program differ in where tensors
// lie, so most of what one has worked out holds for the next.

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "engines/ethos_u/compiler/chooser.h"
#include "engines/ethos_u/compiler/stripes.h"

namespace thimble::engine::ethos_u {

/// One operation of a piece: its kernels' cycles with weights in the SRAM, or where they lie.
struct PartCost {
  const OpDraft* near = nullptr;
  const OpDraft* far = nullptr;
  double near_cycles = 0, far_cycles = 0;
  int64_t weight_bytes = 0;  // of near
};

class Pieces {
 public:
  Pieces(const Network& network, const ScheduleOptions& options, Chooser* chooser)
      : network_(network), options_(options), chooser_(*chooser) {}

  /// Operations [first, end) in one go: whole, or a cascade by stripes.
  class Piece {
   public:
    /// Null if it is a single operation as a whole.
    [[nodiscard]] const Stripes* stripes() const { return stripes_ ? &*stripes_ : nullptr; }

   private:
    friend class Pieces;
    /// Kernels of one operation that make as many rows: how many, and the last of them.
    struct Kernels {
      int64_t count = 0;
      Span rows{0, 0};
    };
    struct Part {
      std::vector<Kernels> kernels;
      int64_t most = 0;                                 // the rows that most kernels make
      std::array<std::optional<PartCost>, 8> by_place;  // where IFM, second IFM and OFM lie
    };
    std::optional<Stripes> stripes_;
    std::vector<Part> parts_;
  };

  /// `stripe` 0: the single operation `first`. Null if the operations cannot go by such stripes.
  [[nodiscard]] Piece* find(int first, int end, int64_t stripe);
  /// Of an operation of the piece that is no copy. No blocks (`near` null): none is legal.
  [[nodiscard]] const PartCost& cost(Piece* piece, int first, int op, OpMemories where);
  /// What a kernel's use of the external memory counts beside its cycles.
  [[nodiscard]] double traffic(const KernelCost& cost) const;

 private:
  void count_kernels(Piece* piece, int first, int end) const;
  [[nodiscard]] PartCost work_out(const Piece::Part& part, int op, OpMemories where);

  const Network& network_;
  const ScheduleOptions& options_;
  Chooser& chooser_;
  std::map<std::tuple<int, int, int64_t>, std::optional<Piece>> pieces_;
};

/// Cycles of writing a kernel's registers and starting it.
inline constexpr double kKernelStart = 60;

}  // namespace thimble::engine::ethos_u
