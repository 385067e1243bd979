// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/vendor/vendor_compile.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/aligned_bytes.h"
#include "base/sha256.h"
#include "engines/axon/compiler/vendor/layers_to_ir.h"
#include "engines/axon/compiler/vendor/sdk.h"
#include "engines/axon/compiler/vendor/subgraph_text.h"
#include "engines/axon/container/layers.h"
#include "engines/axon/container/marker.h"
#include "engines/axon/container/program.h"
#include "engines/axon/formats/compiled_header.h"
#include "engines/axon/formats/program.h"

namespace thimble::engine::axon {
namespace {

namespace isa = thimble::axon;
using formats::axon::CompiledHeader;
using formats::axon::CompiledTensor;
using formats::axon::ProgramInterface;
using formats::axon::ProgramTensor;

/// Names the network: the model's name and twelve digits of a hash of the compiler's input.
Result<formats::axon::IrFile> named(formats::axon::IrFile network) {
  THIMBLE_TRY(const Bytes ir,
              formats::axon::write_ir(network, formats::axon::ir_versions().front()));
  network.name += "_" + sha256(ir).substr(0, abi::axon::kMarkerHashDigits);
  return network;
}

class Interface {
 public:
  Interface(const isa::Container& container, const CompiledHeader& network,
            const std::vector<int>& makers)
      : container_(container), network_(network), makers_(makers) {}

  Result<ProgramInterface> read() {
    const isa::Header header = container_.header();
    for (uint32_t i = 0; i < header.input_count; ++i) {
      THIMBLE_TRY(ProgramTensor tensor, input(container_.input(i)));
      result_.inputs.push_back(tensor);
    }
    THIMBLE_CHECK(order_outputs());
    for (uint32_t i = 0; i < header.output_count; ++i) {
      THIMBLE_TRY(ProgramTensor tensor, output(i));
      result_.outputs.push_back(tensor);
    }
    result_.cycles = header.cycles;
    return std::move(result_);
  }

 private:
  [[nodiscard]] Error unlike(std::string_view what, const isa::IoRecord& io) const {
    return bad_input(
        "the vendor's compiler wrote {} with an {} that is not {}x{}x{} elements of "
        "{} bytes",
        network_.name, what, io.c, io.h, io.w, io.element_bytes);
  }

  /// Describes a tensor of the program. The number of elements must match the layer list; the shape
  /// may be flattened.
  Result<ProgramTensor> of(const CompiledTensor& tensor, const isa::IoRecord& io,
                           std::string_view what) const {
    const uint32_t elements = uint32_t{tensor.height} * tensor.width * tensor.channels;
    const uint32_t expected = uint32_t{io.n} * io.c * io.h * io.w;
    if (elements != expected || tensor.byte_width != io.element_bytes) return unlike(what, io);
    return ProgramTensor{
        tensor.address,   1, tensor.channels, tensor.height, tensor.width, tensor.byte_width,
        tensor.row_stride};
  }

  /// Describes a variable; its rows begin at multiples of 4 bytes.
  Result<ProgramTensor> variable(const isa::IoRecord& io) const {
    if (io.index >= network_.variables.size()) return unlike("number of variables", io);
    const formats::axon::CompiledVariable& variable = network_.variables[io.index];
    const uint32_t stride = isa::npu_row_stride(io.w, io.element_bytes);
    const uint32_t rows = uint32_t{io.n} * io.c * io.h;
    if (variable.byte_width != io.element_bytes || variable.bytes < (rows - 1) * stride + io.w) {
      return unlike("variable", io);
    }
    return ProgramTensor{variable.address, io.n, io.c, io.h, io.w, io.element_bytes, stride};
  }

  Result<ProgramTensor> input(const isa::IoRecord& io) const {
    if (io.source == isa::Source::kPersistent) return variable(io);
    if (!network_.input) return unlike("input", io);
    return of(*network_.input, io, "input");
  }

