// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program of a native file in the form that the runtime executes (abi/records.h). Records are
// derived from the tables and contain no other information. docs/formats/records.md describes the
// bytes.

#include <functional>
#include <string>
#include <string_view>

#include "abi/pte_op.h"
#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

/// Returns the row of an operator that is called with `arguments` arguments, without the return
/// value; null if there is no such operator.
using FindOperator = std::function<const abi::PteOpInfo*(std::string_view name, size_t arguments)>;
/// Finds a row of abi/pte_ops.def.
[[nodiscard]] const abi::PteOpInfo* find_operator(std::string_view name, size_t arguments);

/// Returns the key of an entry of a method: `key` for the first method of a file, "KEY.NAME" for
/// the others.
[[nodiscard]] std::string method_key(std::string_view key, size_t method, std::string_view name);
/// Returns the key of the entry with the records of a plan.
[[nodiscard]] std::string entry_key(const Program& program, size_t plan);

/// Writes the number of methods to the header of the first method's entry; 0: one, without a table.
void set_method_count(NamedData& entry, uint16_t count);

/// Appends records to the header of each plan's entry, which must exist, and writes the table of
/// methods of a program with several plans. The error states why records cannot represent the
/// program: delegate calls, several memories, operators without letters, or a count that exceeds 16
/// bits.
[[nodiscard]] Status add_records(Program& program, const FindOperator& find = find_operator);

/// Checks that operators and packed constants have the kernel layout version of this release. Files
/// without the entry "thimble", and files without native operators, have none.
[[nodiscard]] Status check_kernel_layout(const Program& program, std::string_view label);

/// Returns true if the program has records.
[[nodiscard]] bool has_records(const Program& program);

/// Checks that the records, if they exist, are equal to those of add_records().
[[nodiscard]] Status check_records(const Program& program, std::string_view label,
                                   const FindOperator& find = find_operator);

/// Prints one line per record; the program must have records.
[[nodiscard]] std::string print_records(const Program& program);

}  // namespace thimble::formats::pte
