// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts the tables of a verified flatbuffer to structs, without the bytes of segments.

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/header.h"
#include "formats/pte/program.h"
#include "program_generated.h"

namespace thimble::formats::pte {

/// A copy of the flatbuffer at an aligned address, checked by the flatbuffers verifier.
struct VerifiedTables {
  std::vector<uint64_t> storage;
  const fb::Program* root = nullptr;
};
[[nodiscard]] Result<VerifiedTables> verify_tables(ByteView file, const Header& header,
                                                   std::string_view label);

/// Limits the amount of data read. Tables can share children, so a small file can describe a huge
/// program. A file whose content is many times its size is rejected.
class ReadBudget {
 public:
  explicit ReadBudget(uint64_t file_bytes) : left_(16 * file_bytes + 65536) {}
  [[nodiscard]] bool take(uint64_t amount) {
    if (amount > left_) return false;
    left_ -= amount;
    return true;
  }

 private:
  uint64_t left_;
};

/// Location of a delegate's payload in the file, before it gets an index in
/// Program::delegate_blobs.
struct BlobRef {
  int8_t location = 0;
  uint32_t index = 0;
  auto operator<=>(const BlobRef&) const = default;
};

struct PlanTables {
  ExecutionPlan plan;
  std::vector<BlobRef> blob_places;  // per delegate
};

[[nodiscard]] Result<PlanTables> read_plan(const fb::ExecutionPlan& plan, const std::string& where,
                                           ReadBudget& budget);

[[nodiscard]] inline std::string_view view(const flatbuffers::String* s) {
  return s != nullptr ? std::string_view(s->c_str(), s->size()) : std::string_view();
}

}  // namespace thimble::formats::pte
