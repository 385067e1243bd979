#include "tools/pairs.h"

#include <charconv>
#include <optional>

namespace thimble::tools {
namespace {

/// Parses "64", "256K", "2M"; K is 1024.
std::optional<int64_t> parse_size(std::string_view text) {
  int64_t scale = 1;
  if (text.ends_with('K') || text.ends_with('k')) scale = 1024;
  if (text.ends_with('M') || text.ends_with('m')) scale = 1024 * 1024;
  if (scale != 1) text.remove_suffix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value <= 0) return {};
  if (value > INT64_MAX / scale) return {};
  return value * scale;
}

}  // namespace

Status parse_pairs(const std::vector<std::string>& pairs, std::string_view option,
                   std::map<std::string, int64_t>* values) {
  for (const std::string& pair : pairs) {
    const size_t equals = pair.rfind('=');
    const bool split = equals != std::string::npos && equals != 0;
    const auto value = split ? parse_size(std::string_view(pair).substr(equals + 1)) : std::nullopt;
    if (!value) return bad_input("{} {}: NAME=NUMBER expected, as in NAME=64K", option, pair);
    const auto [at, is_new] = values->emplace(pair.substr(0, equals), *value);
    if (!is_new) return bad_input("{} {}: {} is given twice", option, pair, at->first);
  }
  return ok();
}

}  // namespace thimble::tools
