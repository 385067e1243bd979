// SPDX-License-Identifier: Apache-2.0
#pragma once
// Version of this build. The build writes the definitions (cmake/write_version.cmake).

namespace thimble::tools {

/// Semantic version: "0.2.0".
[[nodiscard]] const char* release_version();
/// First 12 digits of the git commit; "unknown" if the sources are not a git checkout.
[[nodiscard]] const char* release_commit();

}  // namespace thimble::tools
