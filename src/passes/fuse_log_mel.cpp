// SPDX-License-Identifier: Apache-2.0
#include "passes/fuse_log_mel.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "eval/evaluate.h"
#include "ir/op_traits.h"
#include "passes/fuse_each.h"
#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
// Upper bound of the elements whose movement is traced.
constexpr int64_t kTracedElementsMax = 1 << 22;

/// Frames of samples, multiplied by a window: the operands of log_mel.
struct Frames {
  ValueId x = ir::kNoValue;
  std::vector<float> window;
  int64_t hop = 1;
};

/// The operators that log_mel replaces.
struct LogMel {
  Frames frames;
  ValueId mel = ir::kNoValue;
  ir::Shape rows;                // shape of the filter bank's result
  std::vector<const Op*> moves;  // between the filter bank and the logarithm, in order
  double floor = 0, eps = 0, scale = 1, offset = 0;
  std::vector<ValueId> fused;  // results after the logarithm
  ValueId last = ir::kNoValue;
};

class LogMelMatcher {
 public:
  explicit LogMelMatcher(const Graph& graph) : graph_(graph), uses_(graph) {}

  [[nodiscard]] Result<std::optional<LogMel>> match(const Op& op) const {
    std::optional<LogMel> none;
    if (op.kind != OpKind::log) return none;
    LogMel found;
    const Op* filters = bank_before(op.inputs[0], found);
    if (filters == nullptr) return none;
    THIMBLE_TRY(const auto frames, frames_of(filters->inputs[0]));
    if (!frames) return none;
    found.frames = *frames;
    found.mel = filters->inputs[1];
    found.rows = graph_.type(filters->output).shape;
    found.last = op.output;
    take_numbers(found);
    return std::optional(std::move(found));
  }

 private:
  [[nodiscard]] const Op* made_by(ValueId id, OpKind kind) const {
    const Op* op = id == ir::kNoValue ? nullptr : uses_.producer(id);
    return op != nullptr && op->kind == kind ? op : nullptr;
  }
  [[nodiscard]] std::optional<double> number(ValueId id) const {
    const ir::Value& value = graph_.value(id);
    if (value.constant == nullptr || value.type.elements() != 1) return std::nullopt;
    if (value.type.dtype != ir::DType::kF32) return std::nullopt;
    return static_cast<double>(value.constant->data<float>()[0]);
  }
  /// Returns the position of the operand that is one number, and the number.
  struct Scalar {
    size_t at = 0;
    double value = 0;
  };
  [[nodiscard]] std::optional<Scalar> scalar_of(const Op& op) const {
    for (const size_t i : {size_t{1}, size_t{0}}) {
      if (const auto found = number(op.inputs[i])) return Scalar{i, *found};
    }
    return std::nullopt;
  }

  /// Returns the filter bank whose result, bounded and moved, is `id`.
  const Op* bank_before(ValueId id, LogMel& found) const {
    bool bounded = false;
    for (const Op* op = uses_.producer(id); op != nullptr; op = uses_.producer(id)) {
      if (op->kind == OpKind::linear) {
        const bool plain =
            op->inputs[2] == ir::kNoValue && graph_.value(op->inputs[1]).constant != nullptr;
        std::ranges::reverse(found.moves);
        return plain ? op : nullptr;
      }
      const auto scalar = op->kind == OpKind::add ? scalar_of(*op) : std::nullopt;
      if (op->kind == OpKind::permute || op->kind == OpKind::reshape) {
        found.moves.push_back(op);
        id = op->inputs[0];
      } else if (scalar && scalar->value >= 0 && found.eps == 0 && !bounded) {
        found.eps = scalar->value;
        id = op->inputs[1 - scalar->at];
      } else if (op->kind == OpKind::clamp && !bounded && op->get(ir::attr::float_min) >= 0 &&
                 op->get(ir::attr::float_max) == kUnbounded) {
        found.floor = op->get(ir::attr::float_min);
        bounded = true;
        id = op->inputs[0];
      } else {
        return nullptr;
      }
    }
    return nullptr;
  }

