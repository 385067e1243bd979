// SPDX-License-Identifier: Apache-2.0
// Einstein sums, two operands at a time. Letters of both operands that are needed later are batch
// dimensions. Letters of both that are not needed are summed over. All other letters are rows or
// columns. The result is a combination of permute, reshape and one matrix product.

#include <algorithm>
#include <string>

#include "import/handlers.h"
#include "import/matmul.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

/// A tensor with one letter per dimension. Dimensions of `...` get digits, which cannot occur in an
/// equation: '0' is the last of them, '1' the one before it.
struct Labelled {
  ValueId id = ir::kNoValue;
  std::string letters;
};

bool has(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

/// Returns the letters of one operand with `...` expanded.
Result<std::string> written_out(const std::string& part, size_t rank) {
  std::string letters;
  for (size_t i = 0; i < part.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(part[i])) != 0) {
      letters.push_back(part[i]);
      continue;
    }
    const size_t rest = part.size() - i - 3;
    if (part.compare(i, 3, "...") != 0 || letters.size() + rest > rank) {
      return bad_input("'{}' does not name {} dimensions", part, rank);
    }
    const size_t hidden = rank - letters.size() - rest;
    if (hidden > 10) return unsupported("'...' of {} dimensions", hidden);
    for (size_t k = hidden; k-- > 0;) letters.push_back(static_cast<char>('0' + k));
    i += 2;
  }
  if (letters.size() != rank) return bad_input("'{}' does not name {} dimensions", part, rank);
  std::string sorted = letters;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return unsupported("a repeated letter in '{}': take torch.diagonal of the operand first", part);
  }
  return letters;
}

struct Equation {
  std::vector<std::string> operands;
  std::string result;  // letters of the result
};

/// Returns the result letters of an equation without `->`: every letter that occurs once, in
/// alphabetical order.
std::string implied(const std::vector<std::string>& operands, const std::string& hidden) {
  std::string all, result = hidden;
  for (const std::string& letters : operands) all += letters;
  std::sort(all.begin(), all.end());
  for (const char letter : all) {
    const bool once = std::count(all.begin(), all.end(), letter) == 1;
    if (once && !has(hidden, letter)) result.push_back(letter);
  }
  return result;
}

class Sum {
 public:
  explicit Sum(Call& call) : call_(call) {}

  /// Sums one operand over the letters that are not in `needed`.
  Result<Labelled> reduced(Labelled x, const std::string& needed) {
    Ints dims;
    std::string kept;
    for (size_t i = 0; i < x.letters.size(); ++i) {
      if (has(needed, x.letters[i])) {
        kept.push_back(x.letters[i]);
      } else {
        dims.push_back(static_cast<int64_t>(i));
      }
    }
    if (dims.empty()) return x;
    THIMBLE_TRY(x.id, call_.add(OpKind::sum, {x.id},
                                {{ir::attr::dims, dims}, {ir::attr::keepdim, int64_t{0}}}));
    x.letters = kept;
    return x;
  }

  Result<Labelled> multiplied(Labelled a, Labelled b, const std::string& needed) {
    THIMBLE_TRY(a, reduced(a, needed + b.letters));
    THIMBLE_TRY(b, reduced(b, needed + a.letters));
    std::string batch, inner, rows, columns;
    for (const char letter : a.letters) {
      const bool shared = has(b.letters, letter);
      (!shared ? rows : has(needed, letter) ? batch : inner).push_back(letter);
    }
    for (const char letter : b.letters) {
      if (!has(a.letters, letter)) columns.push_back(letter);
    }
    if (inner.empty()) return elementwise(a, b, batch, rows, columns);
    const ir::Shape row_sizes = sizes(a, rows);
    const ir::Shape column_sizes = sizes(b, columns);
    THIMBLE_TRY(const ir::Shape batch_sizes, joint_sizes(a, b, batch));
    // If b already has the summed letters before its columns, it needs no permute.
    const bool transposes = b.letters != batch + inner + columns;
    THIMBLE_TRY(const ValueId left, matrices(a, batch, rows, inner));
    THIMBLE_TRY(const ValueId right, transposes ? matrices(b, batch, columns, inner)
                                                : matrices(b, batch, inner, columns));
    THIMBLE_TRY(ValueId y, transposes ? multiplied_transposed(call_, left, right)
                                      : import_pt2::multiplied(call_, left, right));
    ir::Shape shape = batch_sizes;
    shape.insert(shape.end(), row_sizes.begin(), row_sizes.end());
    shape.insert(shape.end(), column_sizes.begin(), column_sizes.end());
    THIMBLE_TRY(y, call_.reshape(y, shape));
    return Labelled{y, batch + rows + columns};
  }

