// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/point_finder.h"

#include <algorithm>
#include <limits>

#include "base/rounding.h"
#include "engines/ethos_u/compiler/place.h"

namespace thimble::engine::ethos_u {
namespace {

constexpr double kFineStep = 1.02;          // between neighboring budgets of fine()
constexpr double kFineStepOfScratch = 1.1;  // the same in fast scratch: more searches
constexpr double kFineGain = 1.002;    // a smaller gain between two budgets is not divided further
constexpr double kWeightGain = 1.15;   // of memory for weights, to be added to the feature maps
constexpr double kScratchGain = 1.02;  // the same in fast scratch
constexpr int64_t kWeightsOfScratch = 8;  // divisor: part of fast scratch added for weights
constexpr int64_t kLeastScratch = 2560;   // if there are as many bytes of tensors and weights

bool is_as_good(const Point& a, const Point& b) {
  return a.bytes <= b.bytes && a.found.cycles <= b.found.cycles && a.found.score <= b.found.score;
}

/// Adds a point unless another one is as good, and removes those for which it is as good.
void add_point(Point point, std::vector<Point>* points) {
  for (const Point& other : *points) {
    if (is_as_good(other, point)) return;
  }
  std::erase_if(*points, [&](const Point& other) { return is_as_good(point, other); });
  const auto at =
      std::upper_bound(points->begin(), points->end(), point,
                       [](const Point& a, const Point& b) { return a.bytes < b.bytes; });
  points->insert(at, std::move(point));
}

}  // namespace

PointFinder::PointFinder(const NpuProgram& program, const ScheduleOptions& options,
                         Encoders* encoders)
    : program_(program),
      options_(options),
      network_(analyse(program)),
      chooser_(network_, options_, encoders),
      pieces_(network_, options_, &chooser_) {}

Status PointFinder::check() {
  for (int i = 0; i < network_.op_count(); ++i) {
    const NpuOp& op = network_.op(i);
    if (op.kind == NpuOpKind::kDma) continue;
    if (chooser_.draft(i, op.ofm.shape.h, OpMemories{}) == nullptr) {
      return unsupported("no block of operation {} fits {}", i, program_.config->name);
    }
  }
  return ok();
}

const std::vector<Point>& PointFinder::coarse() {
  if (!coarse_.empty()) return coarse_;
  for (const int64_t budget : budgets()) {
    for (Point& point : at_budget(budget)) add_point(std::move(point), &coarse_);
  }
  return coarse_;
}

const std::vector<Point>& PointFinder::fine() {
  if (!fine_.empty()) return fine_;
  fine_ = coarse();
  const std::vector<int64_t> budgets = this->budgets();
  for (size_t i = 1; i < budgets.size(); ++i) divide(budgets[i - 1], budgets[i], &fine_);
  return fine_;
}

std::vector<Point> PointFinder::at_budget(int64_t budget) {
  std::vector<Point> points;
  for (const Search* search : searches(budget)) {
    std::optional<Point> point = plan(*search, budget);
    if (point) points.push_back(std::move(*point));
  }
  return points;
}

int64_t PointFinder::feature_map_memory() {
  const int64_t memory = options_.memory_bytes.value_or(kUnlimited);
  const int64_t tensors = std::max<int64_t>(tensor_bytes(), 64);
  if (tensors > memory) return memory;
  const Search& search = *searches(kUnlimited).front();
  if (dedicated()) {
    const int64_t few = std::max(tensors, std::min(all_weights() + tensors, kLeastScratch));
    const int64_t some = std::min(tensors / kWeightsOfScratch, kLeastScratch);
    const int64_t more = std::max(few, search.with_weights(some, 0));
    return with_gain(few, more, kScratchGain);
  }
  return with_gain(tensors, std::max(tensors, search.with_weights(0, 1)), kWeightGain);
}

/// Returns `more` bytes, within the available memory, if they save cycles by at least the factor
/// `gain` compared with `few` bytes; else `few`.
int64_t PointFinder::with_gain(int64_t few, int64_t more, double gain) {
  const int64_t memory = options_.memory_bytes.value_or(kUnlimited);
  few = std::min(memory, round_up(few, 16));
  more = std::min(memory, round_up(more, 16));
  return least_cycles(more) * gain < least_cycles(few) ? more : few;
}

int64_t PointFinder::tensor_bytes() {
  const auto found = searches(kUnlimited).front()->solve(kUnlimited);
  if (!found) return kUnlimited;
  Draft draft = found->draft;
  std::erase_if(draft.steps, [](const Step& step) { return step.kind == Step::Kind::kWeightDma; });
  (void)place_tensors(network_, options_.mode, kUnlimited, &draft);
  return draft.budgeted(options_.mode);
}

/// Returns the encoded weights of all operations in bytes.
int64_t PointFinder::all_weights() {
  int64_t bytes = 0;
  for (int i = 0; i < network_.op_count(); ++i) {
    const NpuOp& op = network_.op(i);
    if (op.kind == NpuOpKind::kDma) continue;
    bytes += chooser_.weight_bytes(i, *chooser_.draft(i, op.ofm.shape.h, OpMemories{}));
  }
  return bytes;
}

std::optional<Point> PointFinder::plan(const Search& search, int64_t budget) const {
  int64_t aim = budget;
  for (int attempt = 0; attempt < 4 && aim >= 0; ++attempt) {
    auto found = search.solve(aim);
    if (!found) break;
    const int64_t bytes = found->draft.budgeted(options_.mode);
    if (bytes <= budget) return Point{std::move(*found), &search, bytes};
    aim -= std::max<int64_t>(bytes - budget, budget / 100 + 16);
  }
  return std::nullopt;
}

double PointFinder::least_cycles(int64_t budget) {
  double least = std::numeric_limits<double>::infinity();
  for (const Point& point : coarse()) {
    if (point.bytes <= budget) least = std::min(least, point.found.cycles);
  }
  for (const Point& point : at_budget(budget)) least = std::min(least, point.found.cycles);
  return least;
}

/// Adds schedules for budgets between `low` and `high`, until their distance is kFineStep or more
/// memory gains nothing.
void PointFinder::divide(int64_t low, int64_t high, std::vector<Point>* points) {
  const int64_t middle = (low + high) / 32 * 16;
  if (middle <= low || middle >= high) return;
  const double step = dedicated() ? kFineStepOfScratch : kFineStep;
  if (static_cast<double>(high) < step * static_cast<double>(low)) return;
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  double less_score = kInfinite, more_score = kInfinite, less_cycles = kInfinite,
         more_cycles = kInfinite;
  for (const Point& point : *points) {
    if (point.bytes <= low) {
      less_score = std::min(less_score, point.found.score);
      less_cycles = std::min(less_cycles, point.found.cycles);
    }
    if (point.bytes <= high) {
      more_score = std::min(more_score, point.found.score);
      more_cycles = std::min(more_cycles, point.found.cycles);
    }
  }
  if (more_score == kInfinite) return;
  if (less_score < kFineGain * more_score && less_cycles < kFineGain * more_cycles) return;
  for (Point& point : at_budget(middle)) add_point(std::move(point), points);
  divide(low, middle, points);
  divide(middle, high, points);
}

/// Returns the searches to try for a budget.
std::vector<const Search*> PointFinder::searches(int64_t budget) {
  std::vector<const Search*> result;
  const auto add = [&](const std::vector<bool>& counted, bool cascades) {
    const Search*& known = searches_[{counted, cascades}];
    if (known == nullptr) known = add_search(counted, cascades);
    if (std::ranges::find(result, known) == result.end()) result.push_back(known);
  };
  if (!dedicated()) {
    add(every_tensor(), false);
    if (budget < result.front()->whole()) add(every_tensor(), true);
    return result;
  }
  // Tries all copies of inputs and no copies. The cycles that a copy saves occur in other
  // operations, so a single search cannot decide this.
  for (const int64_t limit : {budget, budget / 2, int64_t{0}}) {
    const std::vector<bool> fast = fast_tensors(limit);
    for (const bool cascades : {false, true}) add(fast, cascades);
    const std::vector<bool> bare = without_copies(fast);
    for (const bool cascades : {false, true}) add(bare, cascades);
  }
  return result;
}

std::vector<bool> PointFinder::without_copies(std::vector<bool> fast) const {
  for (const NpuOp& op : program_.ops) {
    if (op.stages_input) fast[static_cast<size_t>(op.ofm.tensor)] = false;
  }
  return fast;
}

const Search* PointFinder::add_search(const std::vector<bool>& counted, bool cascades) {
  owned_.push_back(
      std::make_unique<Search>(network_, options_, &chooser_, &pieces_, counted, cascades));
  return owned_.back().get();
}

std::vector<bool> PointFinder::every_tensor() const {
  std::vector<bool> counted;
  for (const NpuTensor& tensor : program_.tensors) {
    counted.push_back(tensor.role != TensorRole::kConstant);
  }
  return counted;
}

/// Returns the budgets to try, in ascending order.
std::vector<int64_t> PointFinder::budgets() {
  // Fast scratch can have any size, and each budget needs several searches, so the steps are
  // larger, in particular those that are smaller than the fast scratch of every known system.
  constexpr double kSmallScratch = 16384, kSmallStep = 1.5;
  const double first = dedicated() ? 1.2 : 1.02, growth = 1.03;
  const int64_t least = searches(0).back()->smallest();
  // Budgets do not exceed the available memory.
  const int64_t most = std::min(options_.memory_bytes.value_or(kUnlimited),
                                searches(kUnlimited).front()->whole() + all_weights() + 4096);
  std::vector<int64_t> all;
  if (dedicated()) all.push_back(round_up(least, 16));
  double step = first;
  for (auto at = static_cast<double>(std::max<int64_t>(least, 64));
       at < static_cast<double>(most);) {
    all.push_back(round_up(static_cast<int64_t>(at), 16));
    if (dedicated() && at < kSmallScratch) {
      at *= kSmallStep;
    } else {
      at *= step;
      step = std::min(1.25, step * growth);
    }
  }
  if (dedicated()) all.push_back(most / 16 * 16 - most / 640 * 16);
  all.push_back(most);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Dedicated_Sram: selects the tensors with the most accesses per operation of their lifetime, as
/// many as `limit` bytes hold at any time.
std::vector<bool> PointFinder::fast_tensors(int64_t limit) const {
  std::vector<std::pair<double, size_t>> order;
  for (size_t t = 0; t < network_.tensors.size(); ++t) {
    const TensorUse& use = network_.tensors[t];
    if (program_.tensors[t].role != TensorRole::kIntermediate || use.life.is_empty()) continue;
    const auto uses = static_cast<double>(use.readers.size() + use.writers.size());
    order.emplace_back(-uses / use.life.steps(), t);
  }
  std::stable_sort(order.begin(), order.end());
  std::vector<int64_t> held(static_cast<size_t>(network_.op_count()) + 1, 0);
  std::vector<bool> fast(network_.tensors.size(), false);
  for (const auto& [score, t] : order) {
    const TensorUse& use = network_.tensors[t];
    bool fits = true;
    for (int i = use.life.first; i <= use.life.last; ++i) {
      fits = fits && held[static_cast<size_t>(i)] + use.bytes <= limit;
    }
    if (!fits) continue;
    fast[t] = true;
    for (int i = use.life.first; i <= use.life.last; ++i) held[static_cast<size_t>(i)] += use.bytes;
  }
  return fast;
}

}  // namespace thimble::engine::ethos_u
