// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sizes that the export did not fix (`dynamic_shapes`). They are fixed before the graph is read.

#include <string>
#include <vector>

#include "base/result.h"
#include "formats/pt2/reader.h"
#include "import/expression.h"
#include "import/import.h"
#include "ir/type.h"

namespace thimble::import_pt2 {

class Symbols {
 public:
  /// A symbol gets the value of the options, or 1 if it is the first dimension of an input. Returns
  /// a bad-input error for a symbol without a value, a value outside its range, or an unknown
  /// option name. The message lists the known names.
  static Result<Symbols> fix(const formats::pt2::ExportedProgram& program,
                             const ImportOptions& options);

  /// Gives a size that depends on data its value, once the data is known.
  void learn(const formats::pt2::SymInt& size, int64_t value);

  [[nodiscard]] Result<int64_t> value(const formats::pt2::SymInt& size) const;
  /// Returns sizes or strides, which are 0 to ir::kMaxElements.
  [[nodiscard]] Result<std::vector<int64_t>> values(
      const std::vector<formats::pt2::SymInt>& sizes) const;

 private:
  SymbolValues values_;
};

}  // namespace thimble::import_pt2
