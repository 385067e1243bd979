#include "target/neutron/fusion.h"

#include <algorithm>

#include "numerics/fixed_point.h"
#include "target/neutron/positions.h"

namespace thimble::target::neutron {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

bool computes(const Op& op) {
  switch (op.kind) {
    case OpKind::lut:
    case OpKind::maximum:
    case OpKind::minimum:
    case OpKind::qadd:
    case OpKind::qconv2d:
    case OpKind::qconv_transpose2d:
    case OpKind::qlinear:
    case OpKind::qmatmul:
    case OpKind::qmul:
    case OpKind::qprelu:
    case OpKind::qsub:
    case OpKind::rescale:
      return true;
    default:
      return false;
  }
}

class Finder {
 public:
  explicit Finder(const ir::Graph& graph)
      : graph_(graph), consumers_(graph.consumers()), result_(graph.ops().size()) {}

  std::vector<Fusion> run() {
    for (size_t i = 0; i < result_.size(); ++i) {
      const Op& op = graph_.ops()[i];
      result_[i].result = op.output;
      if (!op.inputs.empty()) result_[i].input = op.inputs[0];
    }
    for (size_t i = 0; i < result_.size(); ++i) {
      if (computes(graph_.ops()[i]) && !result_[i].absorbed) follow(i);
    }
    for (size_t i = 0; i < result_.size(); ++i) {
      if (graph_.ops()[i].kind == OpKind::pad) fold(i);
      if (graph_.ops()[i].kind == OpKind::gather) join(i);
    }
    return std::move(result_);
  }

 private:
  bool leaves(ValueId id) const {
    const auto results = graph_.results();
    return std::ranges::find(results, id) != results.end();
  }

  /// The only operator that reads the value; -1 if it is not alone.
  int only_reader(ValueId id) const {
    const auto& readers = consumers_[static_cast<size_t>(id)];
    return readers.size() == 1 && !leaves(id) ? readers[0] : -1;
  }

  void follow(size_t index) {
    Fusion& fusion = result_[index];
    fusion.table = table_of(graph_, graph_.ops()[index]);
    const bool own = fusion.table.has_value();
    for (int count = 0;; ++count) {
      const int reader = only_reader(fusion.result);
      if (reader < 0) return;
      const Op& next = graph_.ops()[static_cast<size_t>(reader)];
      const auto table = table_of(graph_, next);
      if (!table || next.inputs[0] != fusion.result) return;
      fusion.table = fusion.table ? behind(*fusion.table, *table) : *table;
      fusion.table_op = count == 0 && !own ? reader : -1;
      fusion.result = next.output;
      result_[static_cast<size_t>(reader)].absorbed = true;
    }
  }

  static Table behind(const Table& first, const Table& second) {
    Table both{};
    for (size_t i = 0; i < both.size(); ++i) both[i] = second[static_cast<size_t>(first[i] + 128)];
    return both;
  }

  void fold(size_t index) {
    const Op& pad = graph_.ops()[index];
    const auto before = pad.integers("before");
    const auto after = pad.integers("after");
    const bool image = before.size() == 4 && before[0] + before[1] + after[0] + after[1] == 0;
    const auto& readers = consumers_[static_cast<size_t>(pad.output)];
    if (!image || leaves(pad.output) || readers.empty()) return;
    const auto fits = [&](int reader) {
      const Op& op = graph_.ops()[static_cast<size_t>(reader)];
      return op.kind == OpKind::qconv2d && op.inputs[0] == pad.output &&
             static_cast<double>(op.integer("x_zp")) == pad.number("value");
    };
    if (!std::ranges::all_of(readers, fits)) return;
    for (const int reader : readers) {
      Fusion& fusion = result_[static_cast<size_t>(reader)];
      fusion.padding = {before[2], before[3], after[2], after[3]};
      fusion.input = pad.inputs[0];
    }
    result_[index].absorbed = true;
  }

  /// With the gather of the same kind along another dimension that is its only reader.
  void join(size_t index) {
    const Op& first = graph_.ops()[index];
    const int reader = only_reader(first.output);
    if (reader < 0 || result_[index].front >= 0) return;
    const Op& second = graph_.ops()[static_cast<size_t>(reader)];
    if (second.kind != OpKind::gather || second.inputs[0] != first.output) return;
    const auto a = positions_of(graph_, first), b = positions_of(graph_, second);
    const bool known = a && b && a->kind == b->kind;
    const bool alike =
        known && (a->kind == Positions::Kind::kReflection || a->kind == Positions::Kind::kNearest);
    if (!alike || first.integer("dim") == second.integer("dim")) return;
    result_[static_cast<size_t>(reader)].front = static_cast<int>(index);
    result_[static_cast<size_t>(reader)].input = first.inputs[0];
    result_[index].absorbed = true;
  }

  const ir::Graph& graph_;
  std::vector<std::vector<int>> consumers_;
  std::vector<Fusion> result_;
};

int8_t clamped(int64_t value) {
  return static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127));
}

}  // namespace

std::optional<Table> table_of(const ir::Graph& region, const Op& op) {
  if (region.type(op.inputs[0]).dtype != ir::DType::kI8 ||
      region.type(op.output).dtype != ir::DType::kI8) {
    return std::nullopt;
  }
  Table table{};
  if (op.kind == OpKind::lut) {
    const auto codes = region.value(op.inputs[1]).constant;
    if (codes == nullptr) return std::nullopt;
    std::ranges::copy(codes->data<int8_t>(), table.begin());
    return table;
  }
  if (op.kind != OpKind::rescale) return std::nullopt;
  for (int code = -128; code < 128; ++code) {
    const auto scaled = numerics::requantize(static_cast<int32_t>(code - op.integer("x_zp")),
                                             static_cast<int32_t>(op.integer("mult")),
                                             static_cast<int32_t>(op.integer("shift")));
    table[static_cast<size_t>(code + 128)] = clamped(int64_t{scaled} + op.integer("y_zp"));
  }
  return table;
}

std::vector<Fusion> find_fusions(const ir::Graph& region) {
  return Finder(region).run();
}

}  // namespace thimble::target::neutron
