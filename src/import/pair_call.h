// SPDX-License-Identifier: Apache-2.0
#pragma once
// One node that reads or computes complex tensors as pairs (complex_pairs.h), and the operators
// that have handlers for pairs.

#include <string>
#include <string_view>

#include "import/complex_pairs.h"
#include "import/handlers.h"

namespace thimble::import_pt2 {

[[nodiscard]] std::string imaginary_name(std::string_view name);
/// Returns the name of a tensor; null for other arguments.
[[nodiscard]] const std::string* tensor_name(const formats::pt2::Argument& argument);

/// One node with a pair as an operand or result.
class PairCall {
 public:
  PairCall(Context& context, const PairNames& pairs, const formats::pt2::Node& node,
           const ir::Source& source)
      : context_(context),
        pairs_(pairs),
        node_(node),
        source_(source),
        call_(context, node, source) {}

  [[nodiscard]] Call& call() { return call_; }

  struct Parts {
    ir::ValueId real = ir::kNoValue;
    ir::ValueId imaginary = ir::kNoValue;  // kNoValue: a real operand
  };

  /// Returns the parts of an argument: a pair, a real tensor or a number.
  Result<Parts> parts(std::string_view argument);
  /// Binds the first output to a pair.
  Status result(ir::ValueId real, ir::ValueId imaginary);
  Result<ir::ValueId> binary(ir::OpKind kind, ir::ValueId a, ir::ValueId b) {
    return call_.add(kind, {a, b});
  }

  /// Calls the handler for the real part and for the imaginary part.
  Status each_part(Handler handler);

 private:
  /// Replaces the name of a pair by that of its imaginary part.
  void rename(formats::pt2::Argument& argument);

  Context& context_;
  const PairNames& pairs_;
  const formats::pt2::Node& node_;
  const ir::Source& source_;
  Call call_;
};

/// Returns the first or the second half of `x` along `dim`.
[[nodiscard]] Result<ir::ValueId> half(Call& call, ir::ValueId x, int64_t dim, bool second);
/// Returns the real part, followed by the imaginary part along `dim`.
[[nodiscard]] Result<ir::ValueId> joined(Call& call, const PairCall::Parts& z, int64_t dim);

using PairHandler = Status (*)(PairCall&);
/// Return the handler of an operator; null if it has none there.
[[nodiscard]] PairHandler find_pair_transform(std::string_view target);
[[nodiscard]] PairHandler find_pair_arithmetic(std::string_view target);

}  // namespace thimble::import_pt2
