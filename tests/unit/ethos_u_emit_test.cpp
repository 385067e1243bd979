// Programs made by hand give in the simulator what their operations say, on every configuration.

#include <cstdio>
#include <string>

#include "ethos_u_programs.h"

namespace thimble::test {
namespace {

NpuProgram chain(const Config& config) {
  ProgramBuilder b(config, 2);
  int at = b.conv(b.input({19, 23, 3}), 24, 3, 2);
  at = b.depthwise(at, 3, 1);
  at = b.conv(at, 40, 1, 1);
  at = b.depthwise(at, 5, 2, 1);
  at = b.conv(at, 17, 3, 1, false);
  b.output(at);
  return b.take();
}
NpuProgram residual(const Config& config) {
  ProgramBuilder b(config, 3);
  const int x = b.conv(b.input({16, 12, 8}), 32, 3, 1);
  const int y = b.conv(b.depthwise(b.conv(x, 48, 1, 1), 3, 1, 2), 32, 1, 1);
  b.output(b.average(b.add(x, y)));
  return b.take();
}
NpuProgram branches(const Config& config) {
  ProgramBuilder b(config, 4);
  const int x = b.conv(b.input({14, 14, 16}), 16, 3, 1);
  const int p = b.max_pool(x, 2, 2);
  const int up = b.upsampled_conv(p, 32);
  const int t = b.table(b.conv(x, 16, 1, 1));
  const int both = b.concat(up, t);
  b.output(b.table(b.conv(both, 33, 3, 2)));
  b.output(b.table(b.conv(p, 8, 1, 1)));
  return b.take();
}

int failures = 0;

void check(const char* name, const NpuProgram& program, const ScheduleOptions& options) {
  const std::vector<Bytes> inputs = random_inputs(program, 5);
  const auto blob = compile(program, options);
  std::string why;
  if (!blob.ok()) {
    why = blob.error().message;
  } else {
    const Simulated got = simulate(program, *blob, inputs);
    why = got.error;
    if (why.empty() && got.outputs != interpret(program, inputs)) why = "other bytes";
  }
  if (why.empty()) return;
  ++failures;
  std::printf("%s, %s: %s\n", program.config->name, name, why.c_str());
}

}  // namespace
}  // namespace thimble::test

int main() {
  using namespace thimble::test;  // NOLINT
  for (const Config& config : thimble::ethos_u::kConfigs) {
    check("chain", chain(config), {});
    check("residual", residual(config), {});
    check("branches", branches(config), {});
  }
  return failures == 0 ? 0 : 1;
}
