// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options as words of a command line, and results as the text of JSON.

#include <initializer_list>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/command_line.h"
#include "tools/output.h"

namespace thimble::capi {

/// Words of a command line: "--io", "int8".
using Words = std::vector<std::string>;

[[nodiscard]] Words joined(std::initializer_list<std::string> first, const Words& rest);

[[nodiscard]] std::string text_of(const tools::Json& json);

/// Parses the words into the arguments of a verb.
template <typename Arguments>
[[nodiscard]] Status parse(const char* verb_name, void (*add_options)(tools::Verb&, Arguments*),
                           const Words& words, Arguments* arguments) {
  tools::CommandLine line("", "thimble");
  tools::Verb verb(line, verb_name, "");
  add_options(verb, arguments);
  return line.parse_words(joined({verb_name}, words));
}

}  // namespace thimble::capi
