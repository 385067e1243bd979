#include "engine/row_tiling.h"

#include <algorithm>
#include <map>
#include <set>

namespace thimble::engine {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr int64_t kHeight = 2;  // the tiled dimension

struct Rows {
  int64_t begin = 0, end = 0;
  [[nodiscard]] int64_t count() const { return end - begin; }
};

bool can_tile_window(OpKind kind) {
  return kind == OpKind::qconv2d || kind == OpKind::max_pool2d || kind == OpKind::qavg_pool2d;
}

bool is_by_element(OpKind kind) {
  switch (kind) {
    case OpKind::lut:
    case OpKind::maximum:
    case OpKind::minimum:
    case OpKind::qadd:
    case OpKind::qmul:
    case OpKind::qsub:
      return true;
    default:
      return false;
  }
}

/// Vertical extent, stride and padding of a window operator.
struct Window {
  int64_t extent = 1, stride = 1, pad = 0;
};

Window window_of(const ir::Graph& graph, const Op& op) {
  if (!can_tile_window(op.kind)) return {};
  const bool conv = op.kind == OpKind::qconv2d;
  const int64_t kernel = conv ? graph.type(op.inputs[1]).shape[kHeight] : op.integers("kernel")[0];
  const int64_t dilation = op.kind == OpKind::qavg_pool2d ? 1 : op.integers("dilation")[0];
  return {(kernel - 1) * dilation + 1, op.integers("stride")[0], op.integers("padding")[0]};
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

/// The part of one operator that is computed for one tile. Row ranges are half-open.
struct TileStep {
  size_t op = 0;
  Rows made;   // result rows to compute; may be empty
  Rows kept;   // result rows kept from the previous tile, stored in front of the new rows
  Rows reads;  // rows read from each image operand, clipped to the image
  int64_t pad_top = 0, pad_bottom = 0;
};

/// The schedule of one tiled sequence of operators: one Turn per operator and tile.
class TileSchedule {
 public:
  TileSchedule(const ir::Graph& graph, const RowTiling& strips) : graph_(graph), strips_(strips) {}

  /// Returns false if these operators cannot be tiled by rows.
  bool plan() {
    if (!fits()) return false;
    const int64_t height = graph_.type(op(last()).output).shape[kHeight];
    if (strips_.rows >= height) return false;
    for (int64_t end = strips_.rows;; end += strips_.rows) {
      if (!plan_strip(std::min(end, height))) return false;
      if (end >= height) return true;
    }
  }
  /// One list per tile, each in execution order.
  [[nodiscard]] const std::vector<std::vector<TileStep>>& strips() const { return turns_; }
  [[nodiscard]] const Op& op(size_t index) const { return graph_.ops()[index]; }
  [[nodiscard]] size_t first() const { return static_cast<size_t>(strips_.first); }
  [[nodiscard]] size_t last() const { return static_cast<size_t>(strips_.last); }
  [[nodiscard]] bool is_inner(ValueId value) const { return made_.contains(value); }
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
      if (!can_tile_window(one.kind) && !is_by_element(one.kind)) return false;
      if (!is_image(one.output)) return false;
      for (const size_t k : images_of(graph_, one)) {
        if (!is_image(one.inputs[k])) return false;
        // Operands of elementwise operators must not be broadcast.
        const bool same = graph_.type(one.inputs[k]).shape == graph_.type(one.output).shape;
        if (!can_tile_window(one.kind) && !same) return false;
      }
      made_[one.output] = {};
      if (i == last()) break;
      const auto& readers = consumers[static_cast<size_t>(one.output)];
      const bool inside =
          std::ranges::all_of(readers, [&](int reader) { return reader <= strips_.last; });
      const bool needed = std::ranges::count(results, one.output) != 0;
      if (!inside || readers.empty() || needed) return false;
    }
    return constants_are_whole();
  }

  /// Returns true if no constant operand of an elementwise operator has more than one row.
  bool constants_are_whole() const {
    for (size_t i = first(); i <= last(); ++i) {
      if (!is_by_element(op(i).kind) || op(i).kind == OpKind::lut) continue;
      for (const ValueId input : op(i).inputs) {
        if (!graph_.value(input).constant) continue;
        const ir::Shape& shape = graph_.type(input).shape;
        if (shape.size() > 1 && shape[shape.size() - 2] != 1) return false;
      }
    }
    return true;
  }

