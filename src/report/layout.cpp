// SPDX-License-Identifier: Apache-2.0
#include "report/layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace thimble::report {
namespace {

constexpr double kNodeGap = 24;    // between nodes of a layer
constexpr double kBendWidth = 14;  // space of an edge between nodes
constexpr double kLayerGap = 26;
constexpr double kColumnGap = 36;
constexpr double kLaneWidth = 7;  // between parallel edges from one column to the next
constexpr double kMargin = 12;
constexpr int kOrderSweeps = 12;
constexpr int kPositionSweeps = 10;

/// A node, or a bend of an edge in a layer that the edge passes.
struct Item {
  bool bend = false;
  size_t layer = 0;
  double x = 0;
};

/// Part of an edge between two successive layers.
struct Link {
  size_t item = 0;
  double weight = 1;
};

struct Graph {
  std::vector<Item> items;                  // the nodes, then the bends
  std::vector<std::vector<Link>> up, down;  // per item
  std::vector<std::vector<size_t>> layers;  // items of each layer, from left to right
  std::vector<std::vector<size_t>> chains;  // per edge: its items from top to bottom
};

/// Returns the layer of each node.
std::vector<size_t> assign_layers(size_t nodes, std::span<const LayoutEdge> edges) {
  std::vector<std::vector<size_t>> readers(nodes);
  std::vector<size_t> waiting(nodes, 0), layer(nodes, 0), ready;
  for (const LayoutEdge& edge : edges) {
    readers[edge.from].push_back(edge.to);
    ++waiting[edge.to];
  }
  const std::vector<size_t> operands = waiting;
  for (size_t node = 0; node < nodes; ++node) {
    if (waiting[node] == 0) ready.push_back(node);
  }
  for (size_t i = 0; i < ready.size(); ++i) {
    for (const size_t reader : readers[ready[i]]) {
      layer[reader] = std::max(layer[reader], layer[ready[i]] + 1);
      if (--waiting[reader] == 0) ready.push_back(reader);
    }
  }
  for (size_t node = 0; node < nodes; ++node) {
    if (operands[node] > 0 || readers[node].empty()) continue;
    size_t first = std::numeric_limits<size_t>::max();
    for (const size_t reader : readers[node]) first = std::min(first, layer[reader]);
    layer[node] = first - 1;
  }
  return layer;
}

/// Weights of the distance between neighbours: chains of nodes are straight before long edges,
/// which straighten_bends() aligns afterwards.
double weight_of(const Item& a, const Item& b) {
  if (a.bend && b.bend) return 1;
  return a.bend || b.bend ? 0.5 : 3;
}

Graph with_bends(size_t nodes, std::span<const LayoutEdge> edges) {
  const std::vector<size_t> layer = assign_layers(nodes, edges);
  Graph graph;
  for (const size_t each : layer) graph.items.push_back({false, each, 0});
  for (const LayoutEdge& edge : edges) {
    std::vector<size_t> chain = {edge.from};
    for (size_t between = layer[edge.from] + 1; between < layer[edge.to]; ++between) {
      chain.push_back(graph.items.size());
      graph.items.push_back({true, between, 0});
    }
    chain.push_back(edge.to);
    graph.chains.push_back(std::move(chain));
  }
  graph.up.resize(graph.items.size());
  graph.down.resize(graph.items.size());
  for (const std::vector<size_t>& chain : graph.chains) {
    for (size_t i = 0; i + 1 < chain.size(); ++i) {
      const double weight = weight_of(graph.items[chain[i]], graph.items[chain[i + 1]]);
      graph.down[chain[i]].push_back({chain[i + 1], weight});
      graph.up[chain[i + 1]].push_back({chain[i], weight});
    }
  }
  const size_t layers = nodes == 0 ? 0 : 1 + *std::ranges::max_element(layer);
  graph.layers.resize(layers);
  // The first order: depth first from the top, so that an edge begins close to its end.
  std::vector<bool> seen(graph.items.size(), false);
  std::vector<size_t> stack;
  for (size_t node = nodes; node-- > 0;) {
    if (graph.up[node].empty()) stack.push_back(node);
  }
  while (!stack.empty()) {
    const size_t item = stack.back();
    stack.pop_back();
    if (seen[item]) continue;
    seen[item] = true;
    graph.layers[graph.items[item].layer].push_back(item);
    const std::vector<Link>& links = graph.down[item];
    for (size_t i = links.size(); i-- > 0;) stack.push_back(links[i].item);
  }
  return graph;
}

/// Returns the position of each item in its layer.
std::vector<size_t> ranks_of(const Graph& graph) {
  std::vector<size_t> ranks(graph.items.size(), 0);
  for (const std::vector<size_t>& layer : graph.layers) {
    for (size_t i = 0; i < layer.size(); ++i) ranks[layer[i]] = i;
  }
  return ranks;
}

/// Returns the number of crossings of all edges: inversions, counted with a binary indexed tree.
int64_t crossings(const Graph& graph) {
  const std::vector<size_t> ranks = ranks_of(graph);
  int64_t count = 0;
  for (size_t layer = 0; layer + 1 < graph.layers.size(); ++layer) {
    std::vector<int64_t> tree(graph.layers[layer + 1].size() + 1, 0);
    int64_t added = 0;
    for (const size_t item : graph.layers[layer]) {
      std::vector<size_t> ends;
      for (const Link& link : graph.down[item]) ends.push_back(ranks[link.item]);
      for (const size_t end : ends) {
        int64_t not_right = 0;
        for (size_t i = end + 1; i > 0; i -= i & (~i + 1)) not_right += tree[i];
        count += added - not_right;
      }
      for (const size_t end : ends) {
        for (size_t i = end + 1; i < tree.size(); i += i & (~i + 1)) ++tree[i];
        ++added;
      }
    }
  }
  return count;
}

/// Sorts a layer by the mean position of each item's neighbours; items without any stay in place.
void sort_by_barycenter(const std::vector<std::vector<Link>>& neighbours,
                        const std::vector<size_t>& ranks, std::vector<size_t>& layer) {
  std::vector<std::pair<double, size_t>> keyed;
  std::vector<size_t> places;
  for (size_t i = 0; i < layer.size(); ++i) {
    const std::vector<Link>& links = neighbours[layer[i]];
    if (links.empty()) continue;
    double sum = 0;
    for (const Link& link : links) sum += static_cast<double>(ranks[link.item]);
    keyed.emplace_back(sum / static_cast<double>(links.size()), layer[i]);
    places.push_back(i);
  }
  std::ranges::stable_sort(keyed, {}, &std::pair<double, size_t>::first);
  for (size_t i = 0; i < places.size(); ++i) layer[places[i]] = keyed[i].second;
}

void order_layers(Graph& graph) {
  std::vector<std::vector<size_t>> best = graph.layers;
  int64_t fewest = crossings(graph);
  for (int sweep = 0; sweep < kOrderSweeps && fewest > 0; ++sweep) {
    const bool downwards = sweep % 2 == 0;
    std::vector<size_t> ranks = ranks_of(graph);
    for (size_t i = 1; i < graph.layers.size(); ++i) {
      std::vector<size_t>& layer = graph.layers[downwards ? i : graph.layers.size() - 1 - i];
      sort_by_barycenter(downwards ? graph.up : graph.down, ranks, layer);
      for (size_t k = 0; k < layer.size(); ++k) ranks[layer[k]] = k;
    }
    const int64_t now = crossings(graph);
    if (now >= fewest) continue;
    fewest = now;
    best = graph.layers;
  }
  graph.layers = std::move(best);
}

/// Targets of one or more items of a layer that touch each other.
struct Block {
  std::vector<std::pair<double, double>> targets;  // x, weight
  size_t items = 1;
  double x = 0;

