#pragma once
// A program as the bytes of a `.pte`. The same program gives the same bytes on every host.
//
// Small is the aim, because the file lies in flash: equal vectors, strings, tables and blobs are
// stored once and pointed at from every place that has them. Segments follow the flatbuffer in the
// order constants, mutable data, delegate blobs, named data, each at a multiple of its alignment
// (16 for constants) from the start of the file, which is executed in place. An entry with records
// (records.h) comes before all others.

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

/// An error only if the program breaks a rule of `check` (see check.h) or exceeds 2 GiB of tables.
[[nodiscard]] Result<Bytes> write(const Program& program);

}  // namespace thimble::formats::pte
