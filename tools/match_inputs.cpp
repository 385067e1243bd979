// SPDX-License-Identifier: Apache-2.0
#include "tools/match_inputs.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/dtype_text.h"

namespace thimble::tools {
namespace {

using Order = std::vector<size_t>;

class Matcher {
 public:
  Matcher(const ir::Graph& graph, std::span<const hostrun::Port> ports)
      : graph_(graph), ports_(ports) {}

  /// Returns nothing if a port has another name than all inputs of the graph.
  [[nodiscard]] std::optional<Order> by_name() const {
    return by(
        [&](const ir::Value& value, const hostrun::Port& port) { return value.name == port.name; });
  }

  /// Returns nothing if a port is comparable to none or to several of the graph's inputs.
  [[nodiscard]] std::optional<Order> by_shape() const { return by(is_comparable); }

  [[nodiscard]] bool is_possible(const Order& order) const {
    for (size_t i = 0; i < order.size(); ++i) {
      if (!is_comparable(value(order[i]), ports_[i])) return false;
    }
    return true;
  }

  [[nodiscard]] const ir::Value& value(size_t input) const {
    return graph_.value(graph_.inputs()[input]);
  }

  /// Returns "input_0 is image, input_1 is mask".
  [[nodiscard]] std::string text(const Order& order) const {
    std::vector<std::string> pairs;
    for (size_t i = 0; i < order.size(); ++i) {
      pairs.push_back(fmt::format("{} is {}", ports_[i].name, value(order[i]).name));
    }
    return fmt::format("{}", fmt::join(pairs, ", "));
  }

 private:
  template <class Match>
  [[nodiscard]] std::optional<Order> by(Match matches) const {
    Order order;
    for (const hostrun::Port& port : ports_) {
      std::optional<size_t> found;
      for (size_t i = 0; i < graph_.inputs().size(); ++i) {
        if (!matches(value(i), port)) continue;
        if (found) return std::nullopt;
        found = i;
      }
      if (!found || std::ranges::count(order, *found) != 0) return std::nullopt;
      order.push_back(*found);
    }
    return order;
  }

  const ir::Graph& graph_;
  std::span<const hostrun::Port> ports_;
};

}  // namespace

bool is_comparable(const ir::Value& value, const hostrun::Port& port) {
  return (value.type.dtype == port.dtype || port.quant.has_value()) &&
         value.type.shape == port.shape;
}

Result<MatchedInputs> match_inputs(const ir::Graph& graph, std::span<const hostrun::Port> ports,
                                   std::string_view label) {
  const size_t count = graph.inputs().size();
  if (count != ports.size()) {
    return bad_input("{}: {} inputs, the float model has {}", label, ports.size(), count);
  }
  const Matcher matcher(graph, ports);
  Order same(count);
  std::iota(same.begin(), same.end(), size_t{0});
  const auto found = [&](const Order& order, std::string_view how) -> MatchedInputs {
    if (order == same) return {order, ""};
    return {order, fmt::format("{}: inputs in another order than those of the float model, matched "
                               "by {}: {}",
                               label, how, matcher.text(order))};
  };
  const std::optional<Order> named = matcher.by_name();
  if (named && matcher.is_possible(*named)) return found(*named, "name");
  if (matcher.is_possible(same)) return found(same, "position");
  const std::optional<Order> shaped = matcher.by_shape();
  if (shaped) return found(*shaped, "shape");
  for (size_t i = 0; i < count; ++i) {
    const ir::Value& value = matcher.value(i);
    if (is_comparable(value, ports[i])) continue;
    return bad_input("{}: {}, the float model has {} {}{}", label, ports[i].describe(), value.name,
                     ir::dtype_text(value.type.dtype), ir::list_text(value.type.shape));
  }
  assert(false && "the same order is possible");
  return found(same, "position");
}

}  // namespace thimble::tools
