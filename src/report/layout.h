// SPDX-License-Identifier: Apache-2.0
#pragma once
// Draws a directed graph in layers, from top to bottom (K. Sugiyama, S. Tagawa, M. Toda: "Methods
// for Visual Understanding of Hierarchical System Structures", 1981):
//
//   1. A node's layer is the length of the longest path to it. A node without operands moves down
//      to its first reader. An edge over several layers gets a bend point in each of them.
//   2. The order in a layer: barycenters of the neighbours, in sweeps down and up; the order with
//      the fewest crossings is kept.
//   3. x: in sweeps, each layer is placed with the least weighted distance to its neighbours
//      (weighted medians, with pooling of adjacent violators). Medians keep chains exactly
//      vertical, where means would bend them. Then the bend points of each long edge are aligned.
//   4. A network is far longer than wide. The layers are therefore cut into columns, as the text of
//      a newspaper, for the requested ratio of width to height; cuts are made where few edges pass.
//
// Graphviz was rejected: its libraries and their dependencies are larger than Thimble, and it has
// no columns. 1,000 operators take a tenth of a second. Test: tests/report/report_layout_test.cpp.

#include <cstddef>
#include <span>
#include <vector>

namespace thimble::report {

struct LayoutOptions {
  double node_width = 160, node_height = 40;
  double aspect = 1.35;  // width / height
};

struct LayoutEdge {
  size_t from = 0, to = 0;
};

struct Point {
  double x = 0, y = 0;
};

/// A smooth curve goes down from point to point, except where two successive points have the same x
/// or the same y: there is a straight line.
using Route = std::vector<Point>;

struct Layout {
  double width = 0, height = 0;
  std::vector<Point> centers;  // per node
  std::vector<Route> routes;   // per edge, from the bottom of a node to the top of a node
};

/// `edges` have no cycle.
[[nodiscard]] Layout layered_layout(size_t nodes, std::span<const LayoutEdge> edges,
                                    const LayoutOptions& options);

}  // namespace thimble::report
