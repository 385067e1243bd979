// SPDX-License-Identifier: Apache-2.0
// Writes random subgraphs for the Neutron, in its arithmetic, as NAME.ir. partitions.py compares
// them, in addition to the subgraphs of networks, with its reference.
//
//   neutron_networks FOLDER FIRST COUNT STEPS

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../../conformance/neutron_cases.h"
#include "ir/print.h"

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "neutron_networks FOLDER FIRST COUNT STEPS\n");
    return 2;
  }
  using namespace thimble;
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const auto first = static_cast<uint64_t>(std::atoll(argv[2]));
  const auto count = static_cast<uint64_t>(std::atoll(argv[3]));
  const engine::PartNpu& use = test::neutron_use();
  uint64_t written = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const ir::Graph network = test::random_neutron_network(seed, std::atoi(argv[4]), false);
    const Result<ir::Graph> region = use.engine->adapt(network, use);
    if (!region.ok()) continue;
    std::ofstream(folder / fmt::format("random_{}.ir", seed)) << ir::print(*region);
    ++written;
  }
  std::printf("%llu of %llu written\n", static_cast<unsigned long long>(written),
              static_cast<unsigned long long>(count));
  return written > count / 2 ? 0 : 1;
}
