// SPDX-License-Identifier: Apache-2.0
#include "hostrun/kernel_source.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "abi/pte_ops.h"
#include "hostrun/device.h"
#include "kernels/kernels.h"

namespace thimble::hostrun {
namespace {

struct KernelRow {
  std::string_view variant;
  abi::PteOp op;
  std::string_view id;
};

// Names only, not the kernels themselves: variants for other cores do not exist in a host build.
constexpr KernelRow kKernelRows[] = {
#define THIMBLE_KERNEL(variant, op) {#variant, abi::PteOp::op, #variant "_" #op},
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL
};

/// Lines of the generated table for a file with delegate calls.
struct DelegateLines {
  std::string includes, rows;
};

DelegateLines delegate_lines(const std::vector<DeviceKind>& devices, bool overlaps) {
  DelegateLines lines;
  for (const DeviceKind& device : devices) {
    const std::string include = fmt::format("#include \"{}\"\n", device.header);
    if (lines.includes.find(include) == std::string::npos) lines.includes += include;
    std::string more;
    if (device.has_memory) {
      more = fmt::format(", runtime::{0}::call_scratch, runtime::{0}::persistent_bytes",
                         device.cpp_namespace);
    } else if (overlaps && device.has_background) {
      // Without a file that needs it, a product does not link this code.
      more =
          fmt::format(", nullptr, runtime::{0}::persistent_bytes,\n     &runtime::{0}::background",
                      device.cpp_namespace);
    }
    lines.rows += fmt::format(
        "    {{\"{0}\", &{1}, runtime::{2}::open, runtime::{2}::check,\n"
        "     runtime::{2}::run{3}}},\n",
        device.id, device.object, device.cpp_namespace, more);
  }
  if (devices.empty()) return lines;
  lines.rows = fmt::format(
      "static const runtime::DelegateBackend kModelNpus[] = {{\n{}}};\n"
      "static const runtime::DelegateBackends kModelDelegates =\n"
      "    runtime::delegates_of(kModelNpus, {});\n",
      lines.rows, devices.size());
  return lines;
}

bool runs_on(std::string_view variant, abi::Isa isa) {
  if (variant == "mve") return isa == abi::Isa::kMve;
  if (variant == "dsp") return isa == abi::Isa::kDsp || isa == abi::Isa::kMve;
  if (variant == "v7m") return isa != abi::Isa::kThumb1;
  if (variant == "v6m") return isa == abi::Isa::kThumb1;
  return true;
}

/// Name of an operator and the number of arguments in the call.
using Signature = std::pair<std::string, size_t>;

/// Returns the first row that fits; the rows list the fastest variant first.
const KernelRow* find_row(const Signature& form, abi::Isa isa) {
  for (const KernelRow& row : kKernelRows) {
    const abi::PteOpInfo& info = abi::info(row.op);
    const bool same =
        form.first == info.name && form.second == std::string_view(info.arguments).size();
    if (same && runs_on(row.variant, isa)) return &row;
  }
  return nullptr;
}

/// All variants of an operator have the same interface. This machine has the portable variant.
bool needs_addresses_only(const abi::PteOpInfo& info) {
  const kernels::KernelTable table = kernels::all_kernels();
  const auto* const end = table.kernels + table.count;
  return std::any_of(table.kernels, end, [&](const kernels::Kernel* kernel) {
    return std::string_view(kernel->name) == info.name &&
           std::string_view(kernel->arguments) == info.arguments && kernel->run_bare != nullptr;
  });
}

}  // namespace

Result<std::vector<formats::pte::ChosenKernel>> chosen_kernels(const Interface& interface,
                                                               abi::Isa isa,
                                                               std::string_view label) {
  std::vector<formats::pte::ChosenKernel> chosen;
  for (size_t i = 0; i < interface.ops.size(); ++i) {
    const KernelRow* row = find_row({interface.ops[i], interface.arguments[i]}, isa);
    if (row == nullptr) {
      return unsupported("{}: no kernel for {} with {} arguments", label, interface.ops[i],
                         interface.arguments[i]);
    }
    const abi::PteOpInfo& info = abi::info(row->op);
    chosen.push_back(
        {std::string(row->variant), info.id, info.arguments, needs_addresses_only(info)});
  }
  return chosen;
}

bool has_kernel(std::string_view op) {
  return std::any_of(std::begin(kKernelRows), std::end(kKernelRows),
                     [&](const KernelRow& row) { return op == abi::info(row.op).name; });
}

Result<UsedKernels> used_kernels(const Interface& interface, abi::Isa isa, std::string_view label) {
  UsedKernels used;
  std::set<Signature> signatures;
  std::set<std::string> device_calls;
  for (const DeviceKind& device : device_kinds()) {
    const std::string call = fmt::format("delegate {}", device.id);
    if (std::ranges::count(interface.non_kernel_calls, call) == 0) continue;
    used.devices.push_back(device);
    device_calls.insert("(" + call + ")");
  }
  for (size_t i = 0; i < interface.ops.size(); ++i) {
    if (device_calls.contains(interface.ops[i])) continue;
    signatures.emplace(interface.ops[i], interface.arguments[i]);
  }
  used.overlaps = !interface.overlaps.empty();
  used.flatbuffer_executor = !interface.records;
  for (const Signature& form : signatures) {
    const KernelRow* row = find_row(form, isa);
    if (row == nullptr) {
      return unsupported("{}: no kernel for {} with {} arguments", label, form.first, form.second);
    }
    used.kernels.push_back({form.first, std::string(row->id)});
  }
  return used;
}

std::string kernel_source(const UsedKernels& used, std::string_view label) {
  std::string list;
  for (const UsedKernels::Kernel& kernel : used.kernels) list += "    &" + kernel.symbol + ",\n";
  const std::string kernels =
      list.empty() ? ""
                   : fmt::format("static const Kernel* const kModelKernels[] = {{\n{}}};\n", list);
  const DelegateLines delegates = delegate_lines(used.devices, used.overlaps);
  // The table of delegates refers to the flatbuffer executor.
  const bool names_executor = used.flatbuffer_executor && used.devices.empty();
  return fmt::format(
      "// Written by `thimble compile` for {}: the kernels it calls and no others.\n"
      "// Pass thimble_model_kernels() to thimble_size and thimble_init.\n\n"
      "#include \"kernels/kernel_list.h\"\n"
      "{}"
      "#include \"thimble.h\"\n\n"
      "{}"
      "namespace thimble::kernels {{\n"
      "{}{}"
      "static const KernelTable kModelTable = {{{}, {}, nullptr, {}{}}};\n"
      "}}  // namespace thimble::kernels\n\n"
      "extern \"C\" const thimble_kernels* thimble_model_kernels(void) {{\n"
      "  return reinterpret_cast<const thimble_kernels*>(&thimble::kernels::kModelTable);\n"
      "}}\n",
      label, delegates.includes,
      names_executor
          ? "namespace thimble::runtime {\nextern const Executor flatbuffer_executor;\n}\n\n"
          : "",
      kernels, delegates.rows, used.kernels.empty() ? "nullptr" : "kModelKernels",
      used.kernels.size(), used.devices.empty() ? "nullptr" : "&kModelDelegates",
      names_executor ? ", nullptr, &runtime::flatbuffer_executor" : "");
}

Result<std::string> kernel_source(const Interface& interface, abi::Isa isa,
                                  std::string_view label) {
  THIMBLE_TRY(const UsedKernels used, used_kernels(interface, isa, label));
  return kernel_source(used, label);
}

std::string kernel_cmake(const UsedKernels& used, std::string_view label,
                         const std::vector<std::string>& sources) {
  std::string ops, symbols, delegates, devices, files;
  for (const UsedKernels::Kernel& kernel : used.kernels) {
    ops += "\n    " + kernel.op;
    symbols += "\n    " + kernel.symbol;
  }
  for (const DeviceKind& device : used.devices) {
    delegates += fmt::format("\n    {}", device.id);
    devices += fmt::format("\n    {}", device.object);
  }
  for (const std::string& source : sources) {
    files += fmt::format("\n    ${{CMAKE_CURRENT_LIST_DIR}}/{}", source);
  }
  return fmt::format(
      "# Written by `thimble compile --kernels-dir` for {}: the code that a firmware links for "
      "it.\n"
      "#\n"
      "#   find_package(thimble)              # or add_subdirectory(<thimble>): the device's "
      "sources\n"
      "#   include(<this file>)\n"
      "#   thimble_link_kernels_used(firmware)\n"
      "#\n"
      "# The firmware passes thimble_model_kernels() to thimble_size and thimble_init, and "
      "defines\n"
      "# the objects of THIMBLE_DEVICES_USED, which contain the address of each NPU.\n"
      "set(THIMBLE_KERNELS_USED{})\n"
      "set(THIMBLE_KERNELS_USED_SYMBOLS{})\n"
      "set(THIMBLE_DELEGATES_USED{})\n"
      "set(THIMBLE_DEVICES_USED{})\n"
      "set(THIMBLE_KERNELS_USED_SOURCES{})\n\n"
      "function(thimble_link_kernels_used target)\n"
      "  if(NOT COMMAND thimble_device_libraries)\n"
      "    message(FATAL_ERROR \"find_package(thimble) or add_subdirectory(<thimble>) comes before "
      "thimble_link_kernels_used\")\n"
      "  endif()\n"
      "  thimble_device_libraries()\n"
      "  target_sources(${{target}} PRIVATE ${{THIMBLE_KERNELS_USED_SOURCES}})\n"
      "  target_link_libraries(${{target}} PRIVATE thimble_device)\n"
      "  target_link_options(${{target}} PRIVATE -Wl,--gc-sections)\n"
      "endfunction()\n",
      label, ops, symbols, delegates, devices, files);
}

}  // namespace thimble::hostrun
