#pragma once
// What runs the delegate calls of a `.pte`: a row per name that files have for a delegate. The
// build collects the rows of the engines' target.cmake, of this tree and of THIMBLE_EXTRA_TARGETS
// (cmake/registry.cmake), so nothing else of hostrun and tools knows which NPUs there are.

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

/// A model of the NPU on this machine, behind the runtime's delegate; for one loaded file.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// Points to this object, which outlives the models that use the row.
  [[nodiscard]] virtual runtime::Delegate row() const = 0;
  /// A memory that the NPU reaches by addresses.
  virtual void connect(const void* /*data*/, size_t /*bytes*/, bool /*read_only*/) {}
  /// What went wrong in the last call; empty: nothing.
  [[nodiscard]] virtual std::string fault_text() const { return ""; }
};

/// An NPU of a file on an emulated board or in Arm's model of one.
struct FirmwareDevice {
  std::vector<std::string> simulated;  // words for an image that simulates the NPU
  std::vector<std::string> on_board;   // words for an image that drives the board's own NPU
  std::vector<std::string> fvp;        // parameters of Arm's model (hostrun/fvp.h)
  std::string fvp_refusal;             // why Arm's model has no such NPU; empty: it has
};

struct DeviceKind {
  std::string_view id;  // in the file's table of delegates
  /// Refuses payloads that the runtime would refuse, in more words than a status has; null: none.
  Status (*check)(const formats::pte::Program& program, std::string_view label) = nullptr;
  /// For a file that calls the delegate; null: nothing on this machine runs it.
  Result<std::unique_ptr<Device>> (*open)(const formats::pte::Program& program,
                                          std::string_view label) = nullptr;
  /// Of the emulated boards' images the one with a model of the NPU: Empty: none.
  std::string_view image;
  // How the table of a product names it (kernel_source.h):
  std::string_view header;  // of the delegate: "engines/axon/delegate/backend.h"
  std::string_view space;   // the functions' namespace in thimble::runtime
  std::string_view object;  // the device, which the product defines
  bool has_memory =
      false;  // the namespace has call_scratch and kept_bytes (runtime/exec/delegates.h)
  /// What the NPU would do, operation by operation; null: not known.
  Result<std::vector<NpuProfile>> (*profile)(const formats::pte::Program& program,
                                             std::string_view label) = nullptr;
  /// Bad input if results of the program's calls depend on timing; null: they cannot.
  Status (*check_hazards)(const formats::pte::Program& program, std::string_view label) = nullptr;
  /// Words for the command line of the engine's image; null: none.
  Result<FirmwareDevice> (*firmware)(const formats::pte::Program& program,
                                     std::string_view label) = nullptr;
};

/// What the header of a row declares as NAME_devices().
using DeviceList = std::vector<DeviceKind>();
[[nodiscard]] std::span<DeviceList* const> device_rows();
[[nodiscard]] const std::vector<DeviceKind>& device_kinds();

[[nodiscard]] bool calls(const formats::pte::Program& program, std::string_view id);
/// The kinds that the program calls, each checked.
[[nodiscard]] Result<std::vector<DeviceKind>> kinds_of(const formats::pte::Program& program,
                                                       std::string_view label);
/// The image of the emulated boards for the program: "runner" if it calls no delegate.
[[nodiscard]] Result<std::string> image_of(const formats::pte::Program& program,
                                           std::string_view label);
/// The device that the image has words for; none if the program calls no such delegate.
[[nodiscard]] Result<std::optional<FirmwareDevice>> firmware_device_of(
    const formats::pte::Program& program, std::string_view label);
/// Bad input if outputs of the program depend on the timing of an NPU's commands. Payloads that
/// cannot be read are left to the runtime, which refuses them at load.
[[nodiscard]] Status check_hazards(const formats::pte::Program& program, std::string_view label);

}  // namespace thimble::hostrun
