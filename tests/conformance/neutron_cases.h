#pragma once
// Regions for the Neutron: made at random, run through the compiler and the integer model of the
// NPU, and compared with the evaluator.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "axon_cases.h"
#include "engine/engine.h"

namespace thimble::test {

struct NeutronOutcome {
  bool refused = false;
  std::string message;  // why, or what differs; empty: equal
  int64_t cycles = 0;
  int64_t scratch_bytes = 0;
  std::vector<std::string> kernels;  // of the list, in order
};

/// The engine as a part has it.
[[nodiscard]] const engine::PartNpu& neutron_use();
/// The same without its table of limits and its forms: whatever the lowering takes as it is.
[[nodiscard]] const engine::PartNpu& bare_neutron_use();

/// The region as the engine adapts it, compiled, its payload read, its kernels run on the model
/// with random inputs: in memories of their own, where the plan has them in one scratch, and with
/// prefetched weights.
[[nodiscard]] NeutronOutcome run_neutron(const ir::Graph& region, const engine::PartNpu& use,
                                         uint64_t seed);

/// Where kernels find their prefetched constants: offset and bytes, in order.
struct PrefetchSlots {
  int64_t bytes = 0;
  std::vector<std::pair<int64_t, int64_t>> kernels;
};
/// Nothing if the region is refused, or no kernel has any.
[[nodiscard]] std::optional<PrefetchSlots> prefetch_slots(const ir::Graph& region);

/// What more a region for this NPU may be made of.
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
  ir::ValueId codes_table(ir::ValueId x);
  ir::ValueId gather(ir::ValueId x, int64_t dim, const std::vector<int64_t>& positions);
  ir::ValueId reflect(ir::ValueId x, int64_t dim, int64_t before, int64_t after);
  ir::ValueId nearest(ir::ValueId x, int64_t scale);
  ir::ValueId bilinear(ir::ValueId x, int64_t scale, bool align_corners);
};

/// Images at the region's border lie channels last.
void set_channels_last(ir::Graph* graph);

/// A network of up to `steps` operators; `formed`: only of what form.h leaves.
[[nodiscard]] ir::Graph random_neutron_network(uint64_t seed, int steps, bool formed);

}  // namespace thimble::test
