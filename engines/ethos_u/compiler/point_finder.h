// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds schedules of one program for many budgets of SRAM. They have addresses, but the sizes of
// their weights and their cycles are estimates; schedule.h compares them exactly.

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engines/ethos_u/compiler/search.h"

namespace thimble::engine::ethos_u {

inline constexpr int64_t kUnlimited = int64_t{1} << 40;

/// A schedule with addresses, based on estimated weight sizes.
struct Point {
  Search::Found found;
  const Search* search = nullptr;
  int64_t bytes = 0;  // that count against the budget
};

class PointFinder {
 public:
  PointFinder(const NpuProgram& program, const ScheduleOptions& options, Encoders* encoders);

  /// Returns an error if an operation has no legal block.
  [[nodiscard]] Status check();

  /// Returns the schedules of budgets that increase by up to a quarter, in order of their bytes.
  /// For each one, no other has fewer bytes and at most its cycles and score.
  const std::vector<Point>& coarse();
  /// Returns the same with the schedules of budgets between, where more memory saves cycles.
  const std::vector<Point>& fine();
  /// Returns the schedules of all searches for one budget.
  [[nodiscard]] std::vector<Point> at_budget(int64_t budget);

  /// Returns the bytes that whole feature maps need without cascades. Memory for weights is added
  /// if that reduces the cost substantially: for those of an operation that would read them more
  /// than once, and those of the operation after it. In fast scratch up to 2,560 bytes, at most an
  /// eighth of the feature maps, are always added, because they hide the latency of the DRAM.
  [[nodiscard]] int64_t feature_map_memory();

 private:
  [[nodiscard]] int64_t tensor_bytes();
  [[nodiscard]] int64_t all_weights();
  [[nodiscard]] std::optional<Point> plan(const Search& search, int64_t budget) const;
  [[nodiscard]] int64_t with_gain(int64_t few, int64_t more, double gain);
  /// Returns the fewest cycles within a budget; infinite if nothing fits.
  [[nodiscard]] double least_cycles(int64_t budget);
  void divide(int64_t low, int64_t high, std::vector<Point>* points);
  [[nodiscard]] std::vector<const Search*> searches(int64_t budget);
  [[nodiscard]] std::vector<bool> without_copies(std::vector<bool> fast) const;
  const Search* add_search(const std::vector<bool>& counted, bool cascades);
  [[nodiscard]] std::vector<bool> every_tensor() const;
  [[nodiscard]] std::vector<int64_t> budgets();
  [[nodiscard]] std::vector<bool> fast_tensors(int64_t limit) const;
  [[nodiscard]] bool dedicated() const { return options_.mode == MemoryMode::kDedicatedSram; }

  const NpuProgram& program_;
  ScheduleOptions options_;
  ProgramAnalysis network_;
  BlockChooser chooser_;
  PieceCosts pieces_;
  std::vector<std::unique_ptr<Search>> owned_;
  std::map<std::pair<std::vector<bool>, bool>, const Search*> searches_;
  std::vector<Point> coarse_, fine_;
};

}  // namespace thimble::engine::ethos_u
