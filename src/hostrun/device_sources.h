// SPDX-License-Identifier: Apache-2.0
#pragma once
// Collects the sources of some kernels and of everything that they include, for a product that
// compiles no other files of this tree.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "hostrun/kernel_source.h"

namespace thimble::hostrun {

struct DeviceFile {
  std::string path;  // "kernels/portable/conv2d.cpp", relative to the device source folder
  std::string text;

  [[nodiscard]] bool is_source() const { return path.ends_with(".cpp"); }
};

/// Returns the folder of the device sources: share/thimble/device of the installation. In a build
/// tree, device_folder.txt in the folder of the images names the source tree.
[[nodiscard]] Result<std::filesystem::path> device_folder();

/// Selects the device sources of a product: its model and its core.
struct DeviceSelection {
  std::vector<formats::pte::ChosenKernel> kernels;
  std::vector<DeviceKind> devices;   // of delegate calls
  bool runtime = false;              // false: C code that calls the kernels itself
  bool flatbuffer_executor = false;  // the runtime executes the flatbuffer tables, not records
  abi::Isa isa{};
  std::string_view core;  // "cortex-m7", whose loops kernels/dsp/dual_issue.h selects
};

/// Returns files sorted by path: the sources of the kernels, of the runtime and of the delegates,
/// the sources that define what these use on the core (device_links.def of the device folder), and
/// all headers that they include.
[[nodiscard]] Result<std::vector<DeviceFile>> device_sources(const DeviceSelection& selection);

}  // namespace thimble::hostrun
