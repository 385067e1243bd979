// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/op_rows.h"

#include <algorithm>
#include <cmath>

#include "engines/neutron/compiler/positions.h"

namespace thimble::engine::neutron {

using ir::OpKind;
using ir::ValueId;

namespace {

// --- quantities --------------------------------------------------------------------------------

bool is_pool(const OpInGraph& c) {
  return c.op.kind == OpKind::max_pool2d || c.op.kind == OpKind::qavg_pool2d;
}
int64_t kernel_height(const OpInGraph& c) {
  return is_pool(c) ? c.side(ir::attr::kernel, 0) : c.shape(1)[2];
}
int64_t kernel_width(const OpInGraph& c) {
  return is_pool(c) ? c.side(ir::attr::kernel, 1) : c.shape(1)[3];
}
int64_t stride_height(const OpInGraph& c) {
  return c.side(ir::attr::stride, 0);
}
int64_t stride_width(const OpInGraph& c) {
  return c.side(ir::attr::stride, 1);
}
int64_t dilation_height(const OpInGraph& c) {
  return c.side(ir::attr::dilation, 0);
}
int64_t dilation_width(const OpInGraph& c) {
  return c.side(ir::attr::dilation, 1);
}
int64_t batch(const OpInGraph& c) {
  return c.shape(0)[0];
}

int64_t kernel_minus_stride(const OpInGraph& c) {
  return std::min(c.shape(1)[2] - stride_height(c), c.shape(1)[3] - stride_width(c));
}
int64_t kernel_minus_padding(const OpInGraph& c) {
  const auto& padding = c.op.get(ir::attr::padding);
  const int64_t high = std::max(padding[0], padding[2]), wide = std::max(padding[1], padding[3]);
  return std::min(c.shape(1)[2] - high, c.shape(1)[3] - wide);
}

int64_t output_padding_beyond_padding(const OpInGraph& c) {
  const auto &padding = c.op.get(ir::attr::padding), &extra = c.op.get(ir::attr::output_padding);
  return std::max<int64_t>({extra[0] - padding[2], extra[1] - padding[3], 0});
}

/// Number of products per output element, with channels rounded up to 8. A grouped convolution is
/// checked after legalization, when its groups are separate convolutions (legalize.h).
int64_t products_per_element(const OpInGraph& c) {
  const ir::Shape& w = c.shape(1);
  const int64_t channels =
      c.op.kind == OpKind::qconv2d ? w[1] : w[0] / std::max<int64_t>(c.op.get(ir::attr::groups), 1);
  return w[2] * w[3] * round_up_to_group(channels);
}

int64_t computed_weights(const OpInGraph& c) {
  int64_t count = 0;
  for (size_t i = 1; i < c.op.inputs.size(); ++i) count += c.is_computed(i) ? 1 : 0;
  return count;
}
int64_t computed_slopes(const OpInGraph& c) {
  return c.is_computed(1) ? 1 : 0;
}
int64_t computed_positions(const OpInGraph& c) {
  return c.is_computed(1) ? 1 : 0;
}

int64_t zero_point_a(const OpInGraph& c) {
  return c.op.get(ir::attr::a_zp);
}
int64_t zero_point_b(const OpInGraph& c) {
  return c.op.get(ir::attr::b_zp);
}
/// Number of matrices that are reused for several matrices of the other operand, unless they can
/// become rows of one matrix.
int64_t repeated_matrices(const OpInGraph& c) {
  const auto count = [](const ir::Shape& s) {
    return ir::element_count(
        ir::Shape(s.begin(), s.end() - std::min<std::ptrdiff_t>(2, std::ssize(s))));
  };
  const int64_t all = count(c.y().shape), a = count(c.shape(0)), b = count(c.shape(1));
  return a == all && (b == all || b == 1) ? 0 : all - std::min(a, b);
}

int64_t elements_missing_in_both_operands(const OpInGraph& c) {
  const int64_t a = ir::element_count(c.shape(0)), b = ir::element_count(c.shape(1));
  return c.y().elements() - std::max(a, b);
}
int64_t broadcast_operands(const OpInGraph& c) {
  int64_t count = 0;
  for (const size_t i : {size_t{0}, size_t{1}}) count += c.shape(i) == c.y().shape ? 0 : 1;
  return count;
}

int64_t operands_with_other_quantization(const OpInGraph& c) {
  return std::ranges::count_if(c.op.inputs, [&](ValueId id) {
    return id != ir::kNoValue && c.graph.type(id).quant != c.y().quant;
  });
}

int64_t size_remainder(const OpInGraph& c) {
  int64_t rows = 0;
  for (const size_t dim : {size_t{2}, size_t{3}}) {
    const int64_t from = c.x().shape[dim], to = c.y().shape[dim];
    rows += std::max(from, to) % std::min(from, to);
  }
  return rows;
}
/// Number of padding rows and columns that windows read. ExecuTorch's converter requires
/// count_include_pad; padding that counts is a separate `pad` here.
int64_t uncounted_padding(const OpInGraph& c) {
  const auto& padding = c.op.get(ir::attr::padding);
  int64_t reached = 0;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const int64_t last = (c.y().shape[2 + side] - 1) * c.side(ir::attr::stride, side);
    const int64_t end = last + c.side(ir::attr::kernel, side) - padding[side];
    reached += padding[side] + std::max<int64_t>(end - c.x().shape[2 + side], 0);
  }
  return reached;
}
int64_t elements_summed_to_other_parameters(const OpInGraph& c) {
  const auto x = c.op.get(ir::attr::x_zp), y = c.op.get(ir::attr::y_zp);
  const bool same = x == y && c.x().quant == c.y().quant;
  return same ? 0 : c.x().elements() / c.y().elements();
}
int64_t channels_modulo_8(const OpInGraph& c) {
  const ir::Shape& s = c.x().shape;
  return (s.size() == 4 ? s[1] : s.back()) % 8;
}

int64_t scale_height(const OpInGraph& c) {
  return c.y().shape[2] / c.x().shape[2];
}
int64_t scale_width(const OpInGraph& c) {
  return c.y().shape[3] / c.x().shape[3];
}

/// Number of table entries that match neither align_corners nor half-pixel centers.
int64_t unsupported_positions(const OpInGraph& c) {
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

int64_t channels(const OpInGraph& c) {
  return c.x().shape[static_cast<size_t>(c.op.get(ir::attr::dim))];
}
int64_t rows(const OpInGraph& c) {
  return c.x().elements() / channels(c);
}
int64_t elements(const OpInGraph& c) {
  return c.x().elements();
}

int64_t repetitions(const OpInGraph& c) {
  const ir::Shape& to = c.y().shape;
  ir::Shape from = c.x().shape;
  from.insert(from.begin(), to.size() - from.size(), 1);
  int64_t most = 1;
  for (size_t i = 0; i < to.size(); ++i) most = std::max(most, to[i] / from[i]);
  return most;
}
int64_t runs_of_positions(const OpInGraph& c) {
  const auto positions = positions_of(c.graph, c.op);
  return positions ? positions->pieces() : 0;
}
/// Number of non-constant operands and results that are not int8.
int64_t values_not_int8(const OpInGraph& c) {
  int64_t count = c.y().dtype == ir::DType::kI8 ? 0 : 1;
  for (size_t i = 0; i < c.op.inputs.size(); ++i) {
    const bool wide = c.is_computed(i) && c.graph.type(c.op.inputs[i]).dtype != ir::DType::kI8;
    count += wide ? 1 : 0;
  }
  return count;
}
int64_t dimensions(const OpInGraph& c) {
  size_t most = std::max<size_t>(c.y().shape.size(), 1);
  for (const ValueId id : c.op.inputs) {
    if (id != ir::kNoValue) most = std::max(most, c.graph.type(id).shape.size());
  }
  return static_cast<int64_t>(most);
}

// --- rows --------------------------------------------------------------------------------------

constexpr SupportedRow kSupported[] = {
#define NEUTRON_SUPPORTED(op, variants, traits, litert_operators) {OpKind::op, variants, traits},
#include "engines/neutron/compiler/ops.def"
};

constexpr RefusalRow kRefusals[] = {
#define NEUTRON_REFUSE(op, variants, reason) {OpKind::op, variants, reason},
#include "engines/neutron/compiler/ops.def"
};

/// Column `op` of the following tables.
namespace column {
using enum ir::OpKind;
constexpr ir::OpKind any = kAnyOp;
}  // namespace column

constexpr LimitRow kLimits[] = {
#define NEUTRON_LIMIT(op, variants, quantity, lowest, highest, source) \
  {column::op, variants, #quantity, quantity, lowest, highest},
#include "engines/neutron/compiler/ops.def"
};

constexpr ZeroRow kZeroRows[] = {
#define NEUTRON_REQUIRE_ZERO(op, variants, quantity, message, source) \
  {column::op, variants, message, quantity},
#include "engines/neutron/compiler/ops.def"
};

const ChoiceRow kChoices[] = {
#define NEUTRON_CHOICE(op, variants, quantity, source, ...) \
  {column::op, variants, #quantity, quantity, {__VA_ARGS__}},
#include "engines/neutron/compiler/ops.def"
};

constexpr FunctionRow kFunctions[] = {
#define NEUTRON_FUNCTION(function, variants, builtin, names) \
  {interchange::Function::Kind::function, variants, builtin, names},
#include "engines/neutron/compiler/ops.def"
};

constexpr FixedRow kFixed[] = {
#define NEUTRON_FIXED(function, scale, zero_point) \
  {interchange::Function::Kind::function, scale, zero_point},
#include "engines/neutron/compiler/ops.def"
};

}  // namespace

bool has_trait(ir::OpKind kind, uint8_t trait) {
  const auto* const row = std::ranges::find(kSupported, kind, &SupportedRow::op);
  return row != std::end(kSupported) && (row->traits & trait) != 0;
}

std::span<const SupportedRow> supported_rows() {
  return kSupported;
}
std::span<const RefusalRow> refusal_rows() {
  return kRefusals;
}
std::span<const LimitRow> limit_rows() {
  return kLimits;
}
std::span<const ZeroRow> zero_rows() {
  return kZeroRows;
}
std::span<const ChoiceRow> choice_rows() {
  return kChoices;
}
std::span<const FunctionRow> function_rows() {
  return kFunctions;
}
std::span<const FixedRow> fixed_rows() {
  return kFixed;
}

std::string range_text(int64_t lowest, int64_t highest) {
  if (lowest == highest) return fmt::format("{}", lowest);
  if (highest == kUnlimited) return fmt::format("at least {}", lowest);
  return fmt::format("{} to {}", lowest, highest);
}

std::string functions_text(Variant variant) {
  std::string text;
  for (const FunctionRow& row : kFunctions) {
    if (!has(row.variants, variant) || row.names.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", row.names);
  }
  return text;
}

}  // namespace thimble::engine::neutron
