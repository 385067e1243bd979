#pragma once
// Sizes that the export left open (`dynamic_shapes`), fixed once, before anything else is read.

#include <string>
#include <vector>

#include "base/result.h"
#include "formats/pt2/reader.h"
#include "import/expression.h"
#include "import/import.h"

namespace thimble::import_pt2 {

class Symbols {
 public:
  /// A symbol gets the value of the options, or 1 if it is the first dimension of an input.
  /// A symbol without a value, a value outside its range and an option that names nothing are bad
  /// input, and the message names what there is.
  static Result<Symbols> fix(const formats::pt2::ExportedProgram& program,
                             const ImportOptions& options);

  [[nodiscard]] Result<int64_t> value(const formats::pt2::SymInt& size) const;
  [[nodiscard]] Result<std::vector<int64_t>> values(
      const std::vector<formats::pt2::SymInt>& sizes) const;

 private:
  SymbolValues values_;
};

}  // namespace thimble::import_pt2
