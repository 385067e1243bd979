// SPDX-License-Identifier: Apache-2.0
#pragma once
// A change of the sample list, and the expected result of check().

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "neutron_sample.h"

namespace thimble::neutron_test {

inline constexpr uint32_t kNowhere = neutron::kAbsent;

/// A change of the sample list, the expected status, and the kernel that check() must name.
struct Case {
  const char* what;
  Status status;
  uint32_t kernel;
  std::function<void(List&)> change;
};

inline void expect(const Case& c) {
  List list = sample_list();
  c.change(list);
  uint32_t kernel = 0;
  const Status status = check_bytes(list.program(), list.weights, &kernel);
  EXPECT_EQ(status, c.status) << c.what << ": " << neutron::status_text(status) << ", kernel "
                              << static_cast<int32_t>(kernel);
  EXPECT_EQ(kernel, c.kernel) << c.what;
}

/// A change of one kernel. It is accepted, or refused with the kernel's index.
using OfKernel = std::function<void(KernelRecord&)>;
inline void expect(const char* what, Status status, uint32_t kernel, const OfKernel& change) {
  expect({what, status, status == Status::kOk ? kNowhere : kernel,
          [&](List& list) { change(list.kernels[kernel]); }});
}
inline void accepts(const char* what, uint32_t kernel, const OfKernel& change) {
  expect(what, Status::kOk, kernel, change);
}

inline void put(Bytes& bytes, size_t at, uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace thimble::neutron_test
