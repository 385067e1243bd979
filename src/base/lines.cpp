// SPDX-License-Identifier: Apache-2.0
#include "base/lines.h"

#include <algorithm>

namespace thimble::base {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (end != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  size_t end = 0;
  for (size_t begin = text.find_first_not_of(kSpaces); begin != std::string_view::npos;
       begin = text.find_first_not_of(kSpaces, end)) {
    end = std::min(text.find_first_of(kSpaces, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
  }
  return words;
}

}  // namespace thimble::base
