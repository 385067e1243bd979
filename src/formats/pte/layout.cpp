// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/layout.h"

#include <nlohmann/json.hpp>

#include "formats/pte/header.h"
#include "formats/pte/read_tables.h"
#include "formats/pte/text_words.h"

namespace thimble::formats::pte {
namespace {

/// Limit in characters, sufficient for display. In a hostile file every key could name every
/// segment.
constexpr size_t kRoleLengthMax = 200;

/// Appends to the role text of a segment that several tables may refer to.
void add_role(FileLayout& layout, uint32_t segment, std::string_view word,
              std::string_view name = {}) {
  if (segment >= layout.segments.size()) return;
  std::string& roles = layout.segments[segment].role;
  if (roles.size() > kRoleLengthMax) return;
  if (!roles.empty()) roles += ", ";
  roles += word;
  if (!name.empty()) roles.append(" ").append(name.substr(0, kRoleLengthMax));
}

void add_delegate_roles(FileLayout& layout, const fb::Program& root) {
  if (root.execution_plan() == nullptr) return;
  for (const fb::ExecutionPlan* plan : *root.execution_plan()) {
    if (plan->delegates() == nullptr) continue;
    for (const fb::BackendDelegate* delegate : *plan->delegates()) {
      const auto* place = delegate->processed();
      if (place == nullptr) continue;
      if (place->location() != static_cast<int8_t>(BlobLocation::kSegment)) continue;
      add_role(layout, place->index(), "delegate", view(delegate->id()));
    }
  }
}

void add_roles(FileLayout& layout, const fb::Program& root) {
  const auto* constants = root.constant_segment();
  if (constants != nullptr && constants->offsets() != nullptr && constants->offsets()->size() > 1) {
    add_role(layout, constants->segment_index(), "constants");
  }
  if (root.mutable_data_segments() != nullptr) {
    uint32_t number = 0;
    for (const fb::SubsegmentOffsets* offsets : *root.mutable_data_segments()) {
      add_role(layout, offsets->segment_index(), "mutable", std::to_string(number++));
    }
  }
  add_delegate_roles(layout, root);
  if (root.named_data() != nullptr) {
    for (const fb::NamedData* data : *root.named_data()) {
      add_role(layout, data->segment_index(), "named", view(data->key()));
    }
  }
}

}  // namespace

Result<FileLayout> read_layout(ByteView file, std::string_view label) {
  THIMBLE_TRY(const Header header, parse_header(file, label));
  THIMBLE_TRY(const VerifiedTables tables, verify_tables(file, header, label));
  FileLayout layout{file.size(),         header.program_size, header.extended,
                    header.segment_base, header.segment_size, {}};
  if (tables.root->segments() != nullptr) {
    for (const fb::DataSegment* segment : *tables.root->segments()) {
      layout.segments.push_back({header.segment_base + segment->offset(), segment->size(), {}});
    }
  }
  add_roles(layout, *tables.root);
  return layout;
}

std::string print(const FileLayout& layout) {
  std::string out =
      fmt::format("# file {} bytes, program {} bytes", layout.file_bytes, layout.program_bytes);
  if (layout.has_header) out += fmt::format(", segments from {}", layout.segment_base);
  out += '\n';
  for (size_t i = 0; i < layout.segments.size(); ++i) {
    const SegmentRange& segment = layout.segments[i];
    out += fmt::format("# segment {} at {}: {} bytes, {}\n", i, segment.offset, segment.size,
                       segment.role.empty() ? "unused" : escape(segment.role));
  }
  return out;
}

std::string print_json(const FileLayout& layout) {
  nlohmann::ordered_json out = {{"file_bytes", layout.file_bytes},
                                {"program_bytes", layout.program_bytes},
                                {"extended_header", layout.has_header},
                                {"segment_base", layout.segment_base},
                                {"segment_bytes", layout.segment_bytes}};
  out["segments"] = nlohmann::ordered_json::array();
  for (const SegmentRange& segment : layout.segments) {
    out["segments"].push_back(
        {{"offset", segment.offset}, {"bytes", segment.size}, {"role", segment.role}});
  }
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace thimble::formats::pte