  /// Middle of the interval with the least weighted distance to all targets.
  void place() {
    std::ranges::sort(targets);
    double total = 0, below = 0;
    for (const auto& [target, weight] : targets) total += weight;
    for (size_t i = 0; i < targets.size(); ++i) {
      below += targets[i].second;
      if (below * 2 < total) continue;
      x = targets[i].first;
      if (below * 2 == total && i + 1 < targets.size()) x = (x + targets[i + 1].first) / 2;
      return;
    }
  }
};

double half_width(const Item& item, const LayoutOptions& options) {
  return (item.bend ? kBendWidth : options.node_width + kNodeGap) / 2;
}

/// Places the items of a layer close to their neighbours, without overlap, in their order.
void place_layer(Graph& graph, const std::vector<size_t>& layer, bool by_up, bool by_down,
                 const LayoutOptions& options) {
  std::vector<double> shift;  // distance of each item from the first one if all touch
  std::vector<Block> blocks;
  for (size_t i = 0; i < layer.size(); ++i) {
    const Item& item = graph.items[layer[i]];
    shift.push_back(i == 0 ? 0
                           : shift.back() + half_width(graph.items[layer[i - 1]], options) +
                                 half_width(item, options));
    Block block;
    for (const auto* links : {by_up ? &graph.up : nullptr, by_down ? &graph.down : nullptr}) {
      if (links == nullptr) continue;
      for (const Link& link : (*links)[layer[i]]) {
        block.targets.emplace_back(graph.items[link.item].x - shift[i], link.weight);
      }
    }
    if (block.targets.empty()) block.targets.emplace_back(item.x - shift[i], 0.1);
    block.place();
    blocks.push_back(std::move(block));
    while (blocks.size() > 1 && blocks[blocks.size() - 2].x > blocks.back().x) {
      Block last = std::move(blocks.back());
      blocks.pop_back();
      Block& merged = blocks.back();
      merged.targets.insert(merged.targets.end(), last.targets.begin(), last.targets.end());
      merged.items += last.items;
      merged.place();
    }
  }
  size_t i = 0;
  for (const Block& block : blocks) {
    for (size_t k = 0; k < block.items; ++k, ++i) graph.items[layer[i]].x = block.x + shift[i];
  }
}

/// Gives all bends of an edge the same x, if there is a place between the nodes of all its layers.
/// Bends of other edges to the right give way; the edges are aligned from left to right.
void straighten_bends(Graph& graph, const LayoutOptions& options) {
  const std::vector<size_t> ranks = ranks_of(graph);
  const auto distance = [&](size_t a, size_t b) {
    return half_width(graph.items[a], options) + half_width(graph.items[b], options);
  };
  std::vector<std::pair<size_t, size_t>> order;  // largest rank of its bends, edge
  for (size_t edge = 0; edge < graph.chains.size(); ++edge) {
    const std::vector<size_t>& chain = graph.chains[edge];
    if (chain.size() < 3) continue;
    size_t rank = 0;
    for (size_t i = 1; i + 1 < chain.size(); ++i) rank = std::max(rank, ranks[chain[i]]);
    order.emplace_back(rank, edge);
  }
  std::ranges::sort(order);
  for (const auto& [rank, edge] : order) {
    const std::vector<size_t>& chain = graph.chains[edge];
    double low = std::numeric_limits<double>::lowest(), high = std::numeric_limits<double>::max();
    std::vector<double> now;
    for (size_t i = 1; i + 1 < chain.size(); ++i) {
      const Item& item = graph.items[chain[i]];
      const std::vector<size_t>& layer = graph.layers[item.layer];
      now.push_back(item.x);
      if (ranks[chain[i]] > 0) {
        const size_t left = layer[ranks[chain[i]] - 1];
        low = std::max(low, graph.items[left].x + distance(left, chain[i]));
      }
      double between = 0;  // bends to the right that give way
      for (size_t k = ranks[chain[i]] + 1; k < layer.size(); ++k) {
        between += distance(layer[k - 1], layer[k]);
        if (graph.items[layer[k]].bend) continue;
        high = std::min(high, graph.items[layer[k]].x - between);
        break;
      }
    }
    if (low > high) continue;
    std::ranges::sort(now);
    const double x = std::clamp(now[now.size() / 2], low, high);
    for (size_t i = 1; i + 1 < chain.size(); ++i) {
      graph.items[chain[i]].x = x;
      const std::vector<size_t>& layer = graph.layers[graph.items[chain[i]].layer];
      for (size_t k = ranks[chain[i]] + 1; k < layer.size() && graph.items[layer[k]].bend; ++k) {
        double& right = graph.items[layer[k]].x;
        right = std::max(right, graph.items[layer[k - 1]].x + distance(layer[k - 1], layer[k]));
      }
    }
  }
}

void place_items(Graph& graph, const LayoutOptions& options) {
  for (const std::vector<size_t>& layer : graph.layers) {
    double x = 0;
    for (const size_t item : layer) {
      x += half_width(graph.items[item], options);
      graph.items[item].x = x;
      x += half_width(graph.items[item], options);
    }
    for (const size_t item : layer) graph.items[item].x -= x / 2;
  }
  const size_t layers = graph.layers.size();
  const auto sweep = [&](bool downwards, bool both) {
    for (size_t i = 0; i < layers; ++i) {
      const size_t layer = downwards ? i : layers - 1 - i;
      place_layer(graph, graph.layers[layer], downwards || both, !downwards || both, options);
    }
  };
  for (int i = 0; i < kPositionSweeps; ++i) sweep(i % 2 == 0, i % 4 > 1);
  sweep(false, false);
  sweep(true, false);
  straighten_bends(graph, options);
}

/// Layers [first, last) of the graph, drawn one below the other.
struct Column {
  size_t first = 0, last = 0;
  double left = 0, right = 0;  // of its items, in coordinates of the graph
  double x = 0;                // added to these coordinates
};

class Columns {
 public:
  Columns(const Graph& graph, const LayoutOptions& options)
      : graph_(graph), options_(options), step_(options.node_height + kLayerGap) {}

