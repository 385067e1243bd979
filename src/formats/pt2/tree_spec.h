// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of a model's outputs. The export stores how the outputs were nested in tuples, dictionaries
// and dataclasses as JSON in a string (torch.utils._pytree.treespec_dumps):
//
//   [1, {"type": "builtins.dict", "context": "[\"logits\", \"loss\"]", "children_spec": [...]}]

#include <string>
#include <string_view>
#include <vector>

namespace thimble::formats::pt2 {

/// Returns one name per leaf: the keys and field names on the way to it, joined by "_". Below a
/// key, an element of a tuple or list is named by its index: {"heads": (a, b)} has heads_0 and
/// heads_1. The name of a leaf that is below no key is empty. Returns nothing if the text has
/// another form.
[[nodiscard]] std::vector<std::string> leaf_names(std::string_view spec);

}  // namespace thimble::formats::pt2
