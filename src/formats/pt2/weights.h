#pragma once
// The tensors beside the graph: parameters, buffers and lifted constants. A payload of the archive
// is a whole storage; several names may look at one storage with their own sizes, strides and
// offset. Nothing is read before it is asked for, and a storage that is shared is read once.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pt2/program.h"
#include "formats/zip/zip.h"

namespace thimble::formats::pt2 {

/// The tensors of one archive together may unfold (views of one storage, strides of 0) to this
/// many bytes more than `kUnfoldMax` times what the archive holds.
inline constexpr uint64_t kUnfoldFreeBytes = uint64_t{4} << 20;
inline constexpr uint64_t kUnfoldMax = 4;

/// Where a name's elements are.
struct Payload {
  std::string member;  // "data/weights/weight_17", without the archive's top folder
  TensorMeta meta;
  bool is_parameter = false;
  bool uses_pickle = false;  // never read: a tensor subclass or custom object
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

  /// By fully qualified name ("features.0.weight"); null if the archive has no such tensor.
  [[nodiscard]] const Payload* find(std::string_view fqn) const;
  [[nodiscard]] const NameMap<Payload>& payloads() const { return payloads_; }

  /// A contiguous copy. Errors name the archive, the member and what the tensor would need.
  /// Not safe to call from two threads at once.
  [[nodiscard]] Result<WeightTensor> gather(std::string_view fqn) const;
  /// As `gather`, and a NaN, or an infinity in a parameter, is an error that names the element.
  /// (Buffers and lifted constants are where attention masks keep their -inf.)
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
