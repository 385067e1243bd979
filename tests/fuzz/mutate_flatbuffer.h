// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mutations of FlatBuffers that keep the form of the buffer: with its schema, each change is in a
// field, the length of a vector, an offset or an entry of a vtable. A verifier accepts most
// results.

#include "tests/fuzz/mutate.h"

namespace thimble::fuzz {

/// `schema`: the binary schema of the buffer (flatc --bfbs-gen-embed). Makes one to three changes;
/// the size does not change. Returns false if the bytes have no field to change.
[[nodiscard]] bool mutate_flatbuffer(Bytes& bytes, const uint8_t* schema, Random& random);

/// Model files with their schema. A `.pte` is also changed in its segments and in the programs of
/// NPUs that it contains. Other bytes are changed by mutate().
[[nodiscard]] Bytes mutate_pte(Bytes bytes, const Bytes& other, Random& random);
[[nodiscard]] Bytes mutate_ptd(Bytes bytes, const Bytes& other, Random& random);
[[nodiscard]] Bytes mutate_bundle(Bytes bytes, const Bytes& other, Random& random);
[[nodiscard]] Bytes mutate_tflite(Bytes bytes, const Bytes& other, Random& random);

}  // namespace thimble::fuzz
