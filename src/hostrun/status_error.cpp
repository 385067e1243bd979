// SPDX-License-Identifier: Apache-2.0
#include "hostrun/status_error.h"

#include <set>
#include <string>

#include <fmt/ranges.h>

#include "abi/status.h"
#include "hostrun/device.h"
#include "kernels/kernels.h"

namespace thimble::hostrun {
namespace {

std::string joined(const std::set<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Operators that the file calls and for which this build has no kernel, as text.
std::string missing_kernels(const Interface& interface) {
  const kernels::KernelTable table = kernels::all_kernels();
  std::set<std::string> missing;
  for (const std::string& op : interface.ops) {
    if (!op.starts_with('(')) missing.insert(op);
  }
  for (uint32_t i = 0; i < table.count; ++i) missing.erase(table.kernels[i]->name);
  return joined(missing);
}

/// Operators that are called with a number of arguments that no kernel accepts, as text.
std::string unknown_signatures(const Interface& interface) {
  const kernels::KernelTable table = kernels::all_kernels();
  std::set<std::string> unknown;
  for (size_t op = 0; op < interface.ops.size(); ++op) {
    std::set<size_t> signatures;
    for (uint32_t i = 0; i < table.count; ++i) {
      const kernels::Kernel& kernel = *table.kernels[i];
      if (interface.ops[op] == kernel.name)
        signatures.insert(std::string_view(kernel.arguments).size());
    }
    if (signatures.empty() || signatures.contains(interface.arguments[op])) continue;
    unknown.insert(fmt::format("{} with {} arguments", interface.ops[op], interface.arguments[op]));
  }
  return joined(unknown);
}

}  // namespace

Error status_error(thimble_status status, std::string_view label, const Interface& interface) {
  const auto code = static_cast<abi::Status>(status);
  std::string message = fmt::format("{}: {}", label, thimble_status_text(status));
  const std::string signatures = unknown_signatures(interface);
  if (code == abi::Status::kMissingKernel) {
    // Empty if only the firmware of a board lacks a kernel.
    const std::string missing = missing_kernels(interface);
    if (!missing.empty()) message += ": " + missing;
  }
  std::set<std::string> non_kernel_calls(interface.non_kernel_calls.begin(),
                                         interface.non_kernel_calls.end());
  for (const DeviceKind& kind : device_kinds()) {
    if (kind.open != nullptr) non_kernel_calls.erase(fmt::format("delegate {}", kind.id));
  }
  const bool lacks_delegate =
      code == abi::Status::kUnsupported || code == abi::Status::kMissingDelegate;
  if (lacks_delegate && !non_kernel_calls.empty()) message += ": " + joined(non_kernel_calls);
  if (code == abi::Status::kCorrupt && !signatures.empty()) {
    return unsupported("{}: calls {}: no kernel has this number of arguments", label, signatures);
  }
  const bool lacking =
      code == abi::Status::kMissingKernel || lacks_delegate || code == abi::Status::kLayoutVersion;
  return {lacking ? ErrorKind::kUnsupported : ErrorKind::kBadInput, std::move(message)};
}

}  // namespace thimble::hostrun
