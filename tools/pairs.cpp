#include "tools/pairs.h"

#include <optional>

#include "base/size_text.h"

namespace thimble::tools {
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
