// SPDX-License-Identifier: Apache-2.0
#include "memory/row_tiling.h"

#include <algorithm>
#include <map>
#include <set>

#include "memory/row_schedule.h"

namespace thimble::memory {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr int64_t kHeight = 2;  // the tiled dimension

bool can_tile_window(OpKind kind) {
  return kind == OpKind::qconv2d || kind == OpKind::max_pool2d || kind == OpKind::qavg_pool2d;
}

bool can_tile_elementwise(OpKind kind) {
  return kind == OpKind::lut || ir::category_of(kind) == ir::OpCategory::kPair;
}

/// Vertical extent, stride and padding of a window operator.
struct Window {
  int64_t extent = 1, stride = 1, pad = 0;
};

Window window_of(const ir::Graph& graph, const Op& op) {
  if (!can_tile_window(op.kind)) return {};
  const bool conv = op.kind == OpKind::qconv2d;
  const int64_t kernel =
      conv ? graph.type(op.inputs[1]).shape[kHeight] : op.get(ir::attr::kernel)[0];
  const int64_t dilation = op.kind == OpKind::qavg_pool2d ? 1 : op.get(ir::attr::dilation)[0];
  return {(kernel - 1) * dilation + 1, op.get(ir::attr::stride)[0], op.get(ir::attr::padding)[0]};
}

/// Returns the indices of the operands that are tiled by rows: the first operand of a window
/// operator or table lookup, the non-constant operands of other elementwise operators.
std::vector<size_t> images_of(const ir::Graph& graph, const Op& op) {
  if (can_tile_window(op.kind) || op.kind == OpKind::lut) return {0};
  std::vector<size_t> images;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (!graph.value(op.inputs[i]).constant) images.push_back(i);
  }
  return images;
}

/// The rows read from each image operand, clipped to the image.
struct OperandRows {
  IndexRange rows;
  int64_t pad_top = 0, pad_bottom = 0;
  bool is_valid = false;  // false: a window has no row inside the image
};

/// The part of one operator that is computed for one tile. Row ranges are half-open.
struct TileStep {
  size_t op = 0;
  IndexRange made;  // result rows to compute; may be empty
  IndexRange kept;  // result rows kept from the previous tile, stored in front of the new rows
  OperandRows reads;
};

/// The schedule of one tiled sequence of operators: one TileStep per operator and tile.
class TileSchedule {
 public:
  TileSchedule(const ir::Graph& graph, const RowTiling& tiling) : graph_(graph), tiling_(tiling) {}

  /// Returns false if these operators cannot be tiled by rows.
  bool plan() {
    if (!fits()) return false;
    std::vector<RowResult> results;
    for (size_t i = first(); i <= last(); ++i) results.push_back({height_of(op(i).output), false});
    if (tiling_.rows >= results.back().rows) return false;
    std::vector<int64_t> first_rows(results.size(), 0);  // by operator: the first row in memory
    const auto reads = [&](int index, const IndexRange& made, const auto& read) {
      const Op& reader = op(first() + static_cast<size_t>(index));
      for (const size_t k : images_of(graph_, reader)) {
        const auto producer = producers_.find(reader.inputs[k]);
        if (producer != producers_.end()) read(producer->second, reads_of(reader, made).rows);
      }
    };
    for (const std::vector<RowStep>& tile : row_schedule(results, tiling_.rows, reads)) {
      std::vector<TileStep>& steps = tiles_.emplace_back();
      for (const RowStep& step : tile) {
        int64_t& first_held = first_rows[static_cast<size_t>(step.op)];
        if (step.needed.begin < first_held) return false;
        const bool is_last = step.op + 1 == static_cast<int>(results.size());
        if (!is_last && step.needed.begin > step.made.begin) return false;
        first_held = is_last ? step.made.begin : step.needed.begin;
        const size_t index = first() + static_cast<size_t>(step.op);
        const IndexRange kept = {step.needed.begin, step.made.begin};
        steps.push_back({index, step.made, kept, {}});
        if (step.made.size() == 0) continue;
        steps.back().reads = reads_of(op(index), step.made);
        if (!steps.back().reads.is_valid) return false;
      }
    }
    return true;
  }
  /// One list per tile, each in execution order.
  [[nodiscard]] const std::vector<std::vector<TileStep>>& tiles() const { return tiles_; }
  [[nodiscard]] const Op& op(size_t index) const { return graph_.ops()[index]; }
  [[nodiscard]] size_t first() const { return static_cast<size_t>(tiling_.first); }
  [[nodiscard]] size_t last() const { return static_cast<size_t>(tiling_.last); }
  [[nodiscard]] bool is_inner(ValueId value) const { return producers_.contains(value); }
  [[nodiscard]] int64_t row_bytes(ValueId value) const {
    const ir::Type& type = graph_.type(value);
    return static_cast<int64_t>(type.bytes()) / type.shape[kHeight];
  }

