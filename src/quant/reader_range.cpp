// SPDX-License-Identifier: Apache-2.0
#include "quant/reader_range.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "passes/uses.h"
#include "quant/range.h"
#include "quant/table.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr double kClipping = 4;
constexpr double kFlat = 0.01;

/// Adds the indices of the operators of a table, from its source to its result.
void add_table_ops(const Graph& graph, const std::vector<int>& producers, const OpPlan& table,
                   std::set<int>& ops) {
  std::vector<ValueId> open = {table.result};
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    const int producer = producers[ir::index_of(id)];
    if (id == table.table_source || producer < 0 || !ops.insert(producer).second) continue;
    for (const ValueId input : graph.ops()[static_cast<size_t>(producer)].inputs) {
      if (input != ir::kNoValue) open.push_back(input);
    }
  }
}

/// The tables of one value, if they are its only readers.
struct TableReaders {
  ValueId source = ir::kNoValue;
  std::vector<ValueId> results;
};

std::vector<TableReaders> table_readers(const Graph& graph, const Plan& plan) {
  std::vector<TableReaders> by_value(graph.value_count());
  std::vector<std::set<int>> covered(graph.value_count());
  const std::vector<int> producers = graph.producers();
  for (const OpPlan& op : plan.ops) {
    if (op.role != Role::kTable) continue;
    TableReaders& readers = by_value[ir::index_of(op.table_source)];
    readers.source = op.table_source;
    readers.results.push_back(op.result);
    add_table_ops(graph, producers, op, covered[ir::index_of(op.table_source)]);
  }
  const passes::Uses uses(graph);
  std::erase_if(by_value, [&](const TableReaders& readers) {
    if (readers.source == ir::kNoValue || uses.is_output(readers.source)) return true;
    const std::set<int>& inside = covered[ir::index_of(readers.source)];
    return !std::ranges::all_of(uses.readers(readers.source),
                                [&](int op) { return inside.contains(op); });
  });
  return by_value;
}

/// Elements of a value by magnitude, with the results of one function.
struct Bin {
  double x = 0, n = 0;
  double f = 0;
  double change = 0;  // |f(x + step / 2) - f(x - step / 2)| for the step of the whole range
};

/// The functions of all tables of one value on its elements.
class TableError {
 public:
  TableError(const Graph& graph, const Plan& plan, const TableReaders& readers,
             const Histogram& histogram, const Range& whole)
      : whole_(whole) {
    for (const ValueId result : readers.results) {
      add(ElementFunction(graph, plan.pins, readers.source, result), histogram);
    }
  }

  /// Returns the squared error of the results, relative to the squared range of each.
  [[nodiscard]] double operator()(const Range& range) const {
    const double finer = (range.high - range.low) / (whole_.high - whole_.low);
    double sum = 0;
    for (const Function& function : functions_) {
      const double low = function.value(range.low), high = function.value(range.high);
      double error = 0;
      for (const Bin& bin : function.bins) {
        const double clipped = bin.x < range.low ? bin.f - low : bin.f - high;
        const double inside = finer * bin.change;
        error += bin.n * (bin.x < range.low || bin.x > range.high ? kClipping * clipped * clipped
                                                                  : inside * inside / 12);
      }
      sum += error / (function.width * function.width);
    }
    return sum;
  }

  /// Returns true if every function is almost constant beyond both ends.
  [[nodiscard]] bool is_flat_beyond(const Range& range) const {
    return std::ranges::all_of(functions_, [&](const Function& function) {
      const double low = function.value(range.low), high = function.value(range.high);
      const auto is_near = [&](double x, double f) {
        const double end = x < range.low ? low : high;
        return (x >= range.low && x <= range.high) || std::abs(f - end) <= kFlat * function.width;
      };
      return is_near(whole_.low, function.value(whole_.low)) &&
             is_near(whole_.high, function.value(whole_.high)) &&
             std::ranges::all_of(function.bins,
                                 [&](const Bin& bin) { return is_near(bin.x, bin.f); });
    });
  }