  bool plan_strip(int64_t end) {
    std::map<ValueId, Rows> wanted;
    std::vector<TileStep> turns;
    wanted[op(last()).output] = {made_[op(last()).output].end, end};
    for (size_t i = last() + 1; i-- > first();) {
      const Op& one = op(i);
      TileStep turn = {i, {}, {}, {}, 0, 0};
      const auto found = wanted.find(one.output);
      if (found == wanted.end()) continue;
      Rows& there = made_[one.output];  // rows of the result that the previous tile left
      const Rows want = found->second;
      if (want.begin < there.begin) return false;
      turn.kept = {std::min(want.begin, there.end), there.end};
      turn.made = {there.end, std::max(there.end, want.end)};
      if (i != last() && want.begin > there.end) return false;
      there = {i == last() ? turn.made.begin : turn.kept.begin, turn.made.end};
      if (turn.made.count() > 0 && !read(turn, &wanted)) return false;
      turns.push_back(turn);
    }
    std::ranges::reverse(turns);
    turns_.push_back(std::move(turns));
    return true;
  }

  /// Computes the operand rows that `turn.made` needs and adds those of tiled values to `wanted`.
  /// Returns false if a window has no row inside the image.
  bool read(TileStep& turn, std::map<ValueId, Rows>* wanted) const {
    const Op& one = op(turn.op);
    const Window window = window_of(graph_, one);
    const int64_t begin = turn.made.begin * window.stride - window.pad;
    const int64_t end = (turn.made.end - 1) * window.stride - window.pad + window.extent;
    const int64_t height = graph_.type(one.inputs[images_of(graph_, one)[0]]).shape[kHeight];
    turn.reads = {std::max<int64_t>(0, begin), std::min(height, end)};
    turn.pad_top = turn.reads.begin - begin;
    turn.pad_bottom = end - turn.reads.end;
    const bool meets = turn.pad_top < window.extent && turn.pad_bottom < window.extent;
    if (turn.reads.count() <= 0 || !meets) return false;
    for (const size_t k : images_of(graph_, one)) {
      if (!is_inner(one.inputs[k])) continue;
      const auto [at, is_new] = wanted->try_emplace(one.inputs[k], turn.reads);
      if (is_new) continue;
      at->second.begin = std::min(at->second.begin, turn.reads.begin);
      at->second.end = std::max(at->second.end, turn.reads.end);
    }
    return true;
  }

  const ir::Graph& graph_;
  const RowTiling strips_;
  std::map<ValueId, Rows> made_;  // by result of a tiled operator: the rows currently in memory
  std::vector<std::vector<TileStep>> turns_;
};

/// Writes one tiled sequence of operators to a new graph.
class Writer {
 public:
  Writer(const TileSchedule& course, ir::Rewriter* rewriter)
      : course_(course), rewriter_(*rewriter) {}

  Status run() {
    for (const std::vector<TileStep>& strip : course_.strips()) {
      ++count_;
      for (const TileStep& turn : strip) THIMBLE_CHECK(take(turn));
    }
    const Op& last = course_.op(course_.last());
    THIMBLE_TRY(const ValueId whole,
                rewriter_.to().add(OpKind::concat, results_, {{"dim", kHeight}}, last.source,
                                   hint(last.output, "")));
    rewriter_.set(last.output, whole);
    return ok();
  }

 private:
  struct Held {
    ValueId value = ir::kNoValue;
    Rows rows;
  };

  ir::Graph::ResultHint hint(ValueId old_value, const std::string& suffix) const {
    const ir::Value& value = rewriter_.from().value(old_value);
    ir::Graph::ResultHint result;
    result.name = value.name + suffix;
    result.quant = value.type.quant;
    result.dim_order = value.type.dim_order;
    return result;
  }

  Result<ValueId> rows_of(const Held& held, const Rows& rows, const Op& reader) {
    if (rows.begin == held.rows.begin && rows.end == held.rows.end) return held.value;
    ir::Graph::ResultHint result;
    result.name = rewriter_.to().value(held.value).name + "_rows";
    result.dim_order = rewriter_.to().type(held.value).dim_order;
    return rewriter_.to().add(OpKind::slice, {held.value},
                              {{"dim", kHeight},
                               {"start", rows.begin - held.rows.begin},
                               {"end", rows.end - held.rows.begin}},
                              reader.source, result);
  }

  Status take(const TileStep& turn) {
    const Op& op = course_.op(turn.op);
    const bool last = turn.op == course_.last();
    Held& held = held_[op.output];
    if (turn.made.count() == 0) return ok();
    std::vector<ValueId> pieces;
    // The kept rows come first, so that the line buffer can keep its address.
    if (!last && turn.kept.count() > 0) {
      THIMBLE_TRY(const ValueId kept, rows_of(held, turn.kept, op));
      pieces.push_back(kept);
    }
    THIMBLE_TRY(const ValueId made, make(op, turn));
    pieces.push_back(made);
    if (last) {
      results_.push_back(made);
      return ok();
    }
    held = {made, {turn.kept.count() > 0 ? turn.kept.begin : turn.made.begin, turn.made.end}};
    if (pieces.size() == 1) return ok();
    THIMBLE_TRY(held.value,
                rewriter_.to().add(OpKind::concat, pieces, {{"dim", kHeight}}, op.source,
                                   hint(op.output, fmt::format("_held{}", count_))));
    return ok();
  }

