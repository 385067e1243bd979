// SPDX-License-Identifier: Apache-2.0
#include "tests/folders.h"

namespace thimble::test {

std::filesystem::path source_folder() {
  return THIMBLE_SOURCE_DIR;
}
std::filesystem::path build_folder() {
  return THIMBLE_BINARY_DIR;
}

}  // namespace thimble::test
