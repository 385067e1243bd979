// SPDX-License-Identifier: Apache-2.0
#include "tools/io_types.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace thimble::tools {

Result<std::vector<passes::InputFormat>> parse_preprocess(const std::vector<std::string>& texts) {
  std::vector<passes::InputFormat> formats;
  for (const std::string& text : texts) {
    THIMBLE_TRY(passes::InputFormat format, passes::parse_input_format(text));
    formats.push_back(std::move(format));
  }
  return formats;
}

Result<std::vector<double>> parse_numbers(const std::vector<std::string>& words,
                                          std::string_view option) {
  std::vector<double> numbers;
  for (const std::string& word : words) {
    double number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number)) {
      return bad_input("{} {}: a number expected", option, word);
    }
    numbers.push_back(number);
  }
  return numbers;
}

Result<quant::IoTypes> parse_io_types(const std::vector<std::string>& words) {
  quant::IoTypes types;
  std::optional<std::string> all;
  for (const std::string& word : words) {
    const size_t equals = word.rfind('=');
    const bool named = equals != std::string::npos;
    const std::string name = named ? word.substr(0, equals) : "";
    const std::string type = named ? word.substr(equals + 1) : word;
    const auto* const found = std::ranges::find(quant::kIos, type, quant::io_name);
    if (found == std::end(quant::kIos) || (named && name.empty())) {
      return bad_input(
          "--io: found {}, expected one of float, int8, uint8, int16, or NAME=TYPE, as in x=uint8",
          word);
    }
    if (named) {
      if (!types.named.emplace(name, *found).second) {
        return bad_input("--io {}: {} is given twice", word, name);
      }
      continue;
    }
    if (all) return bad_input("--io {}: a type for all is given twice, {} before", word, *all);
    all = type;
    types.all = *found;
  }
  return types;
}

}  // namespace thimble::tools
