// SPDX-License-Identifier: Apache-2.0
#include "thimble_ethos_u_linux.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engines/ethos_u/linux_driver/npu.h"
#include "kernels/kernels.h"

struct thimble_ethos_u_linux {
  std::unique_ptr<thimble::linux_npu::Npu> npu;
  thimble::runtime::DelegateBackend row;
  thimble::runtime::DelegateBackends delegates;
  thimble::kernels::KernelTable table;
};

thimble_ethos_u_linux* thimble_ethos_u_linux_open(const char* device, char* error,
                                                  size_t error_bytes) {
  std::string reason;
  auto npu = thimble::linux_npu::Npu::open(device != nullptr ? device : "", &reason);
  if (npu == nullptr) {
    if (error != nullptr && error_bytes != 0) {
      const size_t bytes = std::min(reason.size(), error_bytes - 1);
      std::memcpy(error, reason.data(), bytes);
      error[bytes] = 0;
    }
    return nullptr;
  }
  auto* const opened = new thimble_ethos_u_linux;
  opened->npu = std::move(npu);
  opened->row = opened->npu->row();
  opened->delegates = thimble::runtime::delegates_of(&opened->row, 1);
  opened->table = thimble::kernels::all_kernels();
  opened->table.flatbuffer_executor = &thimble::runtime::flatbuffer_executor;
  opened->table.delegates = &opened->delegates;
  return opened;
}

void thimble_ethos_u_linux_close(thimble_ethos_u_linux* npu) {
  delete npu;
}

const thimble_kernels* thimble_ethos_u_linux_kernels(const thimble_ethos_u_linux* npu) {
  return reinterpret_cast<const thimble_kernels*>(&npu->table);
}

const char* thimble_ethos_u_linux_name(const thimble_ethos_u_linux* npu) {
  return npu->npu->name().c_str();
}

const char* thimble_ethos_u_linux_error(const thimble_ethos_u_linux* npu) {
  return npu->npu->error().c_str();
}

void thimble_ethos_u_linux_set_timeout(thimble_ethos_u_linux* npu, int64_t milliseconds) {
  npu->npu->set_timeout_ms(milliseconds);
}
