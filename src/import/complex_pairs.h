// SPDX-License-Identifier: Apache-2.0
#pragma once
// Complex tensors as two real tensors. A spectrum of which a network only reads magnitudes stays a
// power (spectrum.h). All other complex tensors are pairs: their name is bound to the real part,
// and their name with the suffix `.imaginary` to the imaginary part. A Fourier transform of them is
// a product with a constant matrix (`linear`, `conv2d` or `conv_transpose2d`).

#include <set>
#include <string>
#include <string_view>

#include "import/call.h"

namespace thimble::import_pt2 {

using PairNames = std::set<std::string, std::less<>>;

/// Returns the names of the complex tensors that are pairs.
[[nodiscard]] PairNames find_pairs(const formats::pt2::ExportedProgram& program);

/// Returns true if an operand or a result of the node is a pair.
[[nodiscard]] bool has_pair(const PairNames& pairs, const formats::pt2::Node& node);

/// Imports a node that has_pair().
[[nodiscard]] Status import_pair(Context& context, const PairNames& pairs,
                                 const formats::pt2::Node& node, const ir::Source& source);

}  // namespace thimble::import_pt2
