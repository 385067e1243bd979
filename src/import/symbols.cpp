// SPDX-License-Identifier: Apache-2.0
#include "import/symbols.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/nearest.h"

namespace thimble::import_pt2 {
namespace {

namespace pt2 = formats::pt2;

// Largest symbol value that is tried for `x[2]=N` if the size is an expression.
constexpr int64_t kCandidatesMax = 1 << 16;

/// A symbolic size of an input.
struct OpenSize {
  std::string place;    // "x[2]"
  std::string address;  // "x:2", which a shell does not interpret
  std::string expression;
  std::vector<std::string> symbols;
  bool is_batch = false;  // the first dimension, and the expression is only the symbol
};

/// Returns true if the expression equals the symbol, in any notation.
bool is_symbol_itself(std::string_view expression, const std::string& symbol) {
  for (const int64_t probe : {int64_t{1}, int64_t{7}, int64_t{1000}}) {
    const auto value = evaluate(expression, {{symbol, probe}});
    if (!value.ok() || *value != probe) return false;
  }
  return true;
}

Result<std::vector<OpenSize>> open_sizes(const pt2::ExportedProgram& program) {
  std::vector<OpenSize> result;
  for (const pt2::InputSpec& spec : program.input_specs) {
    const pt2::TensorMeta* meta = program.graph.tensor(spec.value_name);
    if (spec.kind != pt2::InputKind::kUserInput || meta == nullptr) continue;
    for (size_t axis = 0; axis < meta->sizes.size(); ++axis) {
      const pt2::SymInt& size = meta->sizes[axis];
      if (!size.is_symbolic()) continue;
      THIMBLE_TRY(auto symbols, symbols_of(size.expression));
      const bool alone = symbols.size() == 1 && is_symbol_itself(size.expression, symbols[0]);
      result.push_back({fmt::format("{}[{}]", spec.value_name, axis),
                        fmt::format("{}:{}", spec.value_name, axis), size.expression,
                        std::move(symbols), axis == 0 && alone});
    }
  }
  return result;
}

const OpenSize& first_place(const std::vector<OpenSize>& sizes, std::string_view symbol) {
  const auto uses = [&](const OpenSize& size) {
    return std::find(size.symbols.begin(), size.symbols.end(), symbol) != size.symbols.end();
  };
  return *std::find_if(sizes.begin(), sizes.end(), uses);
}

std::string range_text(const pt2::RangeConstraint& range) {
  if (range.min && range.max) return fmt::format("{} to {}", *range.min, *range.max);
  if (range.min) return fmt::format("{} or more", *range.min);
  return range.max ? fmt::format("up to {}", *range.max) : "any size";
}

// A name for the size of the first dimension, which every model may have.
constexpr std::string_view kBatch = "batch";

class Solver {
 public:
  Solver(const pt2::ExportedProgram& program, std::vector<OpenSize> sizes)
      : program_(program), sizes_(std::move(sizes)) {
    for (const OpenSize& size : sizes_) {
      for (const std::string& symbol : size.symbols) {
        if (std::find(symbols_.begin(), symbols_.end(), symbol) == symbols_.end()) {
          symbols_.push_back(symbol);
        }
      }
    }
  }

  Result<SymbolValues> solve(const ImportOptions& options) {
    for (const auto& [name, value] : options.shapes) THIMBLE_CHECK(give(name, value));
    for (const std::string& symbol : symbols_) THIMBLE_CHECK(finish(symbol));
    return std::move(values_);
  }

 private:
  pt2::RangeConstraint range(std::string_view symbol) const {
    const auto found = program_.range_constraints.find(symbol);
    return found == program_.range_constraints.end() ? pt2::RangeConstraint{} : found->second;
  }

  /// "s77 (in x[2], 4 to 128)"
  std::string describe(std::string_view symbol) const {
    return fmt::format("{} (in {}, {})", symbol, first_place(sizes_, symbol).place,
                       range_text(allowed(symbol)));
  }

  [[nodiscard]] bool is_batch(std::string_view symbol) const {
    return std::ranges::any_of(
        sizes_, [&](const OpenSize& size) { return size.is_batch && size.symbols[0] == symbol; });
  }

  /// The range of the export; a size is at least 1. PyTorch exports "2 or more" for a batch
  /// dimension without a given range.
  pt2::RangeConstraint allowed(std::string_view symbol) const {
    pt2::RangeConstraint result = range(symbol);
    const bool from_two = is_batch(symbol) && result.min == 2;
    result.min = from_two ? 1 : std::max<int64_t>(result.min.value_or(1), 1);
    return result;
  }

  /// The symbols of batch dimensions: one, if all inputs have the same batch size.
  [[nodiscard]] std::vector<std::string> batch_symbols() const {
    std::vector<std::string> found;
    std::ranges::copy_if(symbols_, std::back_inserter(found),
                         [&](const std::string& symbol) { return is_batch(symbol); });
    return found;
  }

