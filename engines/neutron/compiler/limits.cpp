#include "engines/neutron/compiler/limits.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <vector>

#include "engine/single_op.h"
#include "engines/neutron/compiler/legalize.h"
#include "engines/neutron/compiler/line.h"
#include "engines/neutron/compiler/positions.h"
#include "interchange/table_function.h"

namespace thimble::engine::neutron {

using ir::OpKind;
using ir::ValueId;

namespace {

// --- quantities --------------------------------------------------------------------------------

struct Call {
  const ir::Graph& graph;
  const ir::Op& op;
  [[nodiscard]] const ir::Type& x() const { return graph.type(op.inputs[0]); }
  [[nodiscard]] const ir::Type& y() const { return graph.type(op.output); }
  [[nodiscard]] const ir::Shape& shape(size_t i) const { return graph.type(op.inputs[i]).shape; }
  [[nodiscard]] bool is_computed(size_t i) const {
    return op.inputs[i] != ir::kNoValue && graph.value(op.inputs[i]).constant == nullptr;
  }
  /// Returns entry `i` of an attribute [height, width].
  [[nodiscard]] int64_t side(std::string_view name, size_t i) const { return op.integers(name)[i]; }
};

bool is_pool(const Call& c) {
  return c.op.kind == OpKind::max_pool2d || c.op.kind == OpKind::qavg_pool2d;
}
int64_t kernel_height(const Call& c) {
  return is_pool(c) ? c.side("kernel", 0) : c.shape(1)[2];
}
int64_t kernel_width(const Call& c) {
  return is_pool(c) ? c.side("kernel", 1) : c.shape(1)[3];
}
int64_t stride_height(const Call& c) {
  return c.side("stride", 0);
}
int64_t stride_width(const Call& c) {
  return c.side("stride", 1);
}
int64_t dilation_height(const Call& c) {
  return c.side("dilation", 0);
}
int64_t dilation_width(const Call& c) {
  return c.side("dilation", 1);
}
int64_t batch(const Call& c) {
  return c.shape(0)[0];
}

int64_t kernel_less_stride(const Call& c) {
  return std::min(c.shape(1)[2] - stride_height(c), c.shape(1)[3] - stride_width(c));
}
int64_t kernel_less_padding(const Call& c) {
  const auto padding = c.op.integers("padding");
  const int64_t high = std::max(padding[0], padding[2]), wide = std::max(padding[1], padding[3]);
  return std::min(c.shape(1)[2] - high, c.shape(1)[3] - wide);
}

int64_t output_padding_beyond_padding(const Call& c) {
  const auto padding = c.op.integers("padding"), extra = c.op.integers("output_padding");
  return std::max<int64_t>({extra[0] - padding[2], extra[1] - padding[3], 0});
}

/// Number of products per output element, with channels rounded up to 8. A grouped convolution is
/// checked after legalization, when its groups are separate convolutions (legalize.h).
int64_t products_per_element(const Call& c) {
  constexpr int64_t kLanes = 8;
  const ir::Shape& w = c.shape(1);
  const int64_t channels =
      c.op.kind == OpKind::qconv2d ? w[1] : w[0] / std::max<int64_t>(c.op.integer("groups"), 1);
  return w[2] * w[3] * ((channels + kLanes - 1) / kLanes * kLanes);
}

int64_t computed_weights(const Call& c) {
  int64_t count = 0;
  for (size_t i = 1; i < c.op.inputs.size(); ++i) count += c.is_computed(i) ? 1 : 0;
  return count;
}
int64_t computed_slopes(const Call& c) {
  return c.is_computed(1) ? 1 : 0;
}
int64_t computed_positions(const Call& c) {
  return c.is_computed(1) ? 1 : 0;
}

int64_t zero_point_a(const Call& c) {
  return c.op.integer("a_zp");
}
int64_t zero_point_b(const Call& c) {
  return c.op.integer("b_zp");
}
/// Number of matrices that are reused for several matrices of the other operand, unless they can
/// become rows of one matrix.
int64_t repeated_matrices(const Call& c) {
  const auto count = [](const ir::Shape& s) {
    return ir::element_count(
        ir::Shape(s.begin(), s.end() - std::min<std::ptrdiff_t>(2, std::ssize(s))));
  };
  const int64_t all = count(c.y().shape), a = count(c.shape(0)), b = count(c.shape(1));
  return a == all && (b == all || b == 1) ? 0 : all - std::min(a, b);
}

int64_t elements_beyond_operands(const Call& c) {
  const int64_t a = ir::element_count(c.shape(0)), b = ir::element_count(c.shape(1));
  return c.y().elements() - std::max(a, b);
}
int64_t broadcast_operands(const Call& c) {
  int64_t count = 0;
  for (const size_t i : {size_t{0}, size_t{1}}) count += c.shape(i) == c.y().shape ? 0 : 1;
  return count;
}

int64_t operands_of_other_parameters(const Call& c) {
  return std::ranges::count_if(c.op.inputs, [&](ValueId id) {
    return id != ir::kNoValue && c.graph.type(id).quant != c.y().quant;
  });
}

int64_t rows_left_over(const Call& c) {
  int64_t rows = 0;
  for (const size_t dim : {size_t{2}, size_t{3}}) {
    const int64_t from = c.x().shape[dim], to = c.y().shape[dim];
    rows += std::max(from, to) % std::min(from, to);
  }
  return rows;
}
/// Padding rows and columns that windows read. LiteRT's operator divides by the whole window size.
int64_t uncounted_padding(const Call& c) {
  const auto padding = c.op.integers("padding");
  int64_t reached = 0;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const int64_t last = (c.y().shape[2 + side] - 1) * c.side("stride", side);
    const int64_t end = last + c.side("kernel", side) - padding[side];
    reached += padding[side] + std::max<int64_t>(end - c.x().shape[2 + side], 0);
  }
  return reached;
}
int64_t elements_summed_to_other_parameters(const Call& c) {
  const auto x = c.op.integer("x_zp"), y = c.op.integer("y_zp");
  const bool same = x == y && c.x().quant == c.y().quant;
  return same ? 0 : c.x().elements() / c.y().elements();
}
int64_t channels_beside_8(const Call& c) {
  const ir::Shape& s = c.x().shape;
  return (s.size() == 4 ? s[1] : s.back()) % 8;
}

int64_t scale_height(const Call& c) {
  return c.y().shape[2] / c.x().shape[2];
}
int64_t scale_width(const Call& c) {
  return c.y().shape[3] / c.x().shape[3];
}

/// Number of table entries that match neither align_corners nor half-pixel centers.
int64_t rows_between_others(const Call& c) {
  const auto differ = [&](bool corners) {
    int64_t count = 0;
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const auto low = c.graph.value(c.op.inputs[1 + 2 * side]).constant->data<int32_t>();
      const auto weight = c.graph.value(c.op.inputs[2 + 2 * side]).constant->data<int32_t>();
      const auto in = static_cast<double>(c.x().shape[2 + side]);
      const auto out = static_cast<double>(c.y().shape[2 + side]);
      for (size_t i = 0; i < low.size(); ++i) {
        const auto at = static_cast<double>(i);
        const double centre = (at + 0.5) * in / out - 0.5;
        const double corner = out > 1 ? at * (in - 1) / (out - 1) : 0;
        const double source = std::max(corners ? corner : centre, 0.0);
        const double given = low[i] + weight[i] / 2048.0;
        // A table has a step of 1/2048. It may end a row early with the weight 1.
        count += std::abs(std::min(source, in - 1) - std::min(given, in - 1)) > 1.0 / 2048 ? 1 : 0;
      }
    }
    return count;
  };
  return std::min(differ(false), differ(true));
}

