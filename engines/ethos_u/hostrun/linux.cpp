// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/hostrun/linux.h"

#if defined(__linux__)
#include "engines/ethos_u/linux_driver/npu.h"
#endif

namespace thimble::hostrun {

#if defined(__linux__)
namespace {

class LinuxEthosU : public Device {
 public:
  explicit LinuxEthosU(std::unique_ptr<linux_npu::Npu> npu) : npu_(std::move(npu)) {}
  [[nodiscard]] runtime::DelegateBackend row() const override { return npu_->row(); }
  [[nodiscard]] std::string fault_text() const override {
    return npu_->error().empty() ? npu_->name() : npu_->error();
  }

 private:
  std::unique_ptr<linux_npu::Npu> npu_;
};

}  // namespace

Result<std::unique_ptr<Device>> open_linux_ethos_u(const std::string& device) {
  std::string error;
  auto npu = linux_npu::Npu::open(device, &error);
  if (npu == nullptr) return bad_input("--on linux: {}", error);
  return std::unique_ptr<Device>(std::make_unique<LinuxEthosU>(std::move(npu)));
}
#else
Result<std::unique_ptr<Device>> open_linux_ethos_u(const std::string&) {
  return bad_input("--on linux: this machine has another operating system");
}
#endif

}  // namespace thimble::hostrun
