#pragma once
// A case: the folder of one compiled network, as npu_run.cpp describes it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "npu/ethos_u/sim/machine.h"

namespace thimble::npu_test {

struct Output {
  uint32_t region = 0;
  uint64_t offset = 0, bytes = 0;
};

struct Case {
  std::string name;
  std::string memory;  // shared_sram, dedicated_sram, sram_only
  const ethos_u::Config* config = nullptr;
  std::vector<uint32_t> stream;
  std::vector<uint8_t> regions[ethos_u::sim::kRegions];
  bool read_only[ethos_u::sim::kRegions] = {};
  std::vector<Output> outputs;
};

/// Empty `error` if it could be read.
[[nodiscard]] Case read_case(const std::filesystem::path& folder, std::string* error);

/// Regions of their own for one run, aligned as the driver aligns them.
class Run {
 public:
  Run(const Case& c, const std::vector<uint32_t>& stream);
  /// `workspace` is enough for any stream with the operations of the case.
  [[nodiscard]] ethos_u::sim::Job job(std::vector<uint64_t>& workspace) const;
  /// Bytes of all outputs.
  [[nodiscard]] std::vector<uint8_t> outputs() const;

 private:
  const Case& case_;
  const std::vector<uint32_t>& stream_;
  std::vector<std::vector<uint64_t>> regions_;
};

}  // namespace thimble::npu_test
