// SPDX-License-Identifier: Apache-2.0
// Both products copy b first, so that the innermost loop reads consecutive elements: as panels of
// double (panels.h), or as columns of int16 without zero point, one after the other (dot()).

#include "quant/fast/matmul.h"

#include <algorithm>
#include <cstdint>

#include "quant/fast/code_product.h"
#include "quant/fast/panels.h"

namespace thimble::quant {
namespace {

using eval::Call;

/// Sizes of one matrix product, and the matrices of the operands by matrix of the result.
struct Product {
  int64_t rows, columns, depth;
  bool transposed;  // b is [columns, depth]
  ir::Shape batch;
  eval::OperandStrides a_steps, b_steps;  // along `batch`, in elements

  explicit Product(const Call& call)
      : rows(call.output.shape[call.output.shape.size() - 2]),
        columns(call.output.shape.back()),
        depth(call.shape(0).back()),
        transposed(call.get(ir::attr::transpose_b) != 0),
        batch(call.output.shape.begin(), call.output.shape.end() - 2),
        a_steps(steps(call.shape(0), rows * depth)),
        b_steps(steps(call.shape(1), columns * depth)) {}

  /// Calls visit(index of the matrix, offset in a, offset in b).
  template <typename Visit>
  void for_each_matrix(Visit visit) const {
    eval::for_each<2>(batch, {a_steps, b_steps}, [&](size_t i, const auto& offset) {
      visit(static_cast<int64_t>(i), offset[0], offset[1]);
    });
  }

 private:
  [[nodiscard]] eval::OperandStrides steps(const ir::Shape& operand, int64_t matrix) const {
    eval::OperandStrides result =
        eval::broadcast_strides({operand.begin(), operand.end() - 2}, batch);
    for (int64_t& step : result) step *= matrix;
    return result;
  }
};

void multiply(const Product& p, const double* a, const float* b, double scale, float* y,
              double* panel) {
  const ColumnsOfFloats matrix{b, p.depth, p.columns, p.transposed ? 1 : p.columns,
                               p.transposed ? p.depth : 1};
  double sums[kPanelColumns];
  for (int64_t first = 0; first < p.columns; first += kPanelColumns) {
    fill_panel(matrix, first, panel);
    const int64_t count = std::min(kPanelColumns, p.columns - first);
    for (int64_t row = 0; row < p.rows; ++row) {
      multiply_panel(a + row * p.depth, panel, p.depth, sums);
      float* to = y + row * p.columns + first;
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(sums[i] * scale);
    }
  }
}

/// Copies vectors of `depth` codes to vectors of `padded` terms without zero point.
void widen(const int8_t* codes, int64_t vectors, int64_t vector_step, int64_t depth,
           int64_t term_step, int32_t zero_point, int64_t padded, int16_t* to) {
  for (int64_t i = 0; i < vectors; ++i, codes += vector_step, to += padded) {
    for (int64_t k = 0; k < depth; ++k) {
      to[k] = static_cast<int16_t>(codes[k * term_step] - zero_point);
    }
    std::fill(to + depth, to + padded, int16_t{0});
  }
}

}  // namespace

void run_matmul(const Call& call, Scratch& scratch) {
  const Product p(call);
  const double scale = call.get(ir::attr::scale);
  const auto a = call.input<float>(0);
  double* rows = scratch.get<double>(0, static_cast<size_t>(p.rows * p.depth));
  double* panel = scratch.get<double>(1, static_cast<size_t>(p.depth * kPanelColumns));
  p.for_each_matrix([&](int64_t matrix, int64_t a_first, int64_t b_first) {
    for (int64_t i = 0; i < p.rows * p.depth; ++i) {
      rows[i] = static_cast<double>(a[static_cast<size_t>(a_first + i)]);
    }
    multiply(p, rows, call.input<float>(1).data() + b_first, scale,
             call.result<float>().data() + matrix * p.rows * p.columns, panel);
  });
}

const int32_t* qmatmul_sums(const Call& call, Scratch& scratch) {
  const Product p(call);
  if (p.depth > INT32_MAX / (255 * 255)) return nullptr;
  const auto a_zp = static_cast<int32_t>(call.get(ir::attr::a_zp));
  const auto b_zp = static_cast<int32_t>(call.get(ir::attr::b_zp));
  const int64_t padded = (p.depth + kDotTerms - 1) / kDotTerms * kDotTerms;
  int16_t* a = scratch.get<int16_t>(0, static_cast<size_t>(p.rows * padded));
  int16_t* b = scratch.get<int16_t>(1, static_cast<size_t>(p.columns * padded));
  int32_t* sums = scratch.get<int32_t>(2, call.result<int8_t>().size());
  p.for_each_matrix([&](int64_t matrix, int64_t a_first, int64_t b_first) {
    widen(call.input<int8_t>(0).data() + a_first, p.rows, p.depth, p.depth, 1, a_zp, padded, a);
    widen(call.input<int8_t>(1).data() + b_first, p.columns, p.transposed ? p.depth : 1, p.depth,
          p.transposed ? 1 : p.columns, b_zp, padded, b);
    int32_t* to = sums + matrix * p.rows * p.columns;
    for (int64_t row = 0; row < p.rows; ++row) {
      for (int64_t column = 0; column < p.columns; ++column) {
        *to++ = dot(a + row * padded, b + column * padded, padded);
      }
    }
  });
  return sums;
}

}  // namespace thimble::quant