 private:
  bool is_image(ValueId value) const {
    const ir::Type& type = graph_.type(value);
    return type.shape.size() == 4 && type.shape[0] == 1 && ir::dtype_bytes(type.dtype) == 1;
  }

  bool fits() {
    if (first() > last() || last() >= graph_.ops().size()) return false;
    const auto consumers = graph_.consumers();
    const std::vector<ValueId> results = graph_.results();
    for (size_t i = first(); i <= last(); ++i) {
      const Op& one = op(i);
      if (!can_tile_window(one.kind) && !can_tile_elementwise(one.kind)) return false;
      if (!is_image(one.output)) return false;
      for (const size_t k : images_of(graph_, one)) {
        if (!is_image(one.inputs[k])) return false;
        // Operands of elementwise operators must not be broadcast.
        const bool same = graph_.type(one.inputs[k]).shape == graph_.type(one.output).shape;
        if (!can_tile_window(one.kind) && !same) return false;
      }
      producers_[one.output] = static_cast<int>(i - first());
      if (i == last()) break;
      const auto& readers = consumers[static_cast<size_t>(one.output)];
      const bool inside =
          std::ranges::all_of(readers, [&](int reader) { return reader <= tiling_.last; });
      const bool needed = std::ranges::count(results, one.output) != 0;
      if (!inside || readers.empty() || needed) return false;
    }
    return constants_have_one_row();
  }

  /// Returns true if no constant operand of an elementwise operator has more than one row.
  bool constants_have_one_row() const {
    for (size_t i = first(); i <= last(); ++i) {
      if (!can_tile_elementwise(op(i).kind) || op(i).kind == OpKind::lut) continue;
      for (const ValueId input : op(i).inputs) {
        if (!graph_.value(input).constant) continue;
        const ir::Shape& shape = graph_.type(input).shape;
        if (shape.size() > 1 && shape[shape.size() - 2] != 1) return false;
      }
    }
    return true;
  }

  /// Returns the operand rows that these result rows need.
  [[nodiscard]] OperandRows reads_of(const Op& one, const IndexRange& made) const {
    const Window window = window_of(graph_, one);
    const int64_t begin = made.begin * window.stride - window.pad;
    const int64_t end = (made.end - 1) * window.stride - window.pad + window.extent;
    OperandRows reads;
    reads.rows = {std::max<int64_t>(0, begin),
                  std::min(height_of(one.inputs[images_of(graph_, one)[0]]), end)};
    reads.pad_top = reads.rows.begin - begin;
    reads.pad_bottom = end - reads.rows.end;
    reads.is_valid =
        reads.rows.size() > 0 && reads.pad_top < window.extent && reads.pad_bottom < window.extent;
    return reads;
  }

  [[nodiscard]] int64_t height_of(ValueId value) const { return graph_.type(value).shape[kHeight]; }

  const ir::Graph& graph_;
  const RowTiling tiling_;
  std::map<ValueId, int> producers_;  // by result of a tiled operator: its index in the sequence
  std::vector<std::vector<TileStep>> tiles_;
};