  /// Chooses the number of columns with the ratio closest to the requested one.
  std::vector<Column> choose() const {
    const size_t layers = graph_.layers.size();
    std::vector<Column> best;
    double smallest = std::numeric_limits<double>::max();
    for (size_t count = 1; count <= std::max<size_t>(layers / 4, 1); ++count) {
      std::vector<Column> columns = cut(count);
      const double ratio = width_of(columns) / height_of(columns);
      const double error = std::abs(std::log(ratio / options_.aspect));
      if (error >= smallest) break;  // the ratio grows with the number of columns
      smallest = error;
      best = std::move(columns);
    }
    return best;
  }

  /// Number of edges between a layer and the next one.
  [[nodiscard]] size_t edges_after(size_t layer) const {
    size_t count = 0;
    for (const size_t item : graph_.layers[layer]) count += graph_.down[item].size();
    return count;
  }
  [[nodiscard]] double lanes_height(size_t first) const {
    return first == 0 ? 0 : static_cast<double>(edges_after(first - 1)) * kLaneWidth + 8;
  }
  [[nodiscard]] double gutter(size_t first) const {
    return kColumnGap + static_cast<double>(edges_after(first - 1)) * kLaneWidth;
  }

 private:
  /// Cuts the layers into columns of about equal height, where few edges pass.
  std::vector<Column> cut(size_t count) const {
    const size_t layers = graph_.layers.size();
    std::vector<Column> columns;
    size_t first = 0;
    while (first < layers) {
      const size_t left = count > columns.size() ? count - columns.size() : 1;
      const size_t target = (layers - first + left - 1) / left;
      const size_t furthest = first + target;
      size_t last = furthest;
      for (size_t end = furthest; left > 1 && end > first && end + target / 5 > furthest; --end) {
        if (edges_after(end - 1) < edges_after(last - 1)) last = end;
      }
      columns.push_back(bounds(first, last));
      first = last;
    }
    return columns;
  }

