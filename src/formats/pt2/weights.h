// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tensors that are stored separately from the graph: parameters, buffers and lifted constants.
// A payload of the archive is a whole storage. Several names may refer to one storage, each with
// its own sizes, strides and offset. Data is read on request; a shared storage is read once.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pt2/program.h"
#include "formats/zip/zip.h"

namespace thimble::formats::pt2 {

/// Limit for the expansion of tensors (several views of one storage, strides of 0). All tensors of
/// an archive together may have kExpansionMax * (bytes in the archive) + kExpansionFreeBytes bytes.
inline constexpr uint64_t kExpansionFreeBytes = uint64_t{4} << 20;
inline constexpr uint64_t kExpansionMax = 4;

/// The storage and view of a named tensor.
struct Payload {
  std::string member;  // "data/weights/weight_17", without the archive's top folder
  TensorMeta meta;
  bool is_parameter = false;
  bool uses_pickle = false;  // a tensor subclass or custom object; never read
  bool has_tensor = true;    // false for a custom object
};

struct WeightTensor {
  ScalarType dtype = ScalarType::kUnknown;
  std::vector<int64_t> sizes;
  Bytes bytes;  // contiguous, little-endian
};

class Weights {
 public:
  Weights(std::shared_ptr<const zip::Archive> archive, std::string top_folder,
          NameMap<Payload> payloads);

  /// Finds a tensor by its fully qualified name ("features.0.weight"); null if it does not exist.
  [[nodiscard]] const Payload* find(std::string_view fqn) const;
  [[nodiscard]] const NameMap<Payload>& payloads() const { return payloads_; }

  /// Returns a contiguous copy. Errors name the archive, the member and the bytes that the tensor
  /// requires. Not thread-safe.
  [[nodiscard]] Result<WeightTensor> gather(std::string_view fqn) const;
  /// As `gather`, but a NaN, or an infinity in a parameter, is an error that names the element.
  /// (Attention masks with -inf are buffers or lifted constants, so infinities are allowed there.)
  [[nodiscard]] Result<WeightTensor> gather_finite(std::string_view fqn) const;

 private:
  struct Cache;
  [[nodiscard]] Error error(const Payload& payload, std::string_view what) const;
  [[nodiscard]] Result<std::shared_ptr<const Bytes>> storage(const Payload& payload) const;

  std::shared_ptr<const zip::Archive> archive_;
  std::string top_folder_;
  NameMap<Payload> payloads_;
  std::shared_ptr<Cache> cache_;
};

}  // namespace thimble::formats::pt2
