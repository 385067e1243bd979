#pragma once
// A file of ExecuTorch's with one call of EthosUBackend, to be changed, and models of it with the
// simulated NPU.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "formats/ethos_u/payload.h"
#include "formats/pte/read.h"
#include "hostrun/npu.h"
#include "runtime_support.h"

namespace thimble::runtime_test {

inline Bytes read_test_file(const std::string& name) {
  const std::string path = THIMBLE_SOURCE_DIR "/tests/data/executorch/ethos_u/" + name;
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  EXPECT_NE(file, nullptr) << path;
  Bytes bytes(std::filesystem::file_size(path));
  EXPECT_EQ(std::fread(bytes.data(), 1, bytes.size(), file), bytes.size());
  std::fclose(file);
  return bytes;
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

inline const thimble_kernels* kernels_of(const hostrun::HostNpu& npu) {
  return reinterpret_cast<const thimble_kernels*>(&npu.kernels());
}

}  // namespace thimble::runtime_test
