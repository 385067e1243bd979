// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mutations of JSON that keep the text a JSON document in most cases.

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "tests/fuzz/mutate.h"

namespace thimble::fuzz {

/// Returns a discarded value for text that is no JSON. nlohmann::json writes nested values
/// recursively: values that are nested more than 1000 deep are left out.
[[nodiscard]] nlohmann::json parse_json(std::string_view text);

/// Makes one change: a value becomes another number, type or copy of a subtree; members are
/// swapped, erased, renamed or repeated.
void mutate_json(nlohmann::json& root, Random& random);

/// Returns the text of the document. One of 40 texts is cut or has other characters.
[[nodiscard]] std::string to_text(const nlohmann::json& root, Random& random);

/// Makes one to three changes in the JSON; text that is no JSON is changed by mutate().
[[nodiscard]] Bytes mutate_json_text(Bytes text, const Bytes& other, Random& random);

/// Makes one change: shorter, empty, twice, very long, or another character.
void mutate_string(std::string& text, Random& random);

}  // namespace thimble::fuzz