  /// The program's outputs have the order of the layers that write them.
  Status order_outputs() {
    std::vector<int> makers;
    for (uint32_t i = 0; i < makers_.size(); ++i) {
      if (container_.output(i).source != isa::Source::kPersistent) makers.push_back(makers_[i]);
    }
    std::ranges::sort(makers);
    makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
    sorted_ = std::move(makers);
    if (sorted_.empty() || sorted_.size() == network_.outputs.size()) return ok();
    return bad_input("the vendor's compiler wrote {} with {} outputs; {} expected", network_.name,
                     network_.outputs.size(), sorted_.size());
  }

  Result<ProgramTensor> output(uint32_t index) const {
    const isa::IoRecord io = container_.output(index);
    if (io.source == isa::Source::kPersistent) return variable(io);
    const auto at = std::ranges::find(sorted_, makers_[index]) - sorted_.begin();
    return of(network_.outputs[static_cast<size_t>(at)], io, "output");
  }

  const isa::Container& container_;
  const CompiledHeader& network_;
  const std::vector<int>& makers_;
  std::vector<int> sorted_;
  ProgramInterface result_;
};

Status put_program(const CompiledHeader& network, const ProgramInterface& interface,
                   Delegate& delegate) {
  constexpr int64_t kWordBytes = 4;
  THIMBLE_TRY(const Bytes program, formats::axon::write_program(network, interface));
  abi::axon::ProgramHeader header;
  std::memcpy(&header, program.data(), sizeof header);
  delegate.id = abi::axon::kProgramId;
  delegate.payload.assign(program.begin(), program.end());
  delegate.scratch_bytes =
      int64_t{header.interlayer_bytes} + header.partial_sum_bytes + header.variable_bytes;
  delegate.kept_bytes = int64_t{header.word_count} * kWordBytes;
  delegate.constant_bytes = header.constant_bytes;
  return ok();
}

Status put_marker(const CompiledHeader& network, const ProgramInterface& interface,
                  const std::string& text, const std::string& model, Delegate& delegate) {
  THIMBLE_TRY(const Bytes marker, formats::axon::write_marker(network.name));
  THIMBLE_TRY(std::string header, subgraph_header(network, interface, text, model));
  delegate.id = abi::axon::kMarkerId;
  delegate.payload.assign(marker.begin(), marker.end());
  delegate.scratch_bytes = delegate.kept_bytes = 0;
  delegate.constant_bytes = 0;
  delegate.files.push_back({subgraph_file_name(network.name), std::move(header)});
  return ok();
}

}  // namespace

Status compile_with_vendor_tools(const VendorTools& tools, Delegate& delegate) {
  if (tools.form.empty() || delegate.id != isa::kDelegateId) return ok();
  const AlignedBytes payload(delegate.payload);
  const auto bytes = static_cast<uint32_t>(delegate.payload.size());
  [[maybe_unused]] const isa::Status checked = isa::check(payload.data(), bytes);
  assert(checked == isa::Status::kOk);
  const isa::Container container(payload.data());
  THIMBLE_TRY(const IrOfLayers ir, layers_to_ir(container, identifier_of(tools.model)));
  THIMBLE_TRY(const formats::axon::IrFile network, named(ir.file));
  SdkOptions options;
  options.root = tools.folder;
  options.helper = tools.helper;
  options.time_limit = tools.time_limit;
  THIMBLE_TRY(const SdkProgram program, compile_with_sdk(network, options));
  THIMBLE_TRY(const CompiledHeader header,
              formats::axon::read_compiled_header(program.header, network.name + "_.h"));
  THIMBLE_TRY(const ProgramInterface interface, Interface(container, header, ir.outputs).read());
  // The call's scratch is planned again; no input or output is placed inside it.
  delegate.inputs.clear();
  delegate.outputs.clear();
  delegate.note = fmt::format("the NPU's program is from the vendor's compiler {}",
                              formats::axon::ir_version_text(header.compiler_version));
  if (tools.form == kFormProgram) return put_program(header, interface, delegate);
  if (tools.form == kFormHeader) {
    return put_marker(header, interface, program.header, tools.model, delegate);
  }
  return bad_input("{}: {} or {} expected", tools.form, kFormProgram, kFormHeader);
}

}  // namespace thimble::engine::axon