int64_t channels(const Call& c) {
  return c.x().shape[static_cast<size_t>(c.op.integer("dim"))];
}
int64_t rows(const Call& c) {
  return c.x().elements() / channels(c);
}
int64_t elements(const Call& c) {
  return c.x().elements();
}

int64_t repetitions(const Call& c) {
  const ir::Shape& to = c.y().shape;
  ir::Shape from = c.x().shape;
  from.insert(from.begin(), to.size() - from.size(), 1);
  int64_t most = 1;
  for (size_t i = 0; i < to.size(); ++i) most = std::max(most, to[i] / from[i]);
  return most;
}
int64_t runs_of_positions(const Call& c) {
  const auto positions = positions_of(c.graph, c.op);
  return positions ? positions->pieces() : 0;
}
/// Number of non-constant operands and results that are not int8.
int64_t values_beyond_int8(const Call& c) {
  int64_t count = c.y().dtype == ir::DType::kI8 ? 0 : 1;
  for (size_t i = 0; i < c.op.inputs.size(); ++i) {
    const bool wide = c.is_computed(i) && c.graph.type(c.op.inputs[i]).dtype != ir::DType::kI8;
    count += wide ? 1 : 0;
  }
  return count;
}
int64_t dimensions(const Call& c) {
  size_t most = std::max<size_t>(c.y().shape.size(), 1);
  for (const ValueId id : c.op.inputs) {
    if (id != ir::kNoValue) most = std::max(most, c.graph.type(id).shape.size());
  }
  return static_cast<int64_t>(most);
}

