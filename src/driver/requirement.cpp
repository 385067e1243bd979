#include "driver/requirement.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "base/nearest.h"
#include "base/trimmed.h"

namespace thimble::driver {
namespace {

struct Unit {
  std::string_view suffix;
  double scale = 1;
};
// A suffix that ends in another one is before it: "ms" before "s", and "" is the last one.
constexpr Unit kTimes[] = {{"us", 1}, {"ms", 1e3}, {"s", 1e6}};
constexpr Unit kBytes[] = {{"K", 1024}, {"M", 1048576}, {"B", 1}, {"", 1}};
constexpr Unit kShares[] = {{"%", 0.01}, {"", 1}};
constexpr Unit kDecibels[] = {{"dB", 1}, {"", 1}};

struct Quantity {
  std::string_view name;
  std::optional<double> Figures::*figure;
  bool is_maximum;
  std::span<const Unit> units;
  std::string_view example;
};
constexpr Quantity kQuantities[] = {
    {"accuracy", &Figures::accuracy, false, kShares, "accuracy>0.9 or accuracy>90%"},
    {"flash", &Figures::flash_bytes, true, kBytes, "flash<256K"},
    {"latency", &Figures::latency_us, true, kTimes, "latency<20ms"},
    {"sqnr", &Figures::sqnr_db, false, kDecibels, "sqnr>20"},
    {"sram", &Figures::sram_bytes, true, kBytes, "sram<64K"},
};

/// Returns the number in the unit of the figure; nothing if it is not a number with one of `units`.
std::optional<double> parse_bound(std::string_view text, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.suffix)) continue;
    const std::string_view digits = text.substr(0, text.size() - unit.suffix.size());
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    if (whole && std::isfinite(value) && value >= 0) return value * unit.scale;
  }
  return std::nullopt;
}

Result<Requirement> parse_requirement(std::string_view text) {
  const size_t at = text.find_first_of("<>");
  const std::string_view name = text.substr(0, at);
  const auto* const quantity = std::ranges::find(kQuantities, name, &Quantity::name);
  if (quantity == std::end(kQuantities)) {
    std::vector<std::string> names;
    for (const Quantity& each : kQuantities) names.emplace_back(each.name);
    return bad_input("--require {}: {} is not known{}; one of {} was expected", text,
                     name.empty() ? "the name" : name, suggestions(name, names),
                     fmt::join(names, ", "));
  }
  if (at == std::string_view::npos || (text[at] == '<') != quantity->is_maximum) {
    return bad_input("--require {}: {} expected, as in {}", text,
                     quantity->is_maximum ? "< or <=" : "> or >=", quantity->example);
  }
  Requirement requirement{std::string(text), quantity->figure, quantity->is_maximum, false, 0};
  std::string_view bound = text.substr(at + 1);
  if (bound.starts_with('=')) {
    requirement.or_equal = true;
    bound.remove_prefix(1);
  }
  const std::optional<double> value = parse_bound(bound, quantity->units);
  if (!value) {
    std::vector<std::string_view> units;
    for (const Unit& unit : quantity->units) {
      if (!unit.suffix.empty()) units.push_back(unit.suffix);
    }
    const bool optional = quantity->units.back().suffix.empty();
    return bad_input("--require {}: a number expected, {} {}, as in {}", text,
                     optional ? "which may end in" : "which ends in", fmt::join(units, ", "),
                     quantity->example);
  }
  requirement.bound = *value;
  return requirement;
}

}  // namespace

Result<std::vector<Requirement>> parse_requirements(std::string_view text) {
  std::vector<Requirement> requirements;
  if (trimmed(text).empty()) return requirements;
  const std::string_view all = text;
  while (true) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = trimmed(text.substr(0, comma));
    if (one.empty()) {
      return bad_input(
          "--require {}: found a comma without a requirement next to it, expected one "
          "such as {}",
          all, kQuantities[0].example);
    }
    THIMBLE_TRY(Requirement requirement, parse_requirement(one));
    requirements.push_back(std::move(requirement));
    if (comma == text.size()) return requirements;
    text.remove_prefix(comma + 1);
  }
}

std::optional<bool> is_met(const Requirement& requirement, const Figures& figures) {
  const std::optional<double>& figure = figures.*requirement.figure;
  if (!figure) return std::nullopt;
  if (*figure == requirement.bound) return requirement.or_equal;
  return (*figure < requirement.bound) == requirement.is_maximum;
}

}  // namespace thimble::driver