  /// Includes the numbers that multiply or are added to the logarithm.
  void take_numbers(LogMel& found) const {
    for (const Op* op = uses_.only_reader(found.last); op != nullptr;
         op = uses_.only_reader(found.last)) {
      const bool arithmetic = op->kind == OpKind::mul || op->kind == OpKind::div ||
                              op->kind == OpKind::add || op->kind == OpKind::sub;
      const auto scalar = arithmetic ? scalar_of(*op) : std::nullopt;
      if (!scalar || graph_.type(op->output).shape != graph_.type(found.last).shape) return;
      const bool product = op->kind == OpKind::mul || op->kind == OpKind::div;
      const bool reversed = op->kind == OpKind::div || op->kind == OpKind::sub;
      if (reversed && scalar->at == 0) return;
      if (product && !(scalar->value > 0)) return;
      if (product) {
        const double factor = op->kind == OpKind::mul ? scalar->value : 1 / scalar->value;
        found.scale *= factor;
        found.offset *= factor;
      } else {
        found.offset += op->kind == OpKind::add ? scalar->value : -scalar->value;
      }
      found.last = op->output;
      found.fused.push_back(found.last);
    }
  }

  /// Returns the frames whose powers are `id`, one row of powers for each frame.
  Result<std::optional<Frames>> frames_of(ValueId id) const {
    std::optional<Frames> none;
    const ValueId rows = id;
    while (const Op* op = uses_.producer(id)) {
      const Op* root = op->kind == OpKind::mul && op->inputs[0] == op->inputs[1]
                           ? made_by(op->inputs[0], OpKind::sqrt)
                           : nullptr;
      if (root != nullptr) {
        id = root->inputs[0];
      } else if (op->kind == OpKind::permute || op->kind == OpKind::reshape) {
        id = op->inputs[0];
      } else {
        break;
      }
    }
    const Op* spectrum = made_by(id, OpKind::power_spectrum);
    if (spectrum == nullptr) return none;
    const auto window = graph_.value(spectrum->inputs[1]).constant;
    if (window == nullptr) return none;
    THIMBLE_TRY(const auto order, trace(rows, id));
    if (!order || !is_identity(*order)) return none;
    Frames frames{spectrum->inputs[0],
                  {window->data<float>().begin(), window->data<float>().end()},
                  spectrum->get(ir::attr::hop)};
    THIMBLE_CHECK(read_row(frames));
    return std::optional(std::move(frames));
  }

  /// If the frames are rows of windowed samples, which are views of longer rows, makes `frames`
  /// those of the longer rows.
  Status read_row(Frames& frames) const {
    const auto n = static_cast<int64_t>(frames.window.size());
    if (graph_.type(frames.x).shape.back() != n) return ok();
    take_window(frames);
    const ValueId views = frames.x;
    ValueId id = views;
    for (const Op* op = mover(id); op != nullptr; op = mover(id)) {
      id = op->inputs[0];
      THIMBLE_TRY(const auto order, trace(views, id));
      const int64_t hop = order ? hop_of(*order, n, graph_.type(id).shape.back()) : 0;
      if (hop == 0) continue;
      frames.x = id;
      frames.hop = hop;
    }
    return ok();
  }

