#pragma once
// The NPU that the delegate calls of a `.pte` are for, simulated: what it is and what memory it
// needs besides the file and the arena, read from the file alone; and the device itself behind the
// registers that the runtime's driver writes.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/pte/program.h"
#include "hostrun/device.h"
#include "kernels/kernels.h"
#include "engines/ethos_u/isa/config.h"

namespace thimble::hostrun {

struct NpuNeeds {
  const ethos_u::Config* config = nullptr;
  size_t workspace_bytes = 0;             // of the simulator
  size_t fast_bytes = 0;                  // fast scratch that is not in the arena
  uint64_t max_work = uint64_t{1} << 44;  // of one stream; one that does more is endless
};

/// The driver payload of a delegate, wherever the file keeps it; none if the file is broken there.
[[nodiscard]] std::optional<Bytes> npu_commands(const formats::pte::Program& program,
                                                const formats::pte::BackendDelegate& row);

/// None if the program calls no EthosUBackend. Payloads that do not read are left to the runtime,
/// which has a status for each way to be broken.
[[nodiscard]] Result<std::optional<NpuNeeds>> read_npu_needs(const formats::pte::Program& program,
                                                             std::string_view label);

/// Every kernel of this build, and the NPU. It outlives the models that use its table.
class HostNpu : public Device {
 public:
  explicit HostNpu(const NpuNeeds& needs);
  ~HostNpu() override;

  [[nodiscard]] const kernels::KernelTable& kernels() const;
  [[nodiscard]] runtime::Delegate row() const override;
  void connect(const void* data, size_t bytes, bool read_only) override;
  /// Of the last stream: "command at word 12: ...".
  [[nodiscard]] std::string fault_text() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::vector<DeviceKind> ethos_u_devices();

}  // namespace thimble::hostrun
