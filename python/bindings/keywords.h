// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages of the compiler name options as on the command line. In Python they are keyword
// arguments.

#include <string>
#include <string_view>

namespace thimble::python {

/// Returns the text with each option of the command line as a keyword argument:
///
///     --optimize size               optimize="size"
///     --memory sram=256K            memory={"sram": "256K"}
///     --calibrate DATA.npz          calibration=...          (a word in capitals is a placeholder)
///     --no-tune                     tune=False
///     compile --names               compile(names=True)
///     --shape: all sizes are fixed  shape: all sizes are fixed
///
/// The names, and which of them have values, are those of the tables of options. The word after an
/// option is its value if it follows `=`, is one of the allowed values, ends the text or precedes a
/// colon, is in capitals, or has a character that English words do not have.
[[nodiscard]] std::string with_keywords(std::string_view text);

}  // namespace thimble::python