  Result<ValueId> make(const Op& op, const TileStep& turn) {
    std::vector<ValueId> inputs = op.inputs;
    for (ValueId& input : inputs) {
      if (input != ir::kNoValue && !course_.is_inner(input)) input = rewriter_.map(input);
    }
    for (const size_t k : images_of(rewriter_.from(), op)) {
      Held from = {inputs[k], {}};
      if (course_.is_inner(op.inputs[k])) {
        from = held_[op.inputs[k]];
      } else {
        from.rows = {0, rewriter_.to().type(inputs[k]).shape[kHeight]};
      }
      THIMBLE_TRY(inputs[k], rows_of(from, turn.reads, op));
    }
    ir::Attrs attrs = op.attrs;
    if (can_tile_window(op.kind)) {
      std::vector<int64_t> padding = op.integers("padding");
      padding[0] = turn.pad_top;
      padding[2] = turn.pad_bottom;
      attrs.set("padding", padding);
    }
    return rewriter_.to().add(op.kind, std::move(inputs), std::move(attrs), op.source,
                              hint(op.output, fmt::format("_strip{}", count_)));
  }

  const TileSchedule& course_;
  ir::Rewriter& rewriter_;
  std::map<ValueId, Held> held_;
  std::vector<ValueId> results_;
  int count_ = 0;
};

/// Returns the number of bytes that are live during all tiles: operands in the arena, and the
/// result unless the last operator can write it in place of an operand.
int64_t bytes_outside(const ir::Graph& graph, const TileSchedule& course, bool owns_inputs) {
  const auto consumers = graph.consumers();
  std::set<ValueId> operands;
  bool in_place = false;
  const ValueId result = course.op(course.last()).output;
  for (size_t i = course.first(); i <= course.last(); ++i) {
    const Op& op = course.op(i);
    for (const size_t k : images_of(graph, op)) {
      const ValueId input = op.inputs[k];
      if (course.is_inner(input) || (graph.is_input(input) && !owns_inputs)) continue;
      operands.insert(input);
      const bool dies = std::ranges::all_of(consumers[static_cast<size_t>(input)], [&](int reader) {
        return reader <= static_cast<int>(course.last());
      });
      in_place = in_place || (i == course.last() && is_by_element(op.kind) && dies);
    }
  }
  auto bytes = in_place ? int64_t{0} : static_cast<int64_t>(graph.type(result).bytes());
  for (const ValueId value : operands) bytes += static_cast<int64_t>(graph.type(value).bytes());
  return bytes;
}

}  // namespace

std::optional<RowTilingCost> row_tiling_cost(const ir::Graph& graph, const RowTiling& strips,
                                             bool owns_inputs) {
  TileSchedule course(graph, strips);
  if (!course.plan()) return {};
  RowTilingCost cost;
  cost.strips = static_cast<int64_t>(course.strips().size());
  std::map<ValueId, int64_t> widest;  // largest size of each line buffer, in bytes
  for (const auto& strip : course.strips()) {
    for (const TileStep& turn : strip) {
      const ValueId result = course.op(turn.op).output;
      if (turn.op == course.last() || turn.kept.count() == 0) continue;
      cost.copied_bytes += turn.kept.count() * course.row_bytes(result);
      int64_t& bytes = widest[result];
      bytes = std::max(bytes, (turn.made.end - turn.kept.begin) * course.row_bytes(result));
    }
  }
  int64_t held = bytes_outside(graph, course, owns_inputs);
  for (const auto& [value, bytes] : widest) held += bytes;
  for (const auto& strip : course.strips()) {
    int64_t before = 0;  // bytes that only the next operator reads
    for (const TileStep& turn : strip) {
      ++cost.calls;
      const Op& op = course.op(turn.op);
      int64_t made = turn.made.count() * course.row_bytes(op.output);
      if (turn.op == course.last() || widest.contains(op.output)) made = 0;
      for (const size_t k : images_of(graph, op)) {
        if (graph.is_input(op.inputs[k]) && !owns_inputs)
          before += turn.reads.count() * course.row_bytes(op.inputs[k]);
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
    const auto strips = std::ranges::find(all, static_cast<int>(i), &RowTiling::first);
    if (strips == all.end()) {
      THIMBLE_CHECK(rewriter.copy(graph.ops()[i]));
      continue;
    }
    TileSchedule course(graph, *strips);
    if (!course.plan()) return unsupported("operators that cannot be tiled by rows");
    THIMBLE_CHECK(Writer(course, &rewriter).run());
    i = static_cast<size_t>(strips->last);
  }
  return rewriter.finish();
}

}  // namespace thimble::engine
