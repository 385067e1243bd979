// SPDX-License-Identifier: Apache-2.0
#pragma once
// The simulated Ethos-U that runs the delegate calls of a `.pte`. EthosUNeeds, read from the file
// alone, has its configuration and the memory that it needs in addition to the file and the arena.
// EthosUDevice is the device, accessed through the registers that the runtime's driver writes.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "engines/ethos_u/isa/config.h"
#include "formats/pte/program.h"
#include "hostrun/device.h"
#include "kernels/kernels.h"

namespace thimble::hostrun {

struct EthosUNeeds {
  const ethos_u::Config* config = nullptr;
  size_t workspace_bytes = 0;             // for the simulator
  size_t fast_bytes = 0;                  // fast scratch outside of the arena
  uint64_t max_cost = uint64_t{1} << 44;  // limit per stream, to stop an endless one
  bool start_late = false;                // ethos_u::sim::Device::set_start_late()
};

/// Returns the driver payload of a delegate, wherever the file stores it.
[[nodiscard]] Result<Bytes> ethos_u_commands(const formats::pte::Program& program,
                                             const formats::pte::BackendDelegate& row);

/// nullopt if the program does not call EthosUBackend. Unreadable payloads are no error here: the
/// runtime has a status for each error.
[[nodiscard]] Result<std::optional<EthosUNeeds>> read_ethos_u_needs(
    const formats::pte::Program& program, std::string_view label);

/// The simulated NPU with its delegate table. It must outlive the models that use the table.
class EthosUDevice : public Device {
 public:
  explicit EthosUDevice(const EthosUNeeds& needs);
  ~EthosUDevice() override;

  [[nodiscard]] const kernels::KernelTable& kernels() const;
  [[nodiscard]] runtime::DelegateBackend row() const override;
  void connect(const void* data, size_t bytes, bool read_only) override;
  /// Error of the last stream: "command at word 12: ...".
  [[nodiscard]] std::string fault_text() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::vector<DeviceKind> ethos_u_devices();

}  // namespace thimble::hostrun
