// SPDX-License-Identifier: Apache-2.0
// Number of instructions of loading a network as the compiler writes it, with all checks.

#include <cstdio>

#include "support.h"
#include "tests/folders.h"

namespace thimble::firmware_test {
namespace {

// Upper bounds for loading from the flatbuffer and from records.
constexpr long kStockMax = 40000, kNativeMax = 10000;

void compile(const std::string& model, const std::string& core, const std::string& dialect,
             const std::string& output) {
  const std::string folder = (test::source_folder() / "models" / model).string() + "/";
  std::vector<std::string> command = {THIMBLE_PROGRAM, "compile", folder + model + ".pt2",
                                      "--target", core};
  const bool stock = dialect == "stock";
  command.insert(command.end(), {stock ? "--compat" : "--io", stock ? "executorch" : "int8"});
  command.insert(command.end(), {"--calibrate", folder + "calibrate.npz", "-o", output});
  base::ProcessOptions process;
  process.folder = work_folder();
  const auto result = base::run_process(command, process);
  ASSERT_TRUE(result.ok() && result->exit_code == 0) << (result.ok() ? result->output : "");
}

TEST(RuntimeLoad, LoadInstructionsStayBelowLimit) {
  write_file("stock.bin", Bytes(49 * 10 * sizeof(float)));
  write_file("native.bin", Bytes(49 * 10));
  for (const Core& core : kCores) {
    const std::string name = core.name;
    if (name != "cortex-m4" && name != "cortex-m33" && name != "cortex-m55") continue;
    for (const std::string dialect : {"stock", "native"}) {
      ASSERT_NO_FATAL_FAILURE(compile("dscnn_kws", name, dialect, "kws.pte"));
      const auto result = run({image("runner", core),
                               core.machine,
                               {"runner", "kws.pte", dialect + ".bin", "y"},
                               "counts"});
      ASSERT_EQ(result.exit_code, 0) << result.output;
      const long load = counted(read_file("counts"), "load 0");
      EXPECT_GT(load, 1000) << name;
      EXPECT_LT(load, dialect == "stock" ? kStockMax : kNativeMax) << name << " " << dialect;
      RecordProperty(name + " " + dialect, static_cast<int>(load));
      std::printf("%s: %ld instructions to load a %s file\n", core.name, load, dialect.c_str());
    }
  }
}

}  // namespace
}  // namespace thimble::firmware_test
