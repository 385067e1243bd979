// SPDX-License-Identifier: Apache-2.0
#include "firmware/apps/runner/empty_kernels.h"

#include <new>

#include "kernels/kernels.h"

namespace thimble::firmware {
namespace {

using kernels::Kernel;
using kernels::KernelTable;

const KernelTable& table_of(const thimble_kernels* kernels) {
  return *reinterpret_cast<const KernelTable*>(kernels);
}

KernelTable empty_table;

}  // namespace

size_t empty_kernels_bytes(const thimble_kernels* kernels) {
  const KernelTable& table = table_of(kernels);
  if (table.delegates != nullptr || table.by_key == nullptr) return 0;
  return table.count * (sizeof(Kernel) + sizeof(Kernel*));
}

const thimble_kernels* empty_kernels(const thimble_kernels* kernels, uint8_t* memory) {
  const KernelTable& table = table_of(kernels);
  auto* const copies = reinterpret_cast<Kernel*>(memory);
  auto** const pointers = reinterpret_cast<const Kernel**>(copies + table.count);
  for (uint32_t i = 0; i < table.count; ++i) {
    Kernel& copy = *new (copies + i) Kernel(*table.by_key[i]);
    copy.run = [](const kernels::Call&) {};
    if (copy.run_bare != nullptr) copy.run_bare = [](void* const*) {};
    pointers[i] = &copy;
  }
  empty_table = table;
  // In the order of keys, faster variants come first too.
  empty_table.kernels = empty_table.by_key = pointers;
  empty_table.shorter = nullptr;
  return reinterpret_cast<const thimble_kernels*>(&empty_table);
}

}  // namespace thimble::firmware