/// Writes one tiled sequence of operators to a new graph.
class TiledGraphWriter {
 public:
  TiledGraphWriter(const TileSchedule& schedule, ir::Rewriter* rewriter)
      : schedule_(schedule), rewriter_(*rewriter) {}

  Status run() {
    for (const std::vector<TileStep>& tile : schedule_.tiles()) {
      ++count_;
      for (const TileStep& step : tile) THIMBLE_CHECK(write_step(step));
    }
    const Op& last = schedule_.op(schedule_.last());
    THIMBLE_TRY(const ValueId whole,
                rewriter_.to().add(OpKind::concat, results_, {{ir::attr::dim, kHeight}},
                                   last.source, hint(last.output, "")));
    rewriter_.set(last.output, whole);
    return ok();
  }

 private:
  struct Held {
    ValueId value = ir::kNoValue;
    IndexRange rows;
  };

  ir::Graph::ResultHint hint(ValueId old_value, const std::string& suffix) const {
    const ir::Value& value = rewriter_.from().value(old_value);
    ir::Graph::ResultHint result;
    result.name = value.name + suffix;
    result.quant = value.type.quant;
    result.dim_order = value.type.dim_order;
    return result;
  }

  Result<ValueId> rows_of(const Held& held, const IndexRange& rows, const Op& reader) {
    if (rows.begin == held.rows.begin && rows.end == held.rows.end) return held.value;
    ir::Graph::ResultHint result;
    result.name = rewriter_.to().value(held.value).name + "_rows";
    result.dim_order = rewriter_.to().type(held.value).dim_order;
    return rewriter_.to().add(OpKind::slice, {held.value},
                              {{ir::attr::dim, kHeight},
                               {ir::attr::start, rows.begin - held.rows.begin},
                               {ir::attr::end, rows.end - held.rows.begin}},
                              reader.source, result);
  }

  Status write_step(const TileStep& step) {
    const Op& op = schedule_.op(step.op);
    const bool last = step.op == schedule_.last();
    Held& held = held_[op.output];
    if (step.made.size() == 0) return ok();
    std::vector<ValueId> pieces;
    // The kept rows come first, so that the line buffer can keep its address.
    if (!last && step.kept.size() > 0) {
      THIMBLE_TRY(const ValueId kept, rows_of(held, step.kept, op));
      pieces.push_back(kept);
    }
    THIMBLE_TRY(const ValueId made, make(op, step));
    pieces.push_back(made);
    if (last) {
      results_.push_back(made);
      return ok();
    }
    held = {made, {step.kept.size() > 0 ? step.kept.begin : step.made.begin, step.made.end}};
    if (pieces.size() == 1) return ok();
    THIMBLE_TRY(held.value,
                rewriter_.to().add(OpKind::concat, pieces, {{ir::attr::dim, kHeight}}, op.source,
                                   hint(op.output, fmt::format("_held{}", count_))));
    return ok();
  }

  Result<ValueId> make(const Op& op, const TileStep& step) {
    std::vector<ValueId> inputs = op.inputs;
    for (ValueId& input : inputs) {
      if (input != ir::kNoValue && !schedule_.is_inner(input)) input = rewriter_.map(input);
    }
    for (const size_t k : images_of(rewriter_.from(), op)) {
      Held from = {inputs[k], {}};
      if (schedule_.is_inner(op.inputs[k])) {
        from = held_[op.inputs[k]];
      } else {
        from.rows = {0, rewriter_.to().type(inputs[k]).shape[kHeight]};
      }
      THIMBLE_TRY(inputs[k], rows_of(from, step.reads.rows, op));
    }
    ir::Attrs attrs = op.attrs;
    if (can_tile_window(op.kind)) {
      std::vector<int64_t> padding = op.get(ir::attr::padding);
      padding[0] = step.reads.pad_top;
      padding[2] = step.reads.pad_bottom;
      attrs.set(ir::attr::padding, padding);
    }
    return rewriter_.to().add(op.kind, std::move(inputs), std::move(attrs), op.source,
                              hint(op.output, fmt::format("_tile{}", count_)));
  }

