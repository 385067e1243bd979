// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/options.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <vector>

#include "base/nearest.h"
#include "python/bindings/errors.h"

namespace nb = nanobind;

namespace thimble::python {
namespace {

std::string keyword_of(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

std::string text_of(nb::handle value) {
  return nb::cast<std::string>(nb::str(value));
}

/// Adds the words of one keyword argument.
void add_words(std::string_view verb, const tools::OptionFacts& option, nb::handle value,
               capi::Words* words) {
  const std::string keyword = keyword_of(option.name);
  const bool is_bool = nb::isinstance<nb::bool_>(value);
  if (option.is_flag != is_bool) {
    raise(bad_input("{}(): {}={}: {} expected", verb, keyword, text_of(nb::repr(value)),
                    option.is_flag ? "True or False" : "a value"));
  }
  if (option.is_flag) {
    if (nb::cast<bool>(value)) words->push_back("--" + option.name);
    if (!nb::cast<bool>(value) && !option.negative.empty())
      words->push_back("--" + option.negative);
    return;
  }
  const auto add = [&](const std::string& text) {
    words->push_back("--" + option.name + "=" + text);
  };
  if (nb::isinstance<nb::dict>(value)) {
    for (const auto& [name, each] : nb::cast<nb::dict>(value)) {
      add(text_of(name) + "=" + text_of(each));
    }
  } else if (nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value) ||
             nb::isinstance<nb::set>(value)) {
    for (const nb::handle each : value) add(text_of(each));
  } else {
    add(text_of(value));
  }
}

}  // namespace

capi::Words words_of(std::string_view verb, const nb::dict& options) {
  const std::vector<tools::OptionFacts> known = capi::options_of(verb);
  capi::Words words;
  for (const auto& [key, value] : options) {
    const std::string name = nb::cast<std::string>(key);
    const auto option = std::ranges::find_if(known, [&](const tools::OptionFacts& each) {
      return !each.is_positional && keyword_of(each.name) == name;
    });
    if (option == known.end()) {
      std::vector<std::string> names;
      for (const tools::OptionFacts& each : known) {
        if (!each.is_positional) names.push_back(keyword_of(each.name));
      }
      raise(bad_input("{}(): {}: no such option{}", verb, name, suggestions(name, names)));
    }
    if (!value.is_none()) add_words(verb, *option, value, &words);
  }
  return words;
}

nb::list option_rows(std::string_view verb, bool all) {
  nb::list rows;
  for (const tools::OptionFacts& each : capi::options_of(verb)) {
    if (each.is_positional || (!all && capi::is_program_option(each.name))) continue;
    rows.append(nb::make_tuple(keyword_of(each.name), each.is_flag, keyword_of(each.negative),
                               each.values, each.help));
  }
  return rows;
}

}  // namespace thimble::python
