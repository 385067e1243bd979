#pragma once
// The tables of a verified flatbuffer as structs, still without the bytes of segments.

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/header.h"
#include "formats/pte/program.h"
#include "program_generated.h"

namespace thimble::formats::pte {

/// The flatbuffer, copied to where its numbers are aligned, after flatbuffers' own verifier.
struct VerifiedTables {
  std::vector<uint64_t> storage;
  const fb::Program* root = nullptr;
};
[[nodiscard]] Result<VerifiedTables> verify_tables(ByteView file, const Header& header,
                                                   std::string_view label);

/// Tables can share children, so a small file can describe a huge program. What is read is counted,
/// and a file whose content is many times its size is refused.
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

/// Where a delegate's payload is, before it is a number of Program::delegate_blobs.
struct BlobPlace {
  int8_t location = 0;
  uint32_t index = 0;
  auto operator<=>(const BlobPlace&) const = default;
};

struct PlanTables {
  ExecutionPlan plan;
  std::vector<BlobPlace> blob_places;  // per delegate
};

[[nodiscard]] Result<PlanTables> read_plan(const fb::ExecutionPlan& plan, const std::string& where,
                                           ReadBudget& budget);

[[nodiscard]] inline std::string_view view(const flatbuffers::String* s) {
  return s != nullptr ? std::string_view(s->c_str(), s->size()) : std::string_view();
}

}  // namespace thimble::formats::pte
