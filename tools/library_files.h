// SPDX-License-Identifier: Apache-2.0
#pragma once
// Folders with device code as libraries of other build systems: an Arduino library, which is also
// a PlatformIO library, and a CMSIS pack. The C of a model (`compile --emit c`) and the runtime
// with a model (`export-sources`) are both written in these layouts.

#include <string>
#include <string_view>
#include <vector>

#include "hostrun/device_sources.h"

namespace thimble::tools {

struct Library {
  std::string name;                        // of the model, an identifier of C
  std::string target;                      // a core or a part, as the user named it
  std::string cpu;                         // the part's core: "cortex-m4"
  std::string contains;                    // "its kernels", "the runtime and its kernels"
  std::vector<hostrun::DeviceFile> files;  // in src/, except the model's own header and sources
  std::vector<std::string> model_sources;  // in src/
  /// A complete program for examples/NAME/: setup() and loop(), or main(). Empty: none.
  std::string sketch;
  std::string main;
};

struct LibraryFile {
  std::string path;  // relative to the library's folder
  std::string text;
};

/// Returns library.properties, library.json and the sketch.
[[nodiscard]] std::vector<LibraryFile> arduino_files(const Library& library);
/// Returns Thimble.NAME.pdsc, and an example as a csolution project.
[[nodiscard]] std::vector<LibraryFile> cmsis_files(const Library& library);

}  // namespace thimble::tools