  const TileSchedule& schedule_;
  ir::Rewriter& rewriter_;
  std::map<ValueId, Held> held_;
  std::vector<ValueId> results_;
  int count_ = 0;
};

/// Returns the number of bytes that are live during all tiles: operands in the arena, and the
/// result unless the last operator can write it in place of an operand.
int64_t bytes_outside(const ir::Graph& graph, const TileSchedule& schedule, bool owns_inputs) {
  const auto consumers = graph.consumers();
  std::set<ValueId> operands;
  bool in_place = false;
  const ValueId result = schedule.op(schedule.last()).output;
  for (size_t i = schedule.first(); i <= schedule.last(); ++i) {
    const Op& op = schedule.op(i);
    for (const size_t k : images_of(graph, op)) {
      const ValueId input = op.inputs[k];
      if (schedule.is_inner(input) || (graph.is_input(input) && !owns_inputs)) continue;
      operands.insert(input);
      const bool dies = std::ranges::all_of(consumers[static_cast<size_t>(input)], [&](int reader) {
        return reader <= static_cast<int>(schedule.last());
      });
      in_place = in_place || (i == schedule.last() && can_tile_elementwise(op.kind) && dies);
    }
  }
  auto bytes = in_place ? int64_t{0} : static_cast<int64_t>(graph.type(result).bytes());
  for (const ValueId value : operands) bytes += static_cast<int64_t>(graph.type(value).bytes());
  return bytes;
}

}  // namespace

std::optional<RowTilingCost> row_tiling_cost(const ir::Graph& graph, const RowTiling& tiling,
                                             bool owns_inputs) {
  TileSchedule schedule(graph, tiling);
  if (!schedule.plan()) return {};
  RowTilingCost cost;
  cost.tiles = static_cast<int64_t>(schedule.tiles().size());
  std::map<ValueId, int64_t> widest;  // largest size of each line buffer, in bytes
  for (const auto& tile : schedule.tiles()) {
    for (const TileStep& step : tile) {
      const ValueId result = schedule.op(step.op).output;
      if (step.op == schedule.last() || step.kept.size() == 0 || step.made.size() == 0) continue;
      cost.copied_bytes += step.kept.size() * schedule.row_bytes(result);
      int64_t& bytes = widest[result];
      bytes = std::max(bytes, (step.made.end - step.kept.begin) * schedule.row_bytes(result));
    }
  }
  int64_t held = bytes_outside(graph, schedule, owns_inputs);
  for (const auto& [value, bytes] : widest) held += bytes;
  for (const auto& tile : schedule.tiles()) {
    int64_t before = 0;  // bytes that only the next operator reads
    for (const TileStep& step : tile) {
      if (step.made.size() > 0) ++cost.calls;
      const Op& op = schedule.op(step.op);
      int64_t made = step.made.size() * schedule.row_bytes(op.output);
      if (step.op == schedule.last() || widest.contains(op.output)) made = 0;
      for (const size_t k : images_of(graph, op)) {
        if (graph.is_input(op.inputs[k]) && !owns_inputs)
          before += step.reads.rows.size() * schedule.row_bytes(op.inputs[k]);
      }
      cost.live_bytes = std::max(cost.live_bytes, held + before + made);
      before = made;
    }
  }
  return cost;
}

Result<ir::Graph> apply_row_tiling(const ir::Graph& graph, std::span<const RowTiling> all) {
  ir::Rewriter rewriter(graph);
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const auto tiling = std::ranges::find(all, static_cast<int>(i), &RowTiling::first);
    if (tiling == all.end()) {
      THIMBLE_CHECK(rewriter.copy(graph.ops()[i]));
      continue;
    }
    TileSchedule schedule(graph, *tiling);
    if (!schedule.plan()) return unsupported("operators that cannot be tiled by rows");
    THIMBLE_CHECK(TiledGraphWriter(schedule, &rewriter).run());
    i = static_cast<size_t>(tiling->last);
  }
  return rewriter.finish();
}

}  // namespace thimble::memory