 private:
  struct Function {
    ElementFunction value;
    std::vector<Bin> bins;
    double width = 0;  // of the results' range
  };

  void add(ElementFunction function, const Histogram& histogram) {
    constexpr size_t kJoined = 16;  // bins of the histogram: less than one quantization step
    const double half = (whole_.high - whole_.low) / 255 / 2;
    Function added{std::move(function), {}, 0};
    double least = added.value(0), most = least;
    const auto counts = histogram.counts();
    for (size_t i = 0; i < counts.size(); i += kJoined) {
      Bin bin;
      for (size_t k = 0; k < kJoined; ++k) bin.n += static_cast<double>(counts[i + k]);
      if (bin.n == 0) continue;
      const double middle = static_cast<double>(i) + kJoined / 2.0 - Histogram::kBinsPerSide;
      bin.x = std::clamp(middle * histogram.bin_width(), whole_.low, whole_.high);
      bin.f = added.value(bin.x);
      bin.change = std::abs(added.value(bin.x + half) - added.value(bin.x - half));
      if (!std::isfinite(bin.f) || !std::isfinite(bin.change)) return;
      least = std::min(least, bin.f);
      most = std::max(most, bin.f);
      added.bins.push_back(bin);
    }
    added.width = most - least;
    if (added.width > 0) functions_.push_back(std::move(added));
  }

  const Range whole_;
  std::vector<Function> functions_;
};

/// Returns the range with the least error among those that are flat beyond their ends.
Range shortened(const TableError& error, const Range& whole) {
  constexpr int kParts = 64;
  Range best = whole;
  double best_error = error(best);
  const auto attempt = [&](const Range& range) {
    if (!error.is_flat_beyond(range)) return false;
    const double tried = error(range);
    if (tried < best_error) {
      best_error = tried;
      best = range;
    }
    return true;
  };
  for (int i = 1; i <= kParts && whole.low < 0; ++i) {
    if (!attempt({whole.low * (kParts - i) / kParts, best.high})) break;
  }
  const double low = best.low;
  for (int i = 1; i <= kParts && whole.high > 0; ++i) {
    if (!attempt({low, whole.high * (kParts - i) / kParts})) break;
  }
  return best;
}

/// Returns true if the only readers are softmaxes whose results are outputs.
bool only_last_softmax_reads(const Graph& graph, const Plan& plan, const passes::Uses& uses,
                             ValueId id) {
  if (uses.is_output(id) || uses.readers(id).empty()) return false;
  return std::ranges::all_of(uses.readers(id), [&](int reader) {
    const auto i = static_cast<size_t>(reader);
    const Op& op = graph.ops()[i];
    return op.kind == OpKind::softmax && plan.ops[i].role == Role::kLower &&
           uses.is_output(op.output) && uses.readers(op.output).empty();
  });
}

}  // namespace

std::vector<ValueId> read_by_tables(const Graph& graph, const Plan& plan) {
  std::vector<ValueId> result;
  for (const TableReaders& readers : table_readers(graph, plan)) result.push_back(readers.source);
  return result;
}

void restrict_to_readers(const Graph& graph, const Plan& plan, std::vector<Histogram>& histograms) {
  for (const TableReaders& readers : table_readers(graph, plan)) {
    Histogram& histogram = histograms[ir::index_of(readers.source)];
    if (histogram.counts().empty() || histogram.masked()) continue;
    const Range whole = choose_range(histogram, Observer::kExtrapolate);
    const TableError error(graph, plan, readers, histogram, whole);
    const Range shorter = shortened(error, whole);
    histogram.restrict(shorter.low, shorter.high);
  }
  const passes::Uses uses(graph);
  for (size_t i = 0; i < histograms.size(); ++i) {
    if (histograms[i].elements() == 0) continue;
    if (only_last_softmax_reads(graph, plan, uses, static_cast<ValueId>(i))) {
      histograms[i].restrict(histograms[i].min(), histograms[i].max());
    }
  }
}

}  // namespace thimble::quant
