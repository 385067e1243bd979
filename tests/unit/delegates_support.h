// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file made by ExecuTorch with one call of EthosUBackend, for tests to modify, and models of it
// with the simulated NPU.

#include <gtest/gtest.h>

#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/hostrun/ethos_u.h"
#include "formats/pte/read.h"
#include "runtime_support.h"
#include "test_files.h"
#include "tests/folders.h"

namespace thimble::runtime_test {

inline Bytes read_test_file(const std::string& name) {
  return test::read_bytes(test::source_folder() / "tests/data/executorch/ethos_u" / name);
}

inline pte::Program read_test_program(const std::string& name) {
  auto program = pte::read(read_test_file(name), name);
  EXPECT_TRUE(program.ok());
  return std::move(*program);
}

inline formats::ethos_u::EthosUPayload payload_of(const pte::Program& program) {
  auto payload = formats::ethos_u::read_payload(program.delegate_blobs[0].bytes);
  EXPECT_TRUE(payload.ok());
  return std::move(*payload);
}

inline void set_payload(pte::Program& program, const formats::ethos_u::EthosUPayload& payload) {
  auto bytes = formats::ethos_u::write_payload(payload);
  ASSERT_TRUE(bytes.ok());
  program.delegate_blobs[0].bytes = std::move(*bytes);
}

inline const thimble_kernels* kernels_of(const hostrun::EthosUDevice& npu) {
  return reinterpret_cast<const thimble_kernels*>(&npu.kernels());
}

}  // namespace thimble::runtime_test
