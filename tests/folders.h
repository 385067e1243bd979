// SPDX-License-Identifier: Apache-2.0
#pragma once
// The folders of a test program's data. One source file alone contains the paths, so that a
// compiler cache finds the objects of all other tests again in another clone.

#include <filesystem>

namespace thimble::test {

/// The root of the source tree.
std::filesystem::path source_folder();
/// The build folder.
std::filesystem::path build_folder();

}  // namespace thimble::test
