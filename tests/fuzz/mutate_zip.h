// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mutations of zip archives (.pt2, .npz) that keep the archive valid in most cases: the members
// change, and are packed with their CRC. JSON stays JSON (mutate_json.h), and arrays keep their
// magic.

#include "tests/fuzz/mutate.h"

namespace thimble::fuzz {

/// Bytes that are no valid archive are changed by mutate().
[[nodiscard]] Bytes mutate_zip(Bytes bytes, const Bytes& other, Random& random);

/// Changes the header or the data of a .npy; in most cases the length before the header is correct.
[[nodiscard]] Bytes mutate_npy(Bytes bytes, const Bytes& other, Random& random);

/// Returns true if the bytes are an archive whose members have correct CRCs.
[[nodiscard]] bool is_zip(ByteView bytes);

}  // namespace thimble::fuzz