  /// The names that --shape accepts: symbols and places, and `batch` if there is one batch size.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all = symbols_;
    for (const OpenSize& size : sizes_) all.push_back(size.address);
    if (batch_symbols().size() == 1) all.emplace_back(kBatch);
    return all;
  }

  /// Adds that the value is not in the range, with the name as the user wrote it.
  Status check_range(const std::string& name, const std::string& symbol, int64_t value) const {
    const pt2::RangeConstraint range = allowed(symbol);
    if (value >= *range.min && (!range.max || value <= *range.max)) return ok();
    return bad_input("--shape {}={}: the size {} cannot be {}", name, value, describe(symbol),
                     value);
  }

  Status set(const std::string& name, const std::string& symbol, int64_t value) {
    THIMBLE_CHECK(check_range(name, symbol, value));
    const auto [entry, fresh] = values_.try_emplace(symbol, value);
    if (fresh || entry->second == value) return ok();
    return bad_input("--shape gives {} the sizes {} and {}", symbol, entry->second, value);
  }

  /// Applies one option `--shape NAME=N`.
  Status give(const std::string& name, int64_t value) {
    if (std::find(symbols_.begin(), symbols_.end(), name) != symbols_.end())
      return set(name, name, value);
    for (const OpenSize& size : sizes_) {
      if (size.place == name || size.address == name) return solve_place(size, value);
    }
    if (symbols_.empty())
      return bad_input("--shape {}={}: all sizes of the model are fixed", name, value);
    const std::vector<std::string> batches = batch_symbols();
    if (name == kBatch && batches.size() == 1) return set(name, batches[0], value);
    std::string known;
    for (const std::string& symbol : symbols_) {
      known += (known.empty() ? "" : ", ") + describe(symbol);
    }
    // PyTorch writes symbols such as s77 to the file, not the names given to torch.export.Dim.
    return bad_input(
        "--shape {}={}: no such size{}; the dynamic sizes are {}; expected one of {} (an export "
        "does not store the names of torch.export.Dim)",
        name, value, suggestions(name, names()), known, fmt::join(names(), ", "));
  }

  /// Solves `x[2]=8` by trying values of the symbol if the size is an expression of one symbol.
  Status solve_place(const OpenSize& size, int64_t value) {
    if (size.symbols.size() == 1) {
      for (int64_t candidate = 0; candidate <= kCandidatesMax; ++candidate) {
        const auto found = evaluate(size.expression, {{size.symbols[0], candidate}});
        if (found && *found == value) return set(size.address, size.symbols[0], candidate);
      }
    }
    return bad_input(
        "--shape {}={}: the size is {}, which cannot be solved for this value; give {}", size.place,
        value, size.expression, fmt::join(size.symbols, ", "));
  }

  /// Applies the default if no value was given.
  Status finish(const std::string& symbol) {
    if (is_batch(symbol)) values_.try_emplace(symbol, 1);
    const auto found = values_.find(symbol);
    if (found == values_.end()) {
      return bad_input("the size {} is not fixed: give --shape {}=N", describe(symbol), symbol);
    }
    // A batch size without an option is 1, which the export may exclude.
    return check_range(symbol, symbol, found->second);
  }

  const pt2::ExportedProgram& program_;
  std::vector<OpenSize> sizes_;
  std::vector<std::string> symbols_;
  SymbolValues values_;
};

}  // namespace

Result<Symbols> Symbols::fix(const pt2::ExportedProgram& program, const ImportOptions& options) {
  THIMBLE_TRY(auto sizes, open_sizes(program));
  Symbols symbols;
  THIMBLE_TRY(symbols.values_, Solver(program, std::move(sizes)).solve(options));
  return symbols;
}

void Symbols::learn(const pt2::SymInt& size, int64_t value) {
  if (!size.is_symbolic()) return;
  const auto symbols = symbols_of(size.expression);
  if (!symbols.ok() || symbols->size() != 1 || !is_symbol_itself(size.expression, (*symbols)[0])) {
    return;
  }
  values_.try_emplace((*symbols)[0], value);
}

Result<int64_t> Symbols::value(const pt2::SymInt& size) const {
  if (!size.is_symbolic()) return size.value;
  return evaluate(size.expression, values_);
}

Result<std::vector<int64_t>> Symbols::values(const std::vector<pt2::SymInt>& sizes) const {
  std::vector<int64_t> result;
  for (const pt2::SymInt& size : sizes) {
    THIMBLE_TRY(const int64_t number, value(size));
    if (number < 0 || number > ir::kMaxElements) {
      return bad_input("a size or stride, {}, is {}, expected 0 to {}", size.expression, number,
                       ir::kMaxElements);
    }
    result.push_back(number);
  }
  return result;
}

}  // namespace thimble::import_pt2
