// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random subgraphs for the Neutron. Each is run through the compiler and the integer model of the
// NPU and compared with the reference evaluator.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "axon_cases.h"
#include "engine/engine.h"

namespace thimble::test {

struct NeutronOutcome {
  bool refused = false;
  std::string message;  // reason of the refusal, or the difference; empty if equal
  int64_t cycles = 0;
  int64_t scratch_bytes = 0;
  std::vector<std::string> kernels;  // of the kernel list, in order
};

/// Returns the Neutron as an entry of a part.
[[nodiscard]] const engine::PartNpu& neutron_use();
/// Like neutron_use(), without limits and legalization: any subgraph that lower() accepts.
[[nodiscard]] const engine::PartNpu& unlegalized_neutron_use();

/// Adapts and compiles the subgraph, reads its payload and runs the kernels on the model with
/// random inputs. Tensors are placed in separate memories and in one scratch, each with and without
/// prefetched weights.
[[nodiscard]] NeutronOutcome run_neutron(const ir::Graph& region, const engine::PartNpu& use,
                                         uint64_t seed);

/// Offset and size in bytes of each kernel's prefetched constants, in order.
struct PrefetchSlots {
  int64_t bytes = 0;
  std::vector<std::pair<int64_t, int64_t>> kernels;
};
/// Returns nothing if the subgraph is refused or no kernel has prefetched constants.
[[nodiscard]] std::optional<PrefetchSlots> prefetch_slots(const ir::Graph& region);

/// Adds the operators that the Neutron supports and the AXON does not.
class NeutronNet : public AxonNet {
 public:
  using AxonNet::AxonNet;

  ir::ValueId sub(ir::ValueId a, ir::ValueId b);
  ir::ValueId choose(ir::OpKind kind, ir::ValueId a, ir::ValueId b);
  ir::ValueId matmul(ir::ValueId a, ir::ValueId b, bool transpose_b);
  ir::ValueId conv_transpose(ir::ValueId x, int64_t channels, std::vector<int64_t> kernel,
                             std::vector<int64_t> stride, std::vector<int64_t> padding);
  ir::ValueId grouped(ir::ValueId x, int64_t groups, int64_t channels, std::vector<int64_t> kernel);
  ir::ValueId extreme(ir::OpKind kind, ir::ValueId x, std::vector<int64_t> dims, bool keep);
  ir::ValueId permute(ir::ValueId x, std::vector<int64_t> dims);
  ir::ValueId expand(ir::ValueId x, ir::Shape shape);
  ir::ValueId rescale(ir::ValueId x);
  ir::ValueId quantized_table(ir::ValueId x);
  ir::ValueId gather(ir::ValueId x, int64_t dim, const std::vector<int64_t>& positions);
  ir::ValueId reflect(ir::ValueId x, int64_t dim, int64_t before, int64_t after);
  ir::ValueId nearest(ir::ValueId x, int64_t scale);
  ir::ValueId bilinear(ir::ValueId x, int64_t scale, bool align_corners);
};

/// Sets the memory order of 4-D inputs and outputs of the graph to channels-last.
void set_channels_last(ir::Graph* graph);

/// Returns a network of at most `steps` operators. `legalized`: only operators that legalize()
/// outputs.
[[nodiscard]] ir::Graph random_neutron_network(uint64_t seed, int steps, bool legalized);

}  // namespace thimble::test
