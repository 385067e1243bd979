// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/read.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/read_file.h"
#include "formats/pte/check.h"
#include "formats/pte/header.h"
#include "formats/pte/read_tables.h"

namespace thimble::formats::pte {
namespace {

/// Upper bound of a recovered alignment in bytes, above the requirement of any loader. A larger
/// power of two in an offset is not evidence of a requested alignment.
constexpr uint64_t kAlignmentMax = 128;

constexpr uint64_t lowest_bit(uint64_t number) {
  return number & (~number + 1);
}

class FileReader {
 public:
  FileReader(ByteView file, std::string_view label)
      : file_(file), label_(label), budget_(file.size()) {}

  Result<Program> run() {
    THIMBLE_TRY(header_, parse_header(file_, label_));
    THIMBLE_TRY(tables_, verify_tables(file_, header_, label_));
    root_ = tables_.root;
    out_.version = root_->version();
    if (root_->execution_plan() != nullptr) {
      for (const fb::ExecutionPlan* from : *root_->execution_plan()) {
        const std::string_view name = view(from->name());
        THIMBLE_TRY(PlanTables tables,
                    read_plan(*from, fmt::format("{}: plan {}", label_, name), budget_));
        THIMBLE_CHECK(blobs(tables));
        out_.plans.push_back(std::move(tables.plan));
      }
    }
    note_buffer_sizes();
    THIMBLE_CHECK(constants());
    THIMBLE_CHECK(mutable_segments());
    THIMBLE_CHECK(named_data());
    THIMBLE_CHECK(check(out_, label_));
    return std::move(out_);
  }

 private:
  struct Place {
    ByteView bytes;
    uint32_t alignment = 1;
  };

  [[nodiscard]] Error fail(std::string_view place, std::string_view what) const {
    return bad_input("{}: {}: {}", label_, place, what);
  }
  [[nodiscard]] Status spend(uint64_t amount) {
    if (budget_.take(amount)) return ok();
    return bad_input("{}: shared tables make the content many times larger than the file", label_);
  }

  [[nodiscard]] Result<Place> segment(const std::string& place, uint32_t index) const {
    const auto* all = root_->segments();
    const size_t count = all != nullptr ? all->size() : 0;
    if (index >= count) {
      return fail(place, fmt::format("{} is not an index of {} segments", index, count));
    }
    if (!header_.extended || header_.segment_base == 0) {
      return fail(place, "a segment in a file without an extended header");
    }
    const fb::DataSegment* from = all->Get(index);
    const uint64_t room = file_.size() - header_.segment_base;
    if (from->offset() > room || from->size() > room - from->offset()) {
      return fail(fmt::format("segments[{}]", index),
                  fmt::format("{} bytes at {} exceed the {} bytes after the segment base",
                              from->size(), from->offset(), room));
    }
    const uint64_t position = header_.segment_base + from->offset();
    const uint64_t alignment =
        std::min({lowest_bit(position), lowest_bit(header_.segment_base), kAlignmentMax});
    return Place{file_.subspan(position, from->size()), static_cast<uint32_t>(alignment)};
  }

  [[nodiscard]] Status blobs(PlanTables& tables) {
    for (size_t i = 0; i < tables.blob_places.size(); ++i) {
      const BlobRef& from = tables.blob_places[i];
      const auto next = static_cast<uint32_t>(out_.delegate_blobs.size());
      const auto [known, is_new] = blob_of_.emplace(from, next);
      tables.plan.delegates[i].blob = known->second;
      if (!is_new) continue;
      const std::string place =
          fmt::format("plan {}: delegates[{}].processed", tables.plan.name, i);
      THIMBLE_TRY(Place data, blob_bytes(place, from));
      THIMBLE_CHECK(spend(data.bytes.size()));
      out_.delegate_blobs.push_back({static_cast<BlobLocation>(from.location),
                                     data.alignment,
                                     {data.bytes.begin(), data.bytes.end()}});
    }
    return ok();
  }

  [[nodiscard]] Result<Place> blob_bytes(const std::string& place, const BlobRef& from) const {
    if (from.location == static_cast<int8_t>(BlobLocation::kSegment)) {
      return segment(place, from.index);
    }
    if (from.location != static_cast<int8_t>(BlobLocation::kInline)) {
      return fail(place, fmt::format("location {} is not 0 or 1", from.location));
    }
    const auto* all = root_->backend_delegate_data();
    const size_t count = all != nullptr ? all->size() : 0;
    if (from.index >= count) {
      return fail(place, fmt::format("{} is not an index of {} blobs", from.index, count));
    }
    return Place{raw(all->Get(from.index)->data()), 16};
  }

  static ByteView raw(const flatbuffers::Vector<uint8_t>* from) {
    if (from == nullptr) return {};
    return {reinterpret_cast<const std::byte*>(from->Data()), from->size()};
  }

  /// Computes the sizes of constants from the tensors that use them: the file does not store them.
  void note_buffer_sizes() {
    for (const ExecutionPlan& plan : out_.plans) {
      for (const EValue& value : plan.values) {
        const auto* tensor = std::get_if<Tensor>(&value);
        if (tensor == nullptr || tensor->data_buffer_idx == 0) continue;
        uint64_t segment = kConstants;
        if (tensor->allocation) segment = tensor->extra ? tensor->extra->mutable_segment : 0;
        uint64_t& size = size_of_[{segment, tensor->data_buffer_idx}];
        size = std::max(size, data_bytes(*tensor).value_or(UINT64_MAX));
      }
    }
  }

