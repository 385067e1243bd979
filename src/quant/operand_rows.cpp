// SPDX-License-Identifier: Apache-2.0
#include "quant/operand_rows.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::Tensor;

/// Returns true if only this operator reads its weights, and no other constant has the same bytes.
/// Equal constants are stored once, so they must remain equal.
class OwnWeights {
 public:
  explicit OwnWeights(const Graph& graph) : graph_(graph), uses_(graph.value_count(), 0) {
    for (const Op& op : graph.ops()) {
      for (const ir::ValueId id : op.inputs) {
        if (id != ir::kNoValue) ++uses_[ir::index_of(id)];
      }
      if (is_candidate(op)) ++alike_[text_of(op)];
    }
  }
  [[nodiscard]] bool has(const Op& op) const {
    return is_candidate(op) && uses_[ir::index_of(op.inputs[1])] == 1 &&
           alike_.at(text_of(op)) == 1;
  }

 private:
  [[nodiscard]] bool is_candidate(const Op& op) const {
    return (op.kind == OpKind::conv2d || op.kind == OpKind::linear) &&
           graph_.value(op.inputs[1]).constant != nullptr;
  }
  [[nodiscard]] std::string_view text_of(const Op& op) const {
    const auto& bytes = graph_.value(op.inputs[1]).constant->bytes;
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  const Graph& graph_;
  std::vector<int> uses_;
  std::map<std::string_view, int> alike_;
};

/// Returns the number of output positions of one run.
int64_t positions_of(const Graph& graph, const Op& op) {
  return graph.type(op.output).elements() / graph.type(op.inputs[1]).shape[0];
}

/// Returns the cost of the second moments, their factorization, and the rounding.
double work_of(const OperandMatrix& matrix) {
  const auto terms = static_cast<double>(matrix.terms), groups = static_cast<double>(matrix.groups);
  const double moments = groups * terms * terms * static_cast<double>(matrix.columns);
  constexpr double kScalar = 4;  // cost of a step in double, in steps of the matrix product
  return moments + kScalar * (groups * terms * terms * terms / 3 +
                              static_cast<double>(matrix.outputs) * terms * terms);
}

constexpr int64_t kElementsMax = int64_t{1} << 26;  // of the vectors of all operators: 256 MiB

OperandMatrix matrix_for(const Graph& graph, size_t index, int64_t samples) {
  constexpr int64_t kFewest = 256, kMost = 2048, kPerTerm = 2;
  const Op& op = graph.ops()[index];
  const ir::Shape& shape = graph.type(op.inputs[1]).shape;
  OperandMatrix matrix;
  matrix.op = index;
  matrix.outputs = shape[0];
  matrix.terms = ir::element_count(shape) / shape[0];
  if (op.kind == OpKind::conv2d) matrix.groups = op.get(ir::attr::groups);
  const int64_t wanted = std::clamp(kPerTerm * matrix.terms, kFewest, kMost);
  matrix.per_sample = std::min(positions_of(graph, op), (wanted + samples - 1) / samples);
  // One column for each sample may be more than wanted.
  matrix.columns = matrix.per_sample * std::min(samples, 2 * kMost / matrix.per_sample);
  return matrix;
}

/// Copies the patch of one output position to a column.
void copy_patch(const Graph& graph, const Op& op, const Tensor& operand, int64_t position,
                float* column, int64_t row_step) {
  const ir::Shape& in = operand.shape;  // [N, C, H, W]
  const ir::Shape& out = graph.type(op.output).shape;
  const ir::Shape& w = graph.type(op.inputs[1]).shape;
  const auto& stride = op.get(ir::attr::stride);
  const auto& padding = op.get(ir::attr::padding);
  const auto& dilation = op.get(ir::attr::dilation);
  const int64_t image = position / (out[2] * out[3]);
  const int64_t top = position / out[3] % out[2] * stride[0] - padding[0];
  const int64_t left = position % out[3] * stride[1] - padding[1];
  const float* x = operand.data<float>().data() + image * in[1] * in[2] * in[3];
  for (int64_t channel = 0; channel < in[1]; ++channel, x += in[2] * in[3]) {
    for (int64_t kh = 0; kh < w[2]; ++kh) {
      const int64_t ih = top + kh * dilation[0];
      for (int64_t kw = 0; kw < w[3]; ++kw, column += row_step) {
        const int64_t iw = left + kw * dilation[1];
        const bool inside = ih >= 0 && ih < in[2] && iw >= 0 && iw < in[3];
        *column = inside ? x[ih * in[3] + iw] : 0.0F;
      }
    }
  }
}

}  // namespace

OperandRows OperandRows::choose(const Graph& graph, const Plan& plan, int64_t first_sample,
                                int64_t samples, double work) {
  OperandRows result;
  result.first_sample_ = first_sample;
  result.place_.resize(graph.ops().size(), -1);
  samples -= first_sample;
  if (samples < 1 || !(work > 0)) return result;
  const OwnWeights own(graph);
  std::vector<OperandMatrix> all;
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (plan.ops[i].role != Role::kLower || !own.has(op)) continue;
    if (plan.pins.constants.contains(op.inputs[1])) continue;
    all.push_back(matrix_for(graph, i, samples));
  }
  std::ranges::stable_sort(all, {}, work_of);
  int64_t left = kElementsMax;
  for (OperandMatrix& matrix : all) {
    const int64_t elements = matrix.groups * matrix.terms * matrix.columns;
    work -= work_of(matrix);
    left -= elements;
    if (work < 0 || left < 0) break;
    matrix.elements.resize(static_cast<size_t>(elements));
    result.place_[matrix.op] = static_cast<int>(result.matrices_.size());
    result.matrices_.push_back(std::move(matrix));
  }
  return result;
}

void OperandRows::add(const Graph& graph, size_t op_index, int64_t sample, const Tensor& operand) {
  sample -= first_sample_;
  if (sample < 0 || place_.empty() || place_[op_index] < 0) return;
  OperandMatrix& matrix = matrices_[static_cast<size_t>(place_[op_index])];
  if ((sample + 1) * matrix.per_sample > matrix.columns) return;
  const Op& op = graph.ops()[op_index];
  const int64_t positions = positions_of(graph, op);
  constexpr int64_t kShift = 7919;  // a prime: samples contribute different positions
  for (int64_t i = 0; i < matrix.per_sample; ++i) {
    const int64_t position = (i * positions / matrix.per_sample + sample * kShift) % positions;
    float* column = matrix.elements.data() + sample * matrix.per_sample + i;
    if (op.kind == OpKind::conv2d) {
      copy_patch(graph, op, operand, position, column, matrix.columns);
      continue;
    }
    const float* row = operand.data<float>().data() + position * matrix.terms;
    for (int64_t term = 0; term < matrix.terms; ++term) column[term * matrix.columns] = row[term];
  }
}

}  // namespace thimble::quant
