// SPDX-License-Identifier: Apache-2.0
#include "tools/pairs.h"

#include <charconv>
#include <optional>

#include "base/size_text.h"

namespace thimble::tools {
namespace {

using Parse = std::optional<int64_t> (*)(std::string_view text);

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

/// `example`: a value in the message.
Status parse_pairs(const std::vector<std::string>& pairs, std::string_view option, Parse parse,
                   std::string_view example, std::map<std::string, int64_t>* values) {
  for (const std::string& pair : pairs) {
    const size_t equals = pair.rfind('=');
    const bool split = equals != std::string::npos && equals != 0;
    const auto value = split ? parse(std::string_view(pair).substr(equals + 1)) : std::nullopt;
    if (!value) {
      return bad_input("{} {}: NAME=NUMBER expected, as in {}", option, pair, example);
    }
    const auto [at, is_new] = values->emplace(pair.substr(0, equals), *value);
    if (!is_new) return bad_input("{} {}: {} is given twice", option, pair, at->first);
  }
  return ok();
}

}  // namespace

Status parse_bytes(const std::vector<std::string>& pairs, std::string_view option,
                   std::map<std::string, int64_t>* values) {
  return parse_pairs(pairs, option, parse_size, "NAME=64K", values);
}

Status parse_shapes(const std::vector<std::string>& pairs, std::map<std::string, int64_t>* values) {
  return parse_pairs(pairs, "--shape", parse_integer, "batch=8", values);
}

}  // namespace thimble::tools
