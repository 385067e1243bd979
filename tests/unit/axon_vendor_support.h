// SPDX-License-Identifier: Apache-2.0
#pragma once
// An SDK folder with the stand-in library, delegates from layer lists, and files with one call.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "axon_list.h"
#include "engine/engine.h"
#include "engines/axon/compiler/vendor/sdk.h"
#include "folder.h"

namespace thimble::axon_vendor_test {

namespace fs = std::filesystem;
using axon_test::List;
using axon_test::Tensor;
using test::Folder;

/// Returns the path of the library in an SDK folder.
fs::path library_in(const fs::path& sdk);
/// An SDK folder with the stand-in. Sets AXON_STANDIN to `mode` during the object's lifetime.
class StandinSdk {
 public:
  explicit StandinSdk(const std::string& mode = "");
  ~StandinSdk() { ::unsetenv("AXON_STANDIN"); }
  [[nodiscard]] engine::VendorTools tools(const std::string& form) const;
  [[nodiscard]] engine::axon::SdkOptions options() const;

 private:
  Folder folder_;
};

/// A layer list as its engine would hand it on.
engine::Delegate delegate_of(const std::vector<uint8_t>& container);

/// Returns a fully connected layer from int8 [1,1,1,inputs] to `outputs` values.
List small_list(uint32_t inputs, uint32_t outputs);

/// A file whose one call is the delegate's: one input and outputs of these shapes, all int8.
Bytes file_with(const engine::Delegate& delegate, const std::vector<int64_t>& input,
                const std::vector<std::vector<int64_t>>& outputs);

}  // namespace thimble::axon_vendor_test