  Column bounds(size_t first, size_t last) const {
    Column column{first, last, std::numeric_limits<double>::max(),
                  std::numeric_limits<double>::lowest(), 0};
    for (size_t layer = first; layer < last; ++layer) {
      for (const size_t index : graph_.layers[layer]) {
        const Item& item = graph_.items[index];
        const double half = item.bend ? 1 : options_.node_width / 2;
        column.left = std::min(column.left, item.x - half);
        column.right = std::max(column.right, item.x + half);
      }
    }
    return column;
  }

  double width_of(const std::vector<Column>& columns) const {
    double width = 2 * kMargin;
    for (const Column& column : columns) {
      width += column.right - column.left + (column.first == 0 ? 0 : gutter(column.first));
    }
    return width;
  }
  double height_of(const std::vector<Column>& columns) const {
    size_t layers = 0;
    for (const Column& column : columns) layers = std::max(layers, column.last - column.first);
    return static_cast<double>(layers) * step_ + 2 * kMargin;
  }

  const Graph& graph_;
  const LayoutOptions& options_;
  double step_;
};

/// An edge between the last layer of a column and the first layer of the next one.
struct Passage {
  size_t from = 0, to = 0;  // items
  size_t lane = 0;          // 0: the leftmost start; it has the outermost lane
};

class Drawing {
 public:
  Drawing(const Graph& graph, std::span<const LayoutEdge> edges, const LayoutOptions& options)
      : graph_(graph), options_(options), columns_of_(graph, options) {
    columns_ = columns_of_.choose();
    place_columns();
    place_passages();
    result_.centers.resize(graph.items.size());
    for (size_t i = 0; i < graph.items.size(); ++i) result_.centers[i] = center(i);
    for (size_t i = 0; i < edges.size(); ++i) result_.routes.push_back(route(graph.chains[i]));
  }

  Layout finish(size_t nodes) {
    result_.centers.resize(nodes);  // without the bends
    return std::move(result_);
  }

