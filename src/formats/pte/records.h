#pragma once
// The program of a native file as the runtime executes it (abi/records.h), made from the tables:
// whatever the records say, the tables say too. docs/formats/records.md has the bytes.

#include <functional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::formats::pte {

/// The letters of an operator that is called with so many arguments, without the return value; null
/// if there is no such operator.
using Letters = std::function<const char*(std::string_view name, size_t arguments)>;
/// Of abi/pte_ops.def.
[[nodiscard]] const char* known_letters(std::string_view name, size_t arguments);

/// Puts records behind the header of the entry "thimble", which must be there. An error says why
/// the program cannot be said by records: delegate calls, several plans or memories, operators
/// without letters, more of something than 16 bits count.
[[nodiscard]] Status add_records(Program& program, const Letters& letters = known_letters);

/// Whether the program has records.
[[nodiscard]] bool has_records(const Program& program);

/// Records, if there are any, must be those that add_records() would make.
[[nodiscard]] Status check_records(const Program& program, std::string_view label,
                                   const Letters& letters = known_letters);

/// Of a program with records: a line for each of them.
[[nodiscard]] std::string print_records(const Program& program);

}  // namespace thimble::formats::pte
