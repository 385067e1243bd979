// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares the inferred shape and type of each result with those in the archive.

#include <string>
#include <string_view>

#include "import/call.h"

namespace thimble::import_pt2 {

/// Returns the error for a tensor type that cannot be computed, and what to export instead.
[[nodiscard]] Error unsupported_type(std::string_view what, formats::pt2::ScalarType type);

class ResultCheck {
 public:
  explicit ResultCheck(Context& context) : context_(context) {}
  /// Checks all results of a node that are bound.
  [[nodiscard]] Status check(const formats::pt2::Node& node);

 private:
  [[nodiscard]] Status check_result(const std::string& name, bool is_lstm);

  Context& context_;
  bool lstm_ranks_ = false;  // a final state of an LSTM had one dimension more: PyTorch 2.9
};

}  // namespace thimble::import_pt2
