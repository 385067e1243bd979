// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mutations of the programs of NPUs that keep their form: commands stay commands, records stay
// records, and hashes are those of the changed content. `other` is a second program, from which
// parts are copied. Bytes that are no such program are changed by mutate().

#include <span>

#include "tests/fuzz/mutate.h"

namespace thimble::fuzz {

/// Input of the target ethos_u_run (npu_run_targets.cpp).
[[nodiscard]] Bytes mutate_ethos_u_run(Bytes bytes, const Bytes& other, Random& random);
/// Words of a command stream.
[[nodiscard]] Bytes mutate_stream(Bytes bytes, const Bytes& other, Random& random);
/// A delegate payload for the Ethos-U.
[[nodiscard]] Bytes mutate_ethos_u_payload(Bytes bytes, const Bytes& other, Random& random);
/// A layer list of the AXON.
[[nodiscard]] Bytes mutate_axon_list(Bytes bytes, const Bytes& other, Random& random);
/// A network that AXON's vendor compiled, as a delegate payload.
[[nodiscard]] Bytes mutate_axon_program(Bytes bytes, const Bytes& other, Random& random);
/// A delegate payload with a kernel list of the Neutron.
[[nodiscard]] Bytes mutate_neutron_payload(Bytes bytes, const Bytes& other, Random& random);

/// Store the hash of the content in bytes that are as long as a header; shorter bytes stay the
/// same.
[[nodiscard]] Bytes repair_axon_list(Bytes bytes);
[[nodiscard]] Bytes repair_axon_program(Bytes bytes);
/// Stores the hash of the kernel list; bytes without one stay the same.
[[nodiscard]] Bytes repair_neutron_payload(Bytes bytes);

/// The program block of a kernel list at the start of the bytes, and its weights. Returns false if
/// there is none.
bool mutate_kernel_list(std::span<std::byte> bytes, Random& random);
/// Changes the parameter or the payload of one command of a stream. `words`: any bytes that end
/// with a stream.
void mutate_parameter(std::span<std::byte> words, Random& random);

}  // namespace thimble::fuzz