  [[nodiscard]] Status constants() {
    const auto* offsets = root_->constant_segment();
    if (offsets != nullptr && offsets->offsets() != nullptr && offsets->offsets()->size() > 0) {
      if (root_->constant_buffer() != nullptr && root_->constant_buffer()->size() > 0) {
        return fail("constant_buffer", "constants both in the flatbuffer and in a segment");
      }
      return buffers("constant_segment", *offsets, kConstants, out_.constants);
    }
    const auto* inline_buffers = root_->constant_buffer();
    if (inline_buffers == nullptr || inline_buffers->size() == 0) return ok();
    out_.constants_inline = true;
    out_.constants.clear();
    for (const fb::Buffer* buffer : *inline_buffers) {
      const ByteView bytes = out_.constants.empty() ? ByteView() : raw(buffer->storage());
      THIMBLE_CHECK(spend(1 + bytes.size()));
      out_.constants.emplace_back(bytes.begin(), bytes.end());
    }
    return ok();
  }

  [[nodiscard]] Status mutable_segments() {
    if (root_->mutable_data_segments() == nullptr) return ok();
    for (const fb::SubsegmentOffsets* from : *root_->mutable_data_segments()) {
      const size_t i = out_.mutable_segments.size();
      const std::string place = fmt::format("mutable_data_segments[{}]", i);
      if (from->offsets() == nullptr) return fail(place + ".offsets", "missing");
      MutableSegment& to = out_.mutable_segments.emplace_back();
      to.buffers = std::vector<Bytes>(1);
      if (from->offsets()->size() == 0) continue;
      THIMBLE_CHECK(buffers(place, *from, i, to.buffers));
    }
    return ok();
  }

  /// A buffer is as long as its tensor. Without a tensor, it ends at the start of the next buffer.
  [[nodiscard]] Status buffers(const std::string& place, const fb::SubsegmentOffsets& from,
                               uint64_t segment_key, std::vector<Bytes>& to) {
    const size_t count = from.offsets()->size();
    THIMBLE_CHECK(spend(count));
    to = std::vector<Bytes>(1);
    if (count == 1) return ok();  // no data; the segment may not exist
    THIMBLE_TRY(const Place data, segment(place + ".segment_index", from.segment_index()));
    const ByteView raw_offsets(reinterpret_cast<const std::byte*>(from.offsets()->Data()),
                               count * sizeof(uint64_t));
    std::set<uint64_t> starts = {data.bytes.size()};
    for (size_t i = 1; i < count; ++i) {
      const auto offset = load_le<uint64_t>(raw_offsets, i * sizeof(uint64_t));
      if (offset > data.bytes.size()) {
        return fail(fmt::format("{}.offsets[{}]", place, i),
                    fmt::format("{} is outside a segment of {} bytes", offset, data.bytes.size()));
      }
      starts.insert(offset);
    }
    for (size_t i = 1; i < count; ++i) {
      const auto offset = load_le<uint64_t>(raw_offsets, i * sizeof(uint64_t));
      const auto next = starts.upper_bound(offset);
      uint64_t size = next != starts.end() ? *next - offset : 0;
      const auto used = size_of_.find({segment_key, static_cast<uint32_t>(i)});
      if (used != size_of_.end()) size = std::min(used->second, data.bytes.size() - offset);
      THIMBLE_CHECK(spend(size));
      const ByteView bytes = data.bytes.subspan(offset, size);
      to.emplace_back(bytes.begin(), bytes.end());
    }
    return ok();
  }

  [[nodiscard]] Status named_data() {
    if (root_->named_data() == nullptr) return ok();
    for (const fb::NamedData* from : *root_->named_data()) {
      const std::string place = fmt::format("named_data[{}]", out_.named_data.size());
      if (from->key() == nullptr) return fail(place + ".key", "missing");
      THIMBLE_TRY(const Place data, segment(place + ".segment_index", from->segment_index()));
      THIMBLE_CHECK(spend(data.bytes.size() + from->key()->size()));
      out_.named_data.push_back(
          {from->key()->str(), data.alignment, {data.bytes.begin(), data.bytes.end()}});
    }
    return ok();
  }

  static constexpr uint64_t kConstants = UINT64_MAX;  // segment key; others: mutable segment index

  ByteView file_;
  std::string_view label_;
  ReadBudget budget_;
  Header header_;
  VerifiedTables tables_;
  const fb::Program* root_ = nullptr;
  std::map<BlobRef, uint32_t> blob_of_;
  std::map<std::pair<uint64_t, uint32_t>, uint64_t> size_of_;
  Program out_;
};

}  // namespace

Result<Program> read(ByteView bytes, std::string_view label) {
  return FileReader(bytes, label).run();
}

Result<Program> read_file(const std::filesystem::path& path) {
  THIMBLE_TRY(const Bytes bytes, base::read_file(path));
  return read(bytes, path.string());
}

}  // namespace thimble::formats::pte
