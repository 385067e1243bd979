// SPDX-License-Identifier: Apache-2.0
#pragma once
// Keyword arguments of Python as options of the command line.

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "capi/session.h"

namespace thimble::python {

/// Returns words such as "--io=int8" for {"io": "int8"}. A value is a text, a number or a path;
/// True or False for a flag; a list for an option with several values; a dict for NAME=VALUE; None:
/// the default. Throws BadInput for an unknown name.
[[nodiscard]] capi::Words words_of(std::string_view verb, const nanobind::dict& options);

/// Returns a list of (name, is_flag, negative name, values, help) of the verb's options,
/// with `all` also those that the program alone has.
[[nodiscard]] nanobind::list option_rows(std::string_view verb, bool all);

}  // namespace thimble::python
