// SPDX-License-Identifier: Apache-2.0
#pragma once
// One node of the exported graph, as its handler accesses it. Arguments are read by their ATen
// schema names; omitted arguments have the default of the schema. The handler adds operators and
// binds results.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/unique_names.h"
#include "formats/pt2/program.h"
#include "import/position.h"
#include "import/symbols.h"
#include "import/tensors.h"

namespace thimble::import_pt2 {

using Ints = std::vector<int64_t>;

/// State shared by all nodes.
struct Context {
  const formats::pt2::ExportedProgram& program;
  Symbols symbols;
  Builder builder;
  Tensors tensors;
  SymbolValues sizes;                                // values of the graph's symbolic integers
  std::map<std::string, double, std::less<>> reals;  // of its symbolic floats and booleans
  formats::pt2::Graph expanded;                      // types of the nodes that replace control flow
  UniqueNames names;                                 // names of the graph and of `expanded`
  PositionCounts counts;                             // of earlier passes over the graph
  PositionCounts found_counts;                       // of this one
  std::unordered_set<std::string> dynamic_scales;    // constants that depend on choose_qparams
  std::unordered_set<std::string> dynamic_results;   // other results that do
  int64_t grouped_weights = 0;                       // weights with several scales per channel

  Context(const formats::pt2::ExportedProgram& exported, Symbols fixed, PositionCounts known)
      : program(exported),
        symbols(std::move(fixed)),
        builder(exported.archive_bytes),
        tensors(builder, exported.weights),
        counts(std::move(known)) {}
  /// Returns the archive's metadata of a tensor; null if there is none.
  [[nodiscard]] const formats::pt2::TensorMeta* meta(std::string_view name) const {
    const formats::pt2::TensorMeta* own = program.graph.tensor(name);
    return own != nullptr ? own : expanded.tensor(name);
  }
  /// Returns the expression of a symbolic integer; null if there is none.
  [[nodiscard]] const formats::pt2::SymInt* size_expression(std::string_view name) const {
    for (const auto* graph : {&program.graph, &expanded}) {
      const auto found = graph->sym_int_values.find(name);
      if (found != graph->sym_int_values.end()) return &found->second;
    }
    return nullptr;
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

class Call {
 public:
  Call(Context& context, const formats::pt2::Node& node, const ir::Source& source)
      : context_(context), node_(node), source_(source) {}

  // Arguments. An argument without a fallback is required. None counts as omitted.
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] bool is_tensor(std::string_view name) const;
  /// Returns true if the argument is a tensor without elements.
  [[nodiscard]] bool is_empty(std::string_view name) const;
  [[nodiscard]] bool is_string(std::string_view name) const;
  Result<ir::ValueId> any_tensor(std::string_view name);
  /// Returns a float32 tensor. Integer constants and booleans are converted, as PyTorch promotes.
  Result<ir::ValueId> tensor(std::string_view name);
  /// Same as `tensor`; kNoValue if omitted.
  Result<ir::ValueId> optional_tensor(std::string_view name);
  /// Returns a list of tensors of one type: all are converted to float32 if one of them is float32.
  /// Tensors without elements are left out.
  Result<std::vector<ir::ValueId>> tensors(std::string_view name);
  /// Returns a list of tensors of any type; kNoValue for an omitted one.
  Result<std::vector<ir::ValueId>> optional_tensors(std::string_view name);
  /// Returns a float32 tensor that is known at import: a weight, or a result of views and
  /// arithmetic on weights.
  Result<const ir::Tensor*> constant(std::string_view name);
  /// Returns an integer between -ir::kMaxElements and ir::kMaxElements: the product of two fits in
  /// int64_t.
  Result<int64_t> integer(std::string_view name, std::optional<int64_t> fallback = {}) const;
  /// Same, without a limit.
  Result<int64_t> any_integer(std::string_view name, std::optional<int64_t> fallback = {}) const;
  Result<double> number(std::string_view name, std::optional<double> fallback = {}) const;
  /// Returns a number, also a symbolic one with a known value; nothing for other arguments.
  [[nodiscard]] std::optional<double> known_number(const formats::pt2::Argument& argument) const;
  Result<bool> boolean(std::string_view name, std::optional<bool> fallback = {}) const;
  /// Returns integers with the limit of integer().
  Result<Ints> integers(std::string_view name, std::optional<Ints> fallback = {}) const;
  Result<std::vector<double>> numbers(std::string_view name) const;
  Result<std::string> text(std::string_view name, std::optional<std::string> fallback = {}) const;
  Result<formats::pt2::ScalarType> scalar_type(std::string_view name,
                                               formats::pt2::ScalarType fallback) const;
  /// Returns one number per spatial dimension; a single number applies to all of them.
  Result<Ints> spatial(std::string_view name, size_t rank, int64_t fallback) const;
  /// Returns a dimension of a tensor of this rank. Negative dimensions are converted.
  Result<int64_t> dimension(std::string_view name, size_t rank,
                            std::optional<int64_t> fallback = {}) const;
  Result<Ints> dimensions(std::string_view name, size_t rank) const;

  // Operators. Their results are named after the node.
  Result<ir::ValueId> add(ir::OpKind kind, std::vector<ir::ValueId> inputs, ir::Attrs attrs = {});
  Result<ir::ValueId> apply(const View& view, ir::ValueId value);
  Result<ir::ValueId> write_through(const View& view, ir::ValueId base, ir::ValueId value);
  Result<ir::ValueId> reshape(ir::ValueId value, ir::Shape shape);
  /// Returns value * factor; adds no operator if the factor is 1.
  Result<ir::ValueId> scaled(ir::ValueId value, double factor);
  /// Converts a `where` between constants by converting the constants. Returns kNoValue if `value`
  /// is not such a `where`.
  Result<ir::ValueId> where_converted_to(ir::ValueId value, ir::DType dtype);
  /// Records that a dimension of `size` elements is indexed with `index` (position.h).
  void note_position(ir::ValueId index, int64_t size) {
    import_pt2::note_position(context_.builder, index, size, context_.found_counts);
  }
  /// Returns the table of a value that is computed from one position; nothing for other values.
  [[nodiscard]] std::optional<PositionTable> position_table(ir::ValueId value) const {
    return table_of(context_.builder, value, context_.counts);
  }
  /// Adds the row of a table at run time.
  Result<ir::ValueId> table_row(const PositionTable& table, const ir::Shape& shape) {
    return row_of_table(context_.builder, table, shape, source_, result_name());
  }
  /// Binds the outputs, scale and zero point that the network computes at run time, to 1 and 0.
  Status bind_dynamic_scale();
  /// Returns true if the argument depends on such outputs.
  [[nodiscard]] bool is_dynamic_scale(std::string_view argument) const;
  void note_grouped_weights() { ++context_.grouped_weights; }
  ir::ValueId scalar(double value);
  ir::ValueId constant_value(std::string_view role, ir::Tensor tensor);
  /// Returns a tensor in which every element is `value`, for a constant that the archive does not
  /// have. Not supported if the constants of the model and of this node exceed their limit.
  Result<ir::Tensor> new_constant(ir::DType dtype, const ir::Shape& shape, double value = 0);
  /// Adds a constant of the archive or of the builder in another type, with the same limit.
  Result<ir::ValueId> converted_constant(std::string_view role, const ir::Tensor& from,
                                         ir::DType dtype);
  /// Returns an error if new_constant(dtype, shape) does.
  [[nodiscard]] Status check_constant(ir::DType dtype, const ir::Shape& shape) const;
  /// Counts the elements of a temporary list (Builder::count_computed). Not supported if it has
  /// more bytes than further constants may have.
  Status check_list(int64_t count, size_t element_bytes = sizeof(int64_t));
  [[nodiscard]] Builder& builder() { return context_.builder; }
  [[nodiscard]] const ir::Shape& shape(ir::ValueId id) const { return context_.builder.shape(id); }

  // Results. An output of the node that is not bound has no value; a use of it is an error.
  /// Binds the first output to a new tensor. For an in-place operator, writes it to `self`.
  /// If `value` is an error, returns it.
  Status result(Result<ir::ValueId> value);
  /// Binds the outputs to new tensors, in order. Further outputs are not bound.
  Status results(const std::vector<ir::ValueId>& values);
  /// Binds outputs that share the memory of argument `base`.
  Status view(View view, std::string_view base = "self") { return views({std::move(view)}, base); }
  Status views(std::vector<View> views, std::string_view base = "self");
  /// Binds the first output to the elements of argument `base`. It shares the memory of `base` if
  /// both have the same strides in the export.
  Status same(std::string_view base = "self");

  [[nodiscard]] const formats::pt2::Node& node() const { return node_; }
  /// Returns the archive's metadata of the tensor of an argument or of the first output.
  [[nodiscard]] const formats::pt2::TensorMeta* meta(std::string_view argument) const;
  [[nodiscard]] const formats::pt2::TensorMeta* result_meta() const;
  [[nodiscard]] const Symbols& symbols() const { return context_.symbols; }

 private:
  [[nodiscard]] const formats::pt2::Argument* find(std::string_view name) const;
  [[nodiscard]] Result<const formats::pt2::Argument*> given(std::string_view name) const;
  [[nodiscard]] Error wrong(std::string_view name, std::string_view wanted) const;
  Result<int64_t> size(const formats::pt2::SymIntArg& argument) const;
  Result<ir::ValueId> as_float(ir::ValueId value, std::string_view name);
  [[nodiscard]] std::vector<std::string> output_names() const;
  [[nodiscard]] std::string result_name() const;
  Status write_self(ir::ValueId value);

  Context& context_;
  const formats::pt2::Node& node_;
  const ir::Source& source_;
  int64_t new_bytes_ = 0;  // of new_constant()
};

/// Returns true if the operator writes to its first argument, like `aten.relu_.default`.
[[nodiscard]] bool is_in_place(std::string_view target);
/// Returns "aten.conv2d.default" for "torch.ops.aten.conv2d.default".
[[nodiscard]] std::string_view short_target(std::string_view target);
/// Returns the non-negative dimension, or nullopt if the tensor has no such dimension.
[[nodiscard]] std::optional<int64_t> normalized_dim(int64_t dim, size_t rank);

}  // namespace thimble::import_pt2
