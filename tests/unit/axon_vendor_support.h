#pragma once
// An SDK folder with the stand-in library, delegates from layer lists, and files with one call.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "axon_list.h"
#include "folder.h"
#include "target/axon/vendor/sdk.h"
#include "target/target.h"

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
  [[nodiscard]] target::VendorTools tools(const std::string& form) const;
  [[nodiscard]] target::axon::SdkOptions options() const;

 private:
  Folder folder_;
};

/// Returns the delegate that the engine makes of a layer list.
target::Delegate delegate_of(const std::vector<uint8_t>& container);

/// Returns a fully connected layer from int8 [1,1,1,inputs] to `outputs` values.
List small_list(uint32_t inputs, uint32_t outputs);

/// Returns a file with one delegate call: one input and outputs of these shapes, all int8.
Bytes file_with(const target::Delegate& delegate, const std::vector<int64_t>& input,
                const std::vector<std::vector<int64_t>>& outputs);

}  // namespace thimble::axon_vendor_test
