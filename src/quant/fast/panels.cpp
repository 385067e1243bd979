// SPDX-License-Identifier: Apache-2.0
#include "quant/fast/panels.h"

#include <Eigen/Core>
#include <algorithm>

namespace thimble::quant {
namespace {

using PanelRow = Eigen::Array<double, kPanelColumns, 1>;

}  // namespace

void fill_panel(const ColumnsOfFloats& m, int64_t first, double* panel) {
  const int64_t count = std::min(kPanelColumns, m.columns - first);
  if (count < kPanelColumns) std::fill(panel, panel + m.depth * kPanelColumns, 0.0);
  const float* from = m.data + first * m.column_step;
  for (int64_t k = 0; k < m.depth; ++k) {
    for (int64_t i = 0; i < count; ++i) {
      panel[k * kPanelColumns + i] = static_cast<double>(from[k * m.term_step + i * m.column_step]);
    }
  }
}

void fill_panels(const ColumnsOfFloats& m, double* panels) {
  for (int64_t first = 0; first < m.columns; first += kPanelColumns) {
    fill_panel(m, first, panels + first * m.depth);
  }
}

void multiply_panel(const double* x, const double* panel, int64_t depth, double* sums) {
  PanelRow row = PanelRow::Zero();
  for (int64_t k = 0; k < depth; ++k) {
    row += x[k] * Eigen::Map<const PanelRow>(panel + k * kPanelColumns);
  }
  Eigen::Map<PanelRow> to(sums);
  to = row;
}

void multiply_panels(const double* x, const double* panels, int64_t depth, int64_t columns,
                     double* sums) {
  for (int64_t first = 0; first < columns; first += kPanelColumns) {
    multiply_panel(x, panels + first * depth, depth, sums + first);
  }
}

}  // namespace thimble::quant
