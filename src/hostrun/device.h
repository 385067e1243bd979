#pragma once
// Runs the delegate calls of a `.pte`: one row per delegate id. The build collects the rows of the
// engines' target.cmake, of this tree and of THIMBLE_EXTRA_TARGETS (cmake/registry.cmake). No other
// code in hostrun and tools names an NPU.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pte/program.h"
#include "runtime/exec/delegates.h"

namespace thimble::hostrun {

struct NpuProfile;  // npu_profile.h

/// A model of the NPU on this machine, called by the runtime's delegate; for one loaded file.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// The returned row points to this object, which must outlive the models that use the row.
  [[nodiscard]] virtual runtime::Delegate row() const = 0;
  /// Adds a memory range that the NPU can address.
  virtual void connect(const void* /*data*/, size_t /*bytes*/, bool /*read_only*/) {}
  /// Error of the last call; empty if it succeeded.
  [[nodiscard]] virtual std::string fault_text() const { return ""; }
};

struct DeviceKind {
  std::string_view id;  // "EthosUBackend"
  /// Rejects payloads that the runtime would reject, with a detailed message; null: no check.
  Status (*check)(const formats::pte::Program& program, std::string_view label) = nullptr;
  /// Opens the model for a file that calls the delegate; null: this machine has no model.
  Result<std::unique_ptr<Device>> (*open)(const formats::pte::Program& program,
                                          std::string_view label) = nullptr;
  /// Firmware image for emulated boards that has a model of the NPU: "runner-axon". Empty: none.
  std::string_view image;
  // Names in the generated kernel table of a product (kernel_source.h):
  std::string_view folder;  // folder in runtime/delegates
  std::string_view space;   // namespace of the functions, in thimble::runtime
  std::string_view object;  // variable of the device, which the product defines
  bool has_memory =
      false;  // the namespace has call_scratch and kept_bytes (runtime/exec/delegates.h)
  /// Estimates the operations of the NPU one by one; null: no estimate.
  Result<std::vector<NpuProfile>> (*profile)(const formats::pte::Program& program,
                                             std::string_view label) = nullptr;
};

/// Type of the function NAME_devices() that the header of a row declares.
using DeviceList = std::vector<DeviceKind>();
[[nodiscard]] std::span<DeviceList* const> device_rows();
[[nodiscard]] const std::vector<DeviceKind>& device_kinds();

[[nodiscard]] bool calls(const formats::pte::Program& program, std::string_view id);
/// The device kinds that the program calls. Each kind's check has passed.
[[nodiscard]] Result<std::vector<DeviceKind>> kinds_of(const formats::pte::Program& program,
                                                       std::string_view label);
/// Name of the firmware image for the program: "runner" if it calls no delegate.
[[nodiscard]] Result<std::string> image_of(const formats::pte::Program& program,
                                           std::string_view label);

}  // namespace thimble::hostrun
