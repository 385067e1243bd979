// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the delegate calls of a `.pte`: one row per delegate id. The build collects the rows of the
// engines' engine.cmake, of this tree and of THIMBLE_EXTRA_TARGETS (cmake/engine_rows.cmake). No
// other code in hostrun and tools names an NPU.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"
#include "runtime/exec/delegates.h"

namespace thimble::hostrun {

struct NpuProfile;  // npu_profile.h
struct NpuSystem;

/// A model of the NPU on this machine, or an NPU of this machine, called by the runtime's delegate;
/// for one loaded file.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// The returned row points to this object, which must outlive the models that use the row.
  [[nodiscard]] virtual runtime::DelegateBackend row() const = 0;
  /// Adds a memory range that the NPU can address.
  virtual void connect(const void* /*data*/, size_t /*bytes*/, bool /*read_only*/) {}
  /// Error of the last load or call, or what is known of the NPU; empty: nothing.
  [[nodiscard]] virtual std::string fault_text() const { return ""; }
};

/// An NPU of a file on an emulated board or in Arm's model of one.
struct FirmwareDevice {
  std::vector<std::string> simulated;  // words for an image that simulates the NPU
  std::vector<std::string> on_board;   // words for an image that drives the board's own NPU
  std::vector<std::string> fvp;        // parameters of Arm's model (hostrun/fvp.h)
  std::string fvp_refusal;             // why Arm's model has no such NPU; empty if it has one
};

struct DeviceKind {
  std::string_view id;  // in the file's table of delegates
  /// Rejects payloads that the runtime would reject, with a detailed message; null: no check.
  Status (*check)(const formats::pte::Program& program, std::string_view label) = nullptr;
  /// Opens the model for a file that calls the delegate; null: the host has no model.
  Result<std::unique_ptr<Device>> (*open)(const formats::pte::Program& program,
                                          std::string_view label) = nullptr;
  /// Name of the emulated boards' image that has a model of the NPU; empty: none.
  std::string_view image;
  // Names for the generated kernel table of a product (kernel_source.h):
  std::string_view header;         // of the delegate: "engines/NAME/delegate/backend.h"
  std::string_view cpp_namespace;  // the functions' namespace in thimble::runtime
  std::string_view object;         // variable of the device, which the product defines
  bool has_memory =
      false;  // the namespace has call_scratch and persistent_bytes (runtime/exec/delegates.h)
  bool has_background = false;  // the namespace has persistent_bytes and background
  /// Estimates the operations of the NPU one by one; null: no estimate.
  Result<std::vector<NpuProfile>> (*profile)(const formats::pte::Program& program,
                                             std::string_view label,
                                             std::span<const NpuSystem> systems) = nullptr;
  /// Returns bad input if results of the program's calls depend on timing; null: they cannot.
  Status (*check_hazards)(const formats::pte::Program& program, std::string_view label) = nullptr;
  /// Returns words for the command line of the engine's image; null: none.
  Result<FirmwareDevice> (*firmware)(const formats::pte::Program& program,
                                     std::string_view label) = nullptr;
  /// Opens an NPU of this machine, which the Linux kernel drives, in place of the model. `device`
  /// is empty for the first one. Null: there is no such driver.
  Result<std::unique_ptr<Device>> (*open_linux)(const std::string& device) = nullptr;
};

/// Type of the function NAME_devices() that the header of a row declares.
using DeviceList = std::vector<DeviceKind>();
[[nodiscard]] std::span<DeviceList* const> device_rows();
[[nodiscard]] const std::vector<DeviceKind>& device_kinds();

[[nodiscard]] bool calls(const formats::pte::Program& program, std::string_view id);
/// Returns the device kinds that the program calls, after each kind's check has passed.
[[nodiscard]] Result<std::vector<DeviceKind>> kinds_of(const formats::pte::Program& program,
                                                       std::string_view label);
/// Returns the name of the firmware image for the program: "runner" if it calls no delegate.
[[nodiscard]] Result<std::string> image_of(const formats::pte::Program& program,
                                           std::string_view label);
/// Returns the words for the image's command line; nullopt if the program calls no such delegate.
[[nodiscard]] Result<std::optional<FirmwareDevice>> firmware_device_of(
    const formats::pte::Program& program, std::string_view label);
/// Returns bad input if outputs of the program depend on the timing of an NPU's commands. Ignores
/// payloads that cannot be read, because the runtime rejects them at load.
[[nodiscard]] Status check_hazards(const formats::pte::Program& program, std::string_view label);

}  // namespace thimble::hostrun