  /// Includes a constant that multiplies the samples of each frame in the window.
  void take_window(Frames& frames) const {
    const Op* product = made_by(frames.x, OpKind::mul);
    if (product == nullptr) return;
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const ir::Value& value = graph_.value(product->inputs[i]);
      const bool fits = value.constant != nullptr && !value.type.shape.empty() &&
                        value.type.elements() == value.type.shape.back() &&
                        value.type.elements() == static_cast<int64_t>(frames.window.size());
      if (!fits) continue;
      const auto factors = value.constant->data<float>();
      for (size_t k = 0; k < factors.size(); ++k) frames.window[k] *= factors[k];
      frames.x = product->inputs[1 - i];
      return;
    }
  }

  /// Returns the operator that only moves elements of another value to `id`; null if there is none.
  [[nodiscard]] const Op* mover(ValueId id) const {
    const Op* op = uses_.producer(id);
    if (op == nullptr) return nullptr;
    const bool gathers =
        op->kind == OpKind::gather && graph_.value(op->inputs[1]).constant != nullptr;
    const bool views = ir::category_of(op->kind) == ir::OpCategory::kView;
    return gathers || views ? op : nullptr;
  }

  /// Returns for each element of `id` the index of the element of `base` that it is; squares of
  /// roots keep the elements. Nothing for values that are too large.
  Result<std::optional<std::vector<int32_t>>> trace(ValueId id, ValueId base) const {
    std::optional<std::vector<int32_t>> none;
    if (graph_.type(id).elements() > kTracedElementsMax ||
        graph_.type(base).elements() > kTracedElementsMax) {
      return none;
    }
    std::vector<const Op*> path;
    for (ValueId at = id; at != base;) {
      const Op* op = uses_.producer(at);
      if (op->kind == OpKind::mul) {  // the square of a root
        at = uses_.producer(op->inputs[0])->inputs[0];
        continue;
      }
      path.push_back(op);
      at = op->inputs[0];
    }
    Graph alone;
    ir::Tensor indices = ir::zeros(ir::DType::kI32, graph_.type(base).shape);
    const auto to = indices.data<int32_t>();
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<int32_t>(i);
    ValueId at = alone.add_constant("", std::make_shared<ir::Tensor>(std::move(indices)));
    for (auto op = path.rbegin(); op != path.rend(); ++op) {
      std::vector<ValueId> operands = {at};
      if ((*op)->inputs.size() > 1) {
        operands.push_back(alone.add_constant("", graph_.value((*op)->inputs[1]).constant));
      }
      THIMBLE_TRY(at, alone.add((*op)->kind, std::move(operands), (*op)->attrs, (*op)->source));
    }
    alone.add_output(at);
    THIMBLE_TRY(const auto outputs, eval::evaluate(alone, {}));
    const auto moved = outputs[0].data<int32_t>();
    return std::optional(std::vector<int32_t>(moved.begin(), moved.end()));
  }

  static bool is_identity(const std::vector<int32_t>& order) {
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i] != static_cast<int32_t>(i)) return false;
    }
    return true;
  }

  /// Returns the distance of frames of n elements in rows of `length` elements if `order` lists all
  /// frames of all rows; else 0.
  static int64_t hop_of(const std::vector<int32_t>& order, int64_t n, int64_t length) {
    const auto count = static_cast<int64_t>(order.size()) / n;
    const auto first = [&](int64_t frame) {
      return int64_t{order[static_cast<size_t>(frame * n)]};
    };
    int64_t hop = length;  // of a row with one frame
    if (count > 1 && first(1) < length) hop = first(1);
    if (hop < 1 || length < n) return 0;
    const int64_t per_row = (length - n) / hop + 1;
    for (int64_t frame = 0; frame < count; ++frame) {
      const int64_t start = frame / per_row * length + frame % per_row * hop;
      for (int64_t i = 0; i < n; ++i) {
        if (order[static_cast<size_t>(frame * n + i)] != start + i) return 0;
      }
    }
    return hop;
  }

  const Graph& graph_;
  const Uses uses_;
};

Status emit_log_mel(ir::Rewriter& rewriter, const Op& op, const LogMel& found) {
  Graph& to = rewriter.to();
  const ir::Value& result = rewriter.from().value(found.last);
  const auto n = static_cast<int64_t>(found.frames.window.size());
  ir::Tensor window = ir::zeros(ir::DType::kF32, {n});
  std::ranges::copy(found.frames.window, window.data<float>().begin());
  const ValueId window_id = to.add_constant(fmt::format("{}.window", result.name),
                                            std::make_shared<ir::Tensor>(std::move(window)));
  const ir::Attrs attrs{{ir::attr::hop, found.frames.hop},
                        {ir::attr::floor, found.floor},
                        {ir::attr::eps, found.eps},
                        {ir::attr::scale, found.scale},
                        {ir::attr::float_offset, found.offset}};
  const auto hint = [&](bool last) {
    return last ? Graph::ResultHint{result.name, result.type.dim_order, {}} : Graph::ResultHint{};
  };
  ir::Shape shape = rewriter.from().type(found.frames.x).shape;
  shape.back() = (shape.back() - n) / found.frames.hop + 1;
  shape.push_back(found.rows.back());
  const bool same = shape == found.rows;
  THIMBLE_TRY(ValueId y, to.add(OpKind::log_mel,
                                {rewriter.map(found.frames.x), window_id, rewriter.map(found.mel)},
                                attrs, op.source, hint(same && found.moves.empty())));
  if (!same) {
    THIMBLE_TRY(y, to.add(OpKind::reshape, {y}, {{ir::attr::shape, found.rows}}, op.source,
                          hint(found.moves.empty())));
  }
  for (const Op* move : found.moves) {
    THIMBLE_TRY(
        y, to.add(move->kind, {y}, move->attrs, move->source, hint(move == found.moves.back())));
  }
  rewriter.set(found.last, y);
  return ok();
}

}  // namespace

Result<Graph> fuse_log_mel(const Graph& graph) {
  const LogMelMatcher matcher(graph);
  return fuse_each(
      graph, [&](const Op& op) { return matcher.match(op); }, emit_log_mel);
}

}  // namespace thimble::passes
