// SPDX-License-Identifier: Apache-2.0
#pragma once
// Flash, RAM and stack of a program as a firmware links it: the program's bytes, and the code that
// the core's tables give for its kernels (engine/linked_code.h).

#include <optional>
#include <span>

#include "driver/compile.h"
#include "formats/pte/program.h"

namespace thimble::driver {

/// Returns nothing if the sizes of the code are not known: a core or a delegate without a table.
[[nodiscard]] Result<std::optional<LinkedSize>> linked_size(const Compiled& compiled,
                                                            const formats::pte::Program& program,
                                                            int64_t pte_bytes, bool c_output);

/// Returns the sizes for a `.pte`, not C, on this core.
[[nodiscard]] Result<std::optional<LinkedSize>> linked_size(const engine::Core& core,
                                                            const formats::pte::Program& program,
                                                            int64_t pte_bytes);

/// Returns the size of a firmware with several `.pte`: code that they share counts once. `programs`
/// and `pte_bytes` have the same length, at least 1.
[[nodiscard]] Result<std::optional<LinkedSize>> linked_size(
    const engine::Core& core, std::span<const formats::pte::Program> programs,
    std::span<const int64_t> pte_bytes);

/// Returns "gcc 12.2.1, kernels -O2, runtime -Os, cortex-m4".
[[nodiscard]] std::string built_with(const LinkedSize& linked);

}  // namespace thimble::driver
