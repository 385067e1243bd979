#include "driver/steering.h"

#include <algorithm>
#include <set>

namespace thimble::driver {
namespace {

constexpr size_t kSuggestionsMax = 4;

std::string_view precision_name(Precision precision) {
  constexpr std::string_view kNames[] = {"int8", "int16", "float"};
  return kNames[static_cast<size_t>(precision)];
}

/// Does the whole name fit, with `*` for any characters?
bool fits(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// "add" of "aten.add.Tensor".
std::string_view short_name(std::string_view target) {
  const size_t first = target.find('.');
  if (first == std::string_view::npos) return target;
  const std::string_view rest = target.substr(first + 1);
  return rest.substr(0, rest.find('.'));
}

/// Everything that names the operator: its node, its ATen operator, its module and those around it.
std::vector<std::string_view> names_of(const ir::Graph& graph, const ir::Op& op) {
  std::vector<std::string_view> names = {graph.value(op.output).name};
  if (!op.source.target.empty()) {
    names.emplace_back(op.source.target);
    names.push_back(short_name(op.source.target));
  }
  const std::string_view module = op.source.module;
  for (size_t dot = module.find('.'); dot != std::string_view::npos;
       dot = module.find('.', dot + 1)) {
    names.push_back(module.substr(0, dot));
  }
  if (!module.empty()) names.push_back(module);
  return names;
}

/// Insertions, deletions and replacements from one to the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string suggestions(const ir::Graph& graph, std::string_view pattern) {
  std::set<std::string_view> names;
  for (const ir::Op& op : graph.ops()) {
    for (const std::string_view name : names_of(graph, op)) names.insert(name);
  }
  const size_t close = std::max<size_t>(2, pattern.size() / 3);
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (const std::string_view name : names) {
    const bool inside = pattern.size() > 1 && (name.find(pattern) != std::string_view::npos ||
                                               pattern.find(name) != std::string_view::npos);
    const size_t away = distance(pattern, name);
    if (inside || away <= close) ranked.emplace_back(away, name);
  }
  const bool near = !ranked.empty();
  for (const std::string_view name : names) {
    if (!near) ranked.emplace_back(0, name);
  }
  std::sort(ranked.begin(), ranked.end());
  if (ranked.size() > kSuggestionsMax) ranked.resize(kSuggestionsMax);
  std::string text;
  for (const auto& [away, name] : ranked)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return fmt::format("{} {}", near ? "close to it:" : "there are, for example,", text);
}

std::string line_of(const ir::Op& op, std::string_view reason) {
  std::string line = fmt::format("\n  {:<14} {}", op.source.where(), op.source.text);
  if (!op.source.module.empty()) line += fmt::format("   in module {}", op.source.module);
  return fmt::format("{}: {} {}", line, op.source.target, reason);
}

}  // namespace

Result<QuantChoice> parse_quant_choice(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals != std::string_view::npos && equals > 0) {
    for (const Precision each : {Precision::kInt8, Precision::kInt16, Precision::kFloat}) {
      if (text.substr(equals + 1) == precision_name(each)) {
        return QuantChoice{std::string(text.substr(0, equals)), each};
      }
    }
  }
  return bad_input("--quant {}: MODULE or OP, =, and one of int8, int16, float expected", text);
}

Result<std::vector<size_t>> select_ops(const ir::Graph& graph, std::string_view pattern,
                                       std::string_view option) {
  std::vector<size_t> found;
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const auto names = names_of(graph, graph.ops()[i]);
    if (std::ranges::any_of(names, [&](std::string_view name) { return fits(pattern, name); })) {
      found.push_back(i);
    }
  }
  if (!found.empty()) return found;
  return bad_input("{} {}: no operator, node or module of the model has this name; {}", option,
                   pattern, suggestions(graph, pattern));
}

Status check_choices(const ir::Graph& graph, const std::vector<QuantChoice>& choices,
                     std::string_view target, bool has_int16) {
  std::string lines;
  for (const QuantChoice& choice : choices) {
    THIMBLE_TRY(const std::vector<size_t> ops, select_ops(graph, choice.pattern, "--quant"));
    if (choice.precision == Precision::kInt8) continue;
    if (choice.precision == Precision::kInt16 && has_int16) continue;
    const std::string reason =
        fmt::format("has no {} kernel on {}", precision_name(choice.precision), target);
    for (const size_t i : ops) lines += line_of(graph.ops()[i], reason);
  }
  if (lines.empty()) return ok();
  return unsupported("--quant asks for kernels that do not exist{}", lines);
}

std::function<bool(const ir::Graph&, const ir::Op&)> wide_choice(
    const std::vector<QuantChoice>& choices, bool all_wide) {
  const bool any = std::ranges::any_of(
      choices, [](const QuantChoice& choice) { return choice.precision == Precision::kInt16; });
  if (!any && !all_wide) return {};
  return [choices, all_wide](const ir::Graph& graph, const ir::Op& op) {
    bool wide = all_wide;
    for (const QuantChoice& choice : choices) {
      const auto names = names_of(graph, op);
      if (std::ranges::any_of(names,
                              [&](std::string_view name) { return fits(choice.pattern, name); })) {
        wide = choice.precision == Precision::kInt16;
      }
    }
    return wide;
  };
}

}  // namespace thimble::driver
