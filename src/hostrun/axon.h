#pragma once
// The AXON NPU that the delegate calls of a `.pte` are for: the integer model behind the runtime's
// delegate, and what is wrong with a file's layer lists, in more words than a status has.

#include <string_view>

#include "base/result.h"
#include "formats/pte/program.h"
#include "kernels/kernels.h"
#include "thimble_axon.h"

namespace thimble::hostrun {

/// Executes layer lists with the integer model (npu/axon/model). Counts nothing.
[[nodiscard]] thimble_axon axon_model();

/// Every kernel of this build, and the model.
[[nodiscard]] const kernels::KernelTable& kernels_with_axon();

/// Refuses lists that the runtime would refuse, and those whose hash is not their content's; names
/// the delegate and the layer.
[[nodiscard]] Status check_axon_lists(const formats::pte::Program& program, std::string_view label);

/// Whether the program calls the delegate.
[[nodiscard]] bool calls_axon(const formats::pte::Program& program);

}  // namespace thimble::hostrun
