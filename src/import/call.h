#pragma once
// One node of the exported graph, as its handler sees it: arguments by the name that the ATen
// schema gives them (left out ones have the schema's default), operators to add, results to bind.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/pt2/program.h"
#include "import/symbols.h"
#include "import/tensors.h"

namespace thimble::import_pt2 {

using Ints = std::vector<int64_t>;

/// What all nodes share.
struct Context {
  const formats::pt2::ExportedProgram& program;
  Symbols symbols;
  Builder builder;
  Tensors tensors;
  SymbolValues sizes;  // of the graph's symbolic integers

  Context(const formats::pt2::ExportedProgram& exported, Symbols fixed)
      : program(exported), symbols(std::move(fixed)), tensors(builder, exported.weights) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
};

class Call {
 public:
  Call(Context& context, const formats::pt2::Node& node, const ir::Source& source)
      : context_(context), node_(node), source_(source) {}

  // Arguments. Without a fallback they must be given; None counts as left out.
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] bool is_tensor(std::string_view name) const;
  [[nodiscard]] bool is_string(std::string_view name) const;
  Result<ir::ValueId> any_tensor(std::string_view name);
  /// float32; integer constants and booleans are converted, as PyTorch promotes them.
  Result<ir::ValueId> tensor(std::string_view name);
  /// As `tensor`, kNoValue if left out.
  Result<ir::ValueId> optional_tensor(std::string_view name);
  /// A list of one type: converted to float32 if one of them is.
  Result<std::vector<ir::ValueId>> tensors(std::string_view name);
  /// A list of tensors of any type; kNoValue where one is left out.
  Result<std::vector<ir::ValueId>> optional_tensors(std::string_view name);
  /// A float32 tensor that is known now: weights, and what views and arithmetic make of them.
  Result<const ir::Tensor*> constant(std::string_view name);
  Result<int64_t> integer(std::string_view name, std::optional<int64_t> fallback = {}) const;
  Result<double> number(std::string_view name, std::optional<double> fallback = {}) const;
  Result<bool> boolean(std::string_view name, std::optional<bool> fallback = {}) const;
  Result<Ints> integers(std::string_view name, std::optional<Ints> fallback = {}) const;
  Result<std::vector<double>> numbers(std::string_view name) const;
  Result<std::string> text(std::string_view name, std::optional<std::string> fallback = {}) const;
  Result<formats::pt2::ScalarType> scalar_type(std::string_view name,
                                               formats::pt2::ScalarType fallback) const;
  /// One number per spatial dimension; a single one counts for all.
  Result<Ints> spatial(std::string_view name, size_t rank, int64_t fallback) const;
  /// A dimension of a tensor of this rank, counted from 0 even if given from the end.
  Result<int64_t> dimension(std::string_view name, size_t rank,
                            std::optional<int64_t> fallback = {}) const;
  Result<Ints> dimensions(std::string_view name, size_t rank) const;

  // Operators; their results are named after the node.
  Result<ir::ValueId> add(ir::OpKind kind, std::vector<ir::ValueId> inputs, ir::Attrs attrs = {});
  Result<ir::ValueId> apply(const View& view, ir::ValueId value);
  Result<ir::ValueId> write_through(const View& view, ir::ValueId base, ir::ValueId value);
  Result<ir::ValueId> reshape(ir::ValueId value, ir::Shape shape);
  /// value * factor, for any factor but 1.
  Result<ir::ValueId> scaled(ir::ValueId value, double factor);
  /// A choice between constants, made between their conversions; kNoValue if it is none.
  Result<ir::ValueId> chosen_as(ir::ValueId value, ir::DType dtype);
  ir::ValueId scalar(double value);
  ir::ValueId constant_value(std::string_view role, ir::Tensor tensor);
  [[nodiscard]] Builder& builder() { return context_.builder; }
  [[nodiscard]] const ir::Shape& shape(ir::ValueId id) const { return context_.builder.shape(id); }

  // Results. Every output of the node that is not bound stays without a value: using it is refused.
  /// The first output is a new tensor; of an in-place operator, the new content of `self`.
  Status result(ir::ValueId value);
  /// The outputs are new tensors, in order; those behind the last one are left out.
  Status results(const std::vector<ir::ValueId>& values);
  /// The outputs share the memory of argument `base`.
  Status view(View view, std::string_view base = "self") { return views({std::move(view)}, base); }
  Status views(std::vector<View> views, std::string_view base = "self");
  /// The first output equals argument `base` and shares its memory if the export's strides are the
  /// same.
  Status same(std::string_view base = "self");

  [[nodiscard]] const formats::pt2::Node& node() const { return node_; }
  /// What the archive says of the tensor that an argument or the first output is.
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
};

/// `aten.relu_.default` writes to its first argument.
[[nodiscard]] bool is_in_place(std::string_view target);
/// "aten.conv2d.default" of "torch.ops.aten.conv2d.default".
[[nodiscard]] std::string_view short_target(std::string_view target);
/// The dimension counted from 0, or nothing if the tensor has no such dimension.
[[nodiscard]] std::optional<int64_t> normalized_dim(int64_t dim, size_t rank);

}  // namespace thimble::import_pt2
