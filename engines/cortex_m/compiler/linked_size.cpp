// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/linked_size.h"

#include <algorithm>
#include <charconv>
#include <span>
#include <vector>

#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/cortex_m.h"

namespace thimble::engine::cortex_m {
namespace {

enum class LinkRowKind : uint8_t { kCore, kGroup, kPart, kDriverPart, kKernel, kCRun, kCCall };

struct LinkRow {
  LinkRowKind kind;
  abi::PteOp op;          // of a kernel
  std::string_view name;  // of a core or part
  int64_t flash_bytes, ram_bytes;
  int64_t stack_bytes, flatbuffer_stack_bytes;
  std::string_view needs;  // the compiler of a core; the groups of a root
};

// Each core's rows follow its kCore row; a group's number is its position after it.
constexpr LinkRow kLinkRows[] = {
#define THIMBLE_LINK_CORE(core, compiler) {LinkRowKind::kCore, {}, core, 0, 0, 0, 0, compiler},
#define THIMBLE_LINK_GROUP(flash, ram) {LinkRowKind::kGroup, {}, "", flash, ram, 0, 0, ""},
#define THIMBLE_LINK_PART(name, flash, ram, stack, flatbuffer_stack, needs) \
  {LinkRowKind::kPart, {}, name, flash, ram, stack, flatbuffer_stack, needs},
#define THIMBLE_LINK_DRIVER_PART(name, flash, ram, stack, flatbuffer_stack, needs) \
  {LinkRowKind::kDriverPart, {}, name, flash, ram, stack, flatbuffer_stack, needs},
#define THIMBLE_LINK_KERNEL(op, flash, ram, stack, flatbuffer_stack, needs) \
  {LinkRowKind::kKernel, abi::PteOp::op, "", flash, ram, stack, flatbuffer_stack, needs},
#define THIMBLE_LINK_C_RUN(op, flash, ram, stack, flatbuffer_stack, needs) \
  {LinkRowKind::kCRun, abi::PteOp::op, "", flash, ram, stack, flatbuffer_stack, needs},
#define THIMBLE_LINK_C_CALL(op, flash, ram, stack, flatbuffer_stack, needs) \
  {LinkRowKind::kCCall, abi::PteOp::op, "", flash, ram, stack, flatbuffer_stack, needs},
#include "engines/cortex_m/compiler/linked/cortex_m0plus.def"
#include "engines/cortex_m/compiler/linked/cortex_m23.def"
#include "engines/cortex_m/compiler/linked/cortex_m3.def"
#include "engines/cortex_m/compiler/linked/cortex_m33.def"
#include "engines/cortex_m/compiler/linked/cortex_m4.def"
#include "engines/cortex_m/compiler/linked/cortex_m55.def"
#include "engines/cortex_m/compiler/linked/cortex_m7.def"
#undef THIMBLE_LINK_CORE
#undef THIMBLE_LINK_GROUP
#undef THIMBLE_LINK_PART
#undef THIMBLE_LINK_DRIVER_PART
#undef THIMBLE_LINK_KERNEL
#undef THIMBLE_LINK_C_RUN
#undef THIMBLE_LINK_C_CALL
};

/// Returns the row of the core and all rows that belong to it.
std::span<const LinkRow> rows_of(std::string_view core) {
  const auto is_core = [](const LinkRow& row) { return row.kind == LinkRowKind::kCore; };
  const auto* const begin = std::ranges::find_if(
      kLinkRows, [&](const LinkRow& row) { return is_core(row) && row.name == core; });
  if (begin == std::end(kLinkRows)) return {};
  return {begin, std::find_if(begin + 1, std::end(kLinkRows), is_core)};
}

std::vector<size_t> numbers_of(std::string_view text) {
  std::vector<size_t> numbers;
  while (!text.empty()) {
    size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    text.remove_prefix(
        std::min(text.size(), static_cast<size_t>(end - text.data()) + 1));  // and a space
  }
  return numbers;
}

/// Adds up the roots of one program.
class LinkSum {
 public:
  /// `flatbuffer`: the program calls its kernels through a flatbuffer, as a stock `.pte` does.
  LinkSum(std::span<const LinkRow> rows, bool flatbuffer) : rows_(rows), flatbuffer_(flatbuffer) {
    for (const LinkRow& row : rows) group_count_ += row.kind == LinkRowKind::kGroup ? 1 : 0;
    seen_.resize(rows.size());
  }

  void add(const LinkRow& root) {
    code.stack_bytes =
        std::max(code.stack_bytes, flatbuffer_ ? root.flatbuffer_stack_bytes : root.stack_bytes);
    add_once(static_cast<size_t>(&root - rows_.data()));
    // The groups are the rows after that of the core.
    for (const size_t group : numbers_of(root.needs)) {
      assert(group < group_count_);
      add_once(1 + group);
    }
  }

  LinkedCode code;

 private:
  void add_once(size_t row) {
    if (seen_[row]) return;
    seen_[row] = true;
    code.flash_bytes += rows_[row].flash_bytes;
    code.ram_bytes += rows_[row].ram_bytes;
  }

  std::span<const LinkRow> rows_;
  bool flatbuffer_;
  size_t group_count_ = 0;
  std::vector<bool> seen_;
};

}  // namespace

std::optional<LinkedCode> linked_code(const LinkRequest& request, const Core& core) {
  const std::span<const LinkRow> rows = rows_of(image_core(core.name));
  if (rows.empty()) return {};
  const auto part = [&](std::string_view name) -> const LinkRow* {
    const auto found = std::ranges::find_if(rows, [&](const LinkRow& row) {
      const bool is_part = row.kind == LinkRowKind::kPart || row.kind == LinkRowKind::kDriverPart;
      return is_part && row.name == name;
    });
    return found == rows.end() ? nullptr : &*found;
  };
  LinkSum sum(rows, !request.c_output && !request.records);
  if (!request.c_output) {
    sum.add(*part("runtime"));
    if (request.states) sum.add(*part("states"));
    if (!request.records) sum.add(*part("flatbuffer"));
  } else {
    if (request.copies) sum.add(*part("memcpy"));
    if (request.fills) sum.add(*part("memset"));
  }
  for (const std::string_view delegate : request.delegates) {
    const LinkRow* const row = part(delegate);
    if (row == nullptr) return {};
    sum.add(*row);
    sum.code.needs_driver |= row->kind == LinkRowKind::kDriverPart;
  }
  for (const abi::PteOp kernel : request.kernels) {
    const auto found = std::ranges::find_if(rows, [&](const LinkRow& row) {
      const bool is_c = row.kind == LinkRowKind::kCRun || row.kind == LinkRowKind::kCCall;
      return row.op == kernel && (request.c_output ? is_c : row.kind == LinkRowKind::kKernel);
    });
    if (found == rows.end()) return {};
    sum.add(*found);
    if (request.c_output) sum.code.addresses_only.push_back(found->kind == LinkRowKind::kCRun);
  }
  sum.code.compiler = rows[0].needs;
  sum.code.core = rows[0].name;
  return std::move(sum.code);
}

}  // namespace thimble::engine::cortex_m