// --- the rows ----------------------------------------------------------------------------------

struct RunRow {
  OpKind op;
  uint8_t variants;
};
constexpr RunRow kRuns[] = {
#define NEUTRON_RUNS(op, variants, builtins) {OpKind::op, variants},
#include "engines/neutron/compiler/ops.def"
};

struct RefusalRow {
  OpKind op;
  uint8_t variants;
  std::string_view reason;
};
constexpr RefusalRow kRefusals[] = {
#define NEUTRON_REFUSE(op, variants, reason) {OpKind::op, variants, reason},
#include "engines/neutron/compiler/ops.def"
};

struct LimitRow {
  std::string_view op;
  uint8_t variants;
  std::string_view name;
  int64_t (*quantity)(const Call&);
  int64_t lowest, highest;
};
constexpr LimitRow kLimits[] = {
#define NEUTRON_LIMIT(op, variants, quantity, lowest, highest, source) \
  {#op, variants, #quantity, quantity, lowest, highest},
#include "engines/neutron/compiler/ops.def"
};

struct WantRow {
  std::string_view op;
  uint8_t variants;
  std::string_view words;
  int64_t (*quantity)(const Call&);
};
constexpr WantRow kWants[] = {
#define NEUTRON_WANTS(op, variants, quantity, words, source) {#op, variants, words, quantity},
#include "engines/neutron/compiler/ops.def"
};

struct ChoiceRow {
  std::string_view op;
  uint8_t variants;
  std::string_view name;
  int64_t (*quantity)(const Call&);
  std::initializer_list<int64_t> values;
};
const ChoiceRow kChoices[] = {
#define NEUTRON_CHOICE(op, variants, quantity, source, ...) \
  {#op, variants, #quantity, quantity, {__VA_ARGS__}},
#include "engines/neutron/compiler/ops.def"
};

struct FunctionRow {
  interchange::Function::Kind kind;
  uint8_t variants;
  std::string_view builtin, names;
};
constexpr FunctionRow kFunctions[] = {
#define NEUTRON_FUNCTION(function, variants, builtin, names) \
  {interchange::Function::Kind::function, variants, builtin, names},
#include "engines/neutron/compiler/ops.def"
};

struct FixedRow {
  interchange::Function::Kind kind;
  double scale;
  int32_t zero_point;
};
constexpr FixedRow kFixed[] = {
#define NEUTRON_FIXED(function, scale, zero_point) \
  {interchange::Function::Kind::function, scale, zero_point},
#include "engines/neutron/compiler/ops.def"
};

// --- queries -----------------------------------------------------------------------------------

std::string words(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  return text;
}

std::string expected(int64_t lowest, int64_t highest) {
  if (lowest == highest) return fmt::format("{}", lowest);
  if (highest == kUnlimited) return fmt::format("{} or more", lowest);
  return fmt::format("{} to {}", lowest, highest);
}

std::string exceeded_limit(const Call& call, Variant variant) {
  const std::string_view name = ir::op_name(call.op.kind);
  for (const WantRow& row : kWants) {
    const bool asked = row.op == name || row.op == "any";
    if (asked && has(row.variants, variant) && row.quantity(call) != 0) {
      return std::string(row.words);
    }
  }
  for (const LimitRow& row : kLimits) {
    if ((row.op != name && row.op != "any") || !has(row.variants, variant)) continue;
    const int64_t value = row.quantity(call);
    if (value >= row.lowest && value <= row.highest) continue;
    return fmt::format("{} is {}, expected {}", words(row.name), value,
                       expected(row.lowest, row.highest));
  }
  for (const ChoiceRow& row : kChoices) {
    if (row.op != name || !has(row.variants, variant)) continue;
    const int64_t value = row.quantity(call);
    if (std::ranges::find(row.values, value) != row.values.end()) continue;
    return fmt::format("{} is {}, expected one of {}", words(row.name), value,
                       fmt::join(row.values, ", "));
  }
  return "";
}

/// Returns the names of supported functions: "abs, clamp, hardtanh, relu, ..."
std::string functions_text(Variant variant) {
  std::string text;
  for (const FunctionRow& row : kFunctions) {
    if (!has(row.variants, variant) || row.names.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", row.names);
  }
  return text;
}

/// Returns the reason why no operator computes the table of a `lut`; empty if one does.
std::string no_function(const Call& call, Variant variant) {
  if (line_of(call.graph, call.op)) return "";
  const auto function = interchange::recognize_table_function(call.graph, call.op);
  const auto* row = function ? std::ranges::find(kFunctions, function->kind, &FunctionRow::kind)
                             : std::end(kFunctions);
  if (row == std::end(kFunctions) || !has(row->variants, variant)) {
    return fmt::format("its function is neither a clamped line nor one of {}",
                       functions_text(variant));
  }
  const auto* fixed = std::ranges::find(kFixed, function->kind, &FixedRow::kind);
  if (fixed == std::end(kFixed)) return "";
  const ir::Quant& given = *call.y().quant;
  if (given == ir::per_tensor(fixed->scale, fixed->zero_point)) return "";
  return fmt::format("scale and zero point of a {} are {} and {}, expected {} and {}", row->builtin,
                     given.scale[0], given.zero_point[0], fixed->scale, fixed->zero_point);
}

/// Returns the reason why the NPU does not have the operator; empty if it has.
std::string missing_operator_reason(const Call& call, Variant variant) {
  for (const RefusalRow& row : kRefusals) {
    if (row.op == call.op.kind && has(row.variants, variant)) return std::string(row.reason);
  }
  const auto* runs = std::ranges::find(kRuns, call.op.kind, &RunRow::op);
  if (runs == std::end(kRuns) || !has(runs->variants, variant))
    return "it is not an integer operator";
  const bool rounds = ir::op_info(call.op.kind).attr("rounding") != nullptr;
  return rounds && call.op.integer("rounding") == 2 ? "it rounds halves to even" : "";
}

/// Returns the reason why the operator is not supported in its present form; empty if it is.
std::string unsupported_reason(const Call& call, Variant variant) {
  std::string reason = missing_operator_reason(call, variant);
  if (reason.empty()) reason = exceeded_limit(call, variant);
  if (reason.empty() && call.op.kind == OpKind::lut) reason = no_function(call, variant);
  return reason;
}

}  // namespace

std::string_view variant_name(Variant variant) {
  switch (variant) {
    case Variant::kN3_64:
      return "neutron-n3-64";
    case Variant::kN1_16:
      return "neutron-n1-16";
    case Variant::kImx95:
      return "neutron-imx95";
  }
  return "";
}

std::string exceeded_limit_text(const ir::Graph& graph, const ir::Op& op, Variant variant) {
  return exceeded_limit({graph, op}, variant);
}

Legality rules_allow(const ir::Graph& graph, const ir::Op& op, Variant variant) {
  const auto refuse = [&](std::string_view reason) {
    return Legality{false, fmt::format("{}: {}", ir::op_name(op.kind), reason)};
  };
  if (const std::string reason = missing_operator_reason({graph, op}, variant); !reason.empty()) {
    return refuse(reason);
  }
  const auto one = single_op_graph(graph, op);
  if (!one.ok()) return refuse(one.error().message);
  const auto legalized = legalize(*one);
  if (!legalized.ok()) return refuse(legalized.error().message);
  for (const ir::Op& made : legalized->ops()) {
    const std::string reason = unsupported_reason({*legalized, made}, variant);
    if (reason.empty()) continue;
    const std::string name(ir::op_name(made.kind));
    return refuse(made.kind == op.kind ? reason
                                       : fmt::format("it is legalized to {}: {}", name, reason));
  }
  return {true, ""};
}

}  // namespace thimble::engine::neutron