  /// Permutes the dimensions to the order of `letters`, a permutation of the operand's letters.
  Result<ValueId> ordered(const Labelled& x, const std::string& letters) {
    Ints dims;
    for (const char letter : letters) dims.push_back(static_cast<int64_t>(x.letters.find(letter)));
    return call_.add(OpKind::permute, {x.id}, {{ir::attr::dims, dims}});
  }

 private:
  [[nodiscard]] int64_t size(const Labelled& x, char letter) const {
    return call_.shape(x.id)[x.letters.find(letter)];
  }
  [[nodiscard]] ir::Shape sizes(const Labelled& x, const std::string& letters) const {
    ir::Shape result;
    for (const char letter : letters) result.push_back(size(x, letter));
    return result;
  }
  /// Returns the sizes of the letters after broadcasting.
  [[nodiscard]] Result<ir::Shape> joint_sizes(const Labelled& a, const Labelled& b,
                                              const std::string& letters) const {
    ir::Shape result;
    for (const char letter : letters) {
      const int64_t first = size(a, letter);
      const int64_t second = size(b, letter);
      if (first != second && first != 1 && second != 1) {
        return bad_input("{} is {} and {}", letter, first, second);
      }
      result.push_back(std::max(first, second));
    }
    return result;
  }

  /// Returns [batch..., outer, inner], where `outer` and `inner` are merged into one dimension
  /// each.
  Result<ValueId> matrices(const Labelled& x, const std::string& batch, const std::string& outer,
                           const std::string& inner) {
    THIMBLE_TRY(const ValueId turned, ordered(x, batch + outer + inner));
    ir::Shape shape = sizes(x, batch);
    shape.push_back(ir::element_count(sizes(x, outer)));
    shape.push_back(ir::element_count(sizes(x, inner)));
    return call_.reshape(turned, shape);
  }

  /// Multiplies elementwise with broadcasting, for operands without summed letters.
  Result<Labelled> elementwise(const Labelled& a, const Labelled& b, const std::string& batch,
                               const std::string& rows, const std::string& columns) {
    THIMBLE_TRY(ValueId left, ordered(a, batch + rows));
    THIMBLE_TRY(ValueId right, ordered(b, batch + columns));
    ir::Shape shape = call_.shape(left);
    shape.insert(shape.end(), columns.size(), 1);
    THIMBLE_TRY(left, call_.reshape(left, shape));
    shape = call_.shape(right);
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(batch.size()), rows.size(), 1);
    THIMBLE_TRY(right, call_.reshape(right, shape));
    THIMBLE_TRY(const ValueId y, call_.add(OpKind::mul, {left, right}));
    return Labelled{y, batch + rows + columns};
  }

  Call& call_;
};

Result<Equation> read_equation(Call& call, const std::vector<ValueId>& operands) {
  THIMBLE_TRY(std::string text, call.text("equation"));
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation equation;
  std::string hidden;  // the longest expansion of '...'
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t comma = left.find(',');
    const std::string part = left.substr(0, comma);
    if ((comma == std::string::npos) != (i + 1 == operands.size())) {
      return bad_input("equation '{}' for {} operands", text, operands.size());
    }
    left = comma == std::string::npos ? "" : left.substr(comma + 1);
    THIMBLE_TRY(std::string letters, written_out(part, call.shape(operands[i]).size()));
    std::string dots;
    std::copy_if(letters.begin(), letters.end(), std::back_inserter(dots),
                 [](char c) { return c >= '0' && c <= '9'; });
    if (dots.size() > hidden.size()) hidden = dots;
    equation.operands.push_back(std::move(letters));
  }
  if (arrow == std::string::npos) {
    equation.result = implied(equation.operands, hidden);
    return equation;
  }
  const std::string right = text.substr(arrow + 2);
  const size_t dots = right.find("...") == std::string::npos ? 0 : 3;
  THIMBLE_TRY(equation.result,
              written_out(right, right.size() - dots + (dots == 0 ? 0 : hidden.size())));
  std::string all;
  for (const std::string& letters : equation.operands) all += letters;
  for (const char letter : equation.result) {
    if (!has(all, letter))
      return bad_input("equation '{}': no operand has the letter {}", text, letter);
  }
  return equation;
}

}  // namespace

namespace handlers {

Status einsum(Call& call) {
  THIMBLE_TRY(const auto operands, call.tensors("tensors"));
  if (operands.empty()) return bad_input("no operands");
  THIMBLE_TRY(const Equation equation, read_equation(call, operands));
  Sum sum(call);
  Labelled y{operands[0], equation.operands[0]};
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string needed = equation.result;
    for (size_t k = i + 1; k < operands.size(); ++k) needed += equation.operands[k];
    THIMBLE_TRY(y, sum.multiplied(y, {operands[i], equation.operands[i]}, needed));
  }
  THIMBLE_TRY(y, sum.reduced(y, equation.result));
  return call.result(sum.ordered(y, equation.result));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