 private:
  void place_columns() {
    double x = kMargin;
    column_of_.resize(graph_.layers.size());
    for (size_t i = 0; i < columns_.size(); ++i) {
      Column& column = columns_[i];
      if (i > 0) x += columns_of_.gutter(column.first);
      column.x = x - column.left;
      x += column.right - column.left;
      for (size_t layer = column.first; layer < column.last; ++layer) column_of_[layer] = i;
      top_ = std::max(top_, kMargin + columns_of_.lanes_height(column.first));
    }
    result_.width = x + kMargin;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const double lanes = i + 1 < columns_.size() ? columns_of_.lanes_height(columns_[i].last) : 0;
      result_.height = std::max(result_.height, bottom(columns_[i]) + lanes + kMargin);
    }
  }

  void place_passages() {
    for (size_t i = 0; i + 1 < columns_.size(); ++i) {
      const size_t first = passages_.size();
      for (const size_t item : graph_.layers[columns_[i].last - 1]) {
        for (const Link& link : graph_.down[item]) passages_.push_back({item, link.item, 0});
      }
      std::sort(passages_.begin() + static_cast<std::ptrdiff_t>(first), passages_.end(),
                [&](const Passage& a, const Passage& b) {
                  return std::pair(graph_.items[a.from].x, graph_.items[a.to].x) <
                         std::pair(graph_.items[b.from].x, graph_.items[b.to].x);
                });
      for (size_t k = first; k < passages_.size(); ++k) passages_[k].lane = k - first;
    }
  }

  [[nodiscard]] double step() const { return options_.node_height + kLayerGap; }
  [[nodiscard]] double bottom(const Column& column) const {
    return top_ + static_cast<double>(column.last - column.first) * step() - kLayerGap;
  }
  [[nodiscard]] Point center(size_t index) const {
    const Item& item = graph_.items[index];
    const Column& column = columns_[column_of_[item.layer]];
    return {item.x + column.x, top_ + options_.node_height / 2 +
                                   static_cast<double>(item.layer - column.first) * step()};
  }

  /// Appends a way from the bottom of a column to the top of the next one: down, to the right, up
  /// between the columns, to the right, down. The lanes of a passage do not cross each other.
  void add_passage(const Passage& passage, Route& points) const {
    const Column& left = columns_[column_of_[graph_.items[passage.from].layer]];
    const Column& right = columns_[column_of_[graph_.items[passage.to].layer]];
    const auto lanes = static_cast<double>(columns_of_.edges_after(left.last - 1));
    const auto lane = static_cast<double>(passage.lane);
    const double below = bottom(left) + 8 + (lanes - 1 - lane) * kLaneWidth;
    const double above = top_ - 8 - lane * kLaneWidth;
    const double between = right.left + right.x - kColumnGap / 2 - lane * kLaneWidth;
    const double start = center(passage.from).x, end = center(passage.to).x;
    for (const Point& point :
         {Point{start, below}, Point{between, below}, Point{between, above}, Point{end, above}}) {
      points.push_back(point);
    }
  }

  Route route(const std::vector<size_t>& chain) const {
    Route points;
    const double half = options_.node_height / 2;
    for (size_t i = 0; i < chain.size(); ++i) {
      const Point at = center(chain[i]);
      const bool bend = graph_.items[chain[i]].bend;
      if (bend || i > 0) points.push_back({at.x, at.y - half});
      if (bend || i == 0) points.push_back({at.x, at.y + half});
      if (i + 1 == chain.size() || column_of_[graph_.items[chain[i]].layer] ==
                                       column_of_[graph_.items[chain[i + 1]].layer]) {
        continue;
      }
      const auto passage = std::ranges::find_if(passages_, [&](const Passage& each) {
        return each.from == chain[i] && each.to == chain[i + 1];
      });
      add_passage(*passage, points);
    }
    return points;
  }

  const Graph& graph_;
  const LayoutOptions& options_;
  Columns columns_of_;
  std::vector<Column> columns_;
  std::vector<size_t> column_of_;  // per layer
  std::vector<Passage> passages_;
  double top_ = kMargin;
  Layout result_;
};

}  // namespace

Layout layered_layout(size_t nodes, std::span<const LayoutEdge> edges,
                      const LayoutOptions& options) {
  if (nodes == 0) return {};
  Graph graph = with_bends(nodes, edges);
  order_layers(graph);
  place_items(graph, options);
  return Drawing(graph, edges, options).finish(nodes);
}

}  // namespace thimble::report
