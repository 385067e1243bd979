// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/records.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "abi/kernel_layout.h"
#include "abi/limits.h"
#include "abi/pte_ops.h"
#include "abi/records.h"
#include "formats/pte/record_contents.h"
#include "formats/pte/segments.h"

namespace thimble::formats::pte {
namespace {

/// Returns only the header of the entry.
Bytes entry_header(const NamedData& entry, uint16_t version) {
  Bytes bytes(entry.bytes.begin(), entry.bytes.begin() + sizeof(abi::ProgramEntry));
  std::memcpy(bytes.data() + offsetof(abi::ProgramEntry, entry_version), &version, sizeof version);
  return bytes;
}

std::string place_text(uint32_t place) {
  if (place < abi::kPlaceConstant) return fmt::format("arena {}", place);
  if (place < abi::kPlaceInput) return fmt::format("constants {}", place - abi::kPlaceConstant);
  if (place == abi::kPlaceNone) return "absent";
  return fmt::format("input {}", place - abi::kPlaceInput);
}

}  // namespace

const abi::PteOpInfo* find_operator(std::string_view name, size_t arguments) {
  for (const abi::PteOpInfo& op : abi::kPteOps) {
    if (name == op.name && std::string_view(op.arguments).size() == arguments) return &op;
  }
  return nullptr;
}

std::string method_key(std::string_view key, size_t method, std::string_view name) {
  return method == 0 ? std::string(key) : fmt::format("{}.{}", key, name);
}

std::string entry_key(const Program& program, size_t plan) {
  return method_key(abi::kProgramEntryKey, plan, program.plans[plan].name);
}

void set_method_count(NamedData& entry, uint16_t count) {
  std::memcpy(entry.bytes.data() + offsetof(abi::ProgramEntry, methods), &count, sizeof count);
}

namespace {

NamedData* find_entry(Program& program, std::string_view key) {
  const auto entry = std::ranges::find(program.named_data, key, &NamedData::key);
  return entry == program.named_data.end() ? nullptr : &*entry;
}

/// Replaces the records of an entry; its header remains.
void set_records(NamedData& entry, const RecordContents& contents) {
  entry.bytes = entry_header(entry, abi::kEntryVersionRecords);
  append(entry.bytes, bytes_of(contents));
}

/// Returns the table of methods. The positions of entries are those of the layout.
Bytes method_table(const Program& program, const Segments& layout) {
  Bytes table;
  for (size_t i = 0; i < program.plans.size(); ++i) {
    abi::MethodRecord record = {};
    const std::string& name = program.plans[i].name;
    assert(name.size() <= sizeof record.name);
    std::memcpy(record.name, name.data(), name.size());
    const std::string key = entry_key(program, i);
    for (size_t n = 0; n < program.named_data.size(); ++n) {
      if (program.named_data[n].key != key) continue;
      record.entry_at = static_cast<uint32_t>(layout.all[layout.named_data_index[n]].offset);
    }
    append_record(table, record);
  }
  return table;
}

/// Checks that each plan has an entry with a header, and several plans the table of methods.
Status check_entries(Program& program) {
  const bool several = program.plans.size() > 1;
  for (size_t i = 0; i < program.plans.size(); ++i) {
    const std::string key = entry_key(program, i);
    const NamedData* const entry = find_entry(program, key);
    if (entry == nullptr || entry->bytes.size() < sizeof(abi::ProgramEntry)) {
      return unsupported("the entry {} is missing or too short", key);
    }
    const std::string& name = program.plans[i].name;
    if (several && name.size() > abi::kMethodNameMax) {
      return unsupported("the name of method {} has {} letters, at most {} expected", name,
                         name.size(), abi::kMethodNameMax);
    }
  }
  if (several && find_entry(program, abi::kMethodsKey) == nullptr) {
    return unsupported("{} methods without the entry {}", program.plans.size(), abi::kMethodsKey);
  }
  return ok();
}

/// Writes the records of all plans. Without `layout`, positions in the file are 0.
Status write_records(Program& program, const FindOperator& find, const Segments* layout) {
  for (size_t i = 0; i < program.plans.size(); ++i) {
    THIMBLE_TRY(const RecordContents contents, record_contents(program, i, find, layout));
    set_records(*find_entry(program, entry_key(program, i)), contents);
  }
  return ok();
}

/// Removes the records of all plans; the headers of their entries remain.
void remove_records(Program& program) {
  for (size_t i = 0; i < program.plans.size(); ++i) {
    NamedData& entry = *find_entry(program, entry_key(program, i));
    entry.bytes = entry_header(entry, abi::kEntryVersionHeaderOnly);
  }
}

}  // namespace

Status add_records(Program& program, const FindOperator& find) {
  THIMBLE_CHECK(check_entries(program));
  const size_t plans = program.plans.size();
  NamedData* const table = plans > 1 ? find_entry(program, abi::kMethodsKey) : nullptr;
  // Positions depend on the sizes of all records.
  const auto write_both = [&]() -> Result<Segments> {
    THIMBLE_CHECK(write_records(program, find, nullptr));
    if (table != nullptr) table->bytes = Bytes(plans * sizeof(abi::MethodRecord));
    Segments layout = lay_out(program);
    THIMBLE_CHECK(write_records(program, find, &layout));
    return layout;
  };
  const Result<Segments> layout = write_both();
  if (!layout) {
    remove_records(program);
    return layout.error();
  }
  if (table != nullptr) {
    table->bytes = method_table(program, *layout);
    set_method_count(*find_entry(program, entry_key(program, 0)), static_cast<uint16_t>(plans));
  }
  return ok();
}

Status check_kernel_layout(const Program& program, std::string_view label) {
  const NamedData* entry = find_named_data(program, abi::kProgramEntryKey);
  if (entry == nullptr || entry->bytes.size() < sizeof(abi::ProgramEntry)) return ok();
  const auto program_version =
      load_le<uint16_t>(entry->bytes, offsetof(abi::ProgramEntry, entry_version));
  if (load_le<uint32_t>(entry->bytes, 0) == abi::kProgramEntryMagic &&
      program_version > abi::kEntryVersionRecords) {
    return unsupported(
        "{}: its program has version {}, this release runs versions 1 to {}: use the release that "
        "compiled it, or compile the model again",
        label, program_version, abi::kEntryVersionRecords);
  }
  const auto version =
      load_le<uint16_t>(entry->bytes, offsetof(abi::ProgramEntry, kernel_layout_version));
  if (abi::is_known_kernel_layout(version)) return ok();
  return unsupported(
      "{}: its operators have kernel layout version {}, this release runs version {}: compile the "
      "model again",
      label, version, abi::kKernelLayoutVersion);
}

bool has_records(const Program& program) {
  const NamedData* entry = find_named_data(program, abi::kProgramEntryKey);
  constexpr size_t kBytesMin = sizeof(abi::ProgramEntry) + sizeof(abi::RecordsHeader);
  return entry != nullptr && entry->bytes.size() >= kBytesMin &&
         load_le<uint32_t>(entry->bytes, 0) == abi::kProgramEntryMagic &&
         load_le<uint16_t>(entry->bytes, offsetof(abi::ProgramEntry, entry_version)) ==
             abi::kEntryVersionRecords;
}

Status check_records(const Program& program, std::string_view label, const FindOperator& find) {
  if (!has_records(program)) return ok();
  const Segments layout = lay_out(program);
  for (size_t i = 0; i < program.plans.size(); ++i) {
    const Result<RecordContents> contents = record_contents(program, i, find, &layout);
    if (!contents.ok()) {
      return bad_input("{}: has records, but records cannot represent this program: {}", label,
                       contents.error().message);
    }
    const Bytes expected = bytes_of(*contents);
    const NamedData* const entry = find_named_data(program, entry_key(program, i));
    if (entry == nullptr || entry->bytes.size() < sizeof(abi::ProgramEntry)) {
      return bad_input("{}: no entry {}", label, entry_key(program, i));
    }
    const ByteView found = ByteView(entry->bytes).subspan(sizeof(abi::ProgramEntry));
    const auto [at, other] = std::ranges::mismatch(found, expected);
    if (at == found.end() && other == expected.end()) continue;
    return bad_input("{}: the records are not those of the program, from byte {} of the entry on",
                     label, sizeof(abi::ProgramEntry) + static_cast<size_t>(at - found.begin()));
  }
  if (program.plans.size() == 1) return ok();
  const NamedData* const table = find_named_data(program, abi::kMethodsKey);
  if (table != nullptr && table->bytes == method_table(program, layout)) return ok();
  return bad_input("{}: named data {} is not the table of its methods", label, abi::kMethodsKey);
}

namespace {

std::string print_plan_records(const Program& program, size_t plan, const Segments& layout) {
  const FindOperator find = find_operator;
  const Result<RecordContents> contents = record_contents(program, plan, find, &layout);
  if (!contents.ok()) return fmt::format("no records: {}\n", contents.error().message);
  const std::string method =
      program.plans.size() == 1 ? "" : fmt::format(" of method {}", program.plans[plan].name);
  std::string text = fmt::format("records{} {} B\n", method, bytes_of(*contents).size());
  for (size_t i = 0; i < contents->operators.size(); ++i) {
    const abi::PteOpInfo& op = *contents->operators[i];
    text += fmt::format("  operator {} {:08x} {}({})\n", i, abi::word_of(op.key), op.name,
                        op.arguments);
  }
  for (size_t i = 0; i < contents->tensors.size(); ++i) {
    const RecordTensor& tensor = contents->tensors[i];
    text +=
        fmt::format("  tensor {} {}[{}] {}\n", i, name(tensor.type),
                    fmt::join(contents->shapes[tensor.shape].sizes, ","), place_text(tensor.place));
  }
  text += fmt::format("  inputs {}\n  outputs {}\n", fmt::join(contents->inputs, " "),
                      fmt::join(contents->outputs, " "));
  for (size_t i = 0; i < contents->calls.size(); ++i) {
    const RecordCall& call = contents->calls[i];
    text += fmt::format("  call {} operator {}: {}\n", i, call.op, fmt::join(call.operands, " "));
  }
  return text;
}

}  // namespace

std::string print_records(const Program& program) {
  const Segments layout = lay_out(program);
  std::string text;
  for (size_t i = 0; i < program.plans.size(); ++i) text += print_plan_records(program, i, layout);
  return text;
}

}  // namespace thimble::formats::pte
