#pragma once
// Sources of kernels as a product compiles them that takes no more of this tree: the files of some
// kernels and what those include.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "hostrun/kernel_source.h"

namespace thimble::hostrun {

struct DeviceFile {
  std::string path;  // "kernels/portable/conv2d.cpp", of the device sources' folder
  std::string text;

  [[nodiscard]] bool is_source() const { return path.ends_with(".cpp"); }
};

/// Where the device sources are: installed with the program, or the tree that it was built from.
[[nodiscard]] Result<std::filesystem::path> device_folder();

/// Sorted by path. Besides the kernels' files: headers that they include, and all sources without
/// kernels in these headers' folders, which hold what the headers declare.
[[nodiscard]] Result<std::vector<DeviceFile>> device_sources(
    const std::vector<ChosenKernel>& kernels);

}  // namespace thimble::hostrun
