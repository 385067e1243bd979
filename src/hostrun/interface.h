#pragma once
// What a `.pte` wants from its caller and gives back, read from the file alone: the same answer for
// the host, for QEMU and for the evaluator, before any of them runs.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"
#include "ir/tensor.h"

namespace thimble::hostrun {

/// An input or output of the program. The file has no names for them: `input_0`, `output_0`.
struct Port {
  std::string name;
  ir::DType dtype = ir::DType::kF32;
  ir::Shape shape;
  ir::DimOrder dim_order;
  std::optional<ir::Quant> quant;  // of an int8 port, if the file says

  [[nodiscard]] size_t bytes() const;
  /// `input_0 float32[1,1,8,8]`, with scale and zero point if it has them
  [[nodiscard]] std::string describe() const;
};

/// The port's memory order, outermost dimension first, written out.
[[nodiscard]] std::vector<int> full_order(const Port& port);

struct Interface {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<std::string> ops;      // registry name of each instruction, in order
  std::vector<size_t> arguments;     // of each instruction, without the return value
  std::vector<std::string> foreign;  // instructions that call no kernel: "delegate EthosUBackend"
  std::string target;                // "cortex-m55"; empty if the file does not say
  int64_t arena_bytes = 0;
  bool records = false;  // it is run from records, not from its tables
};

/// `label` is what messages call the file.
[[nodiscard]] Result<Interface> read_interface(const formats::pte::Program& program,
                                               std::string_view label);

/// One tensor per port, of its type and shape; messages name the port and what was found.
[[nodiscard]] Status check_inputs(std::span<const Port> ports, std::span<const ir::Tensor> inputs,
                                  std::string_view label);

}  // namespace thimble::hostrun
