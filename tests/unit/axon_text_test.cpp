// SPDX-License-Identifier: Apache-2.0
// Layer lists as text, and the example of docs/nordic-axon.md, byte by byte.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "axon_sample.h"
#include "engines/axon/text/text.h"
#include "tests/folders.h"

namespace thimble::axon_test {
namespace {

std::string printed(const std::vector<uint8_t>& list) {
  const ByteView bytes(reinterpret_cast<const std::byte*>(list.data()), list.size());
  const auto text = axon::text::print(bytes, "list");
  return text.ok() ? *text : text.error().message;
}

/// The list of docs/nordic-axon.md: tanh of three values.
List example() {
  List list;
  std::strncpy(list.header.name, "tanh_3", sizeof list.header.name);
  list.layer(Operation::kTanh, {list.external({1, 1, 1, 3}, 2, 0)},
             list.interlayer({1, 1, 1, 3}, 1, 0))
      .cycles = 0;
  list.output(list.last());
  list.inputs[0].scale = 1.0 / 4096;
  list.outputs[0].scale = 1.0 / 128;
  return list;
}

TEST(AxonText, DocumentedExampleEqualsText) {
  EXPECT_EQ(printed(example().build()),
            "list tanh_3   464 B, interlayer 16, variables 0, constants 0; 0 cycles\n"
            "input  0   external 0 int16[1,1,1,3], scale 0.000244140625, zero 0\n"
            "layer 0    tanh; external 0 int16[1,1,1,3]\n"
            "           -> interlayer+0 int8[1,1,1,3]; 0 cycles\n"
            "output 0   interlayer+0 int8[1,1,1,3] of layer 0, scale 0.0078125, zero 0\n");
}

TEST(AxonText, PrintsEachLayerOfSample) {
  const std::string text = printed(sample_list().build());
  for (const char* line :
       {"layer 0    conv2d 3x3 pad 1,1,1,1 leaky_relu, per channel; external 0 int8[1,2,6,7]\n"
        "           -> interlayer+0 int8[1,3,6,7] rows 8; 10 cycles\n",
        "depthwise 2x2 stride 1,2 relu;", "max_pool 2x2 stride 2,2 pad 0,0,1,1;",
        "strided_slice [1,0,0,3,3,2,1,1,1];", "channel_pad pad 0,0,1,0;", "concat along channel;",
        "fully_connected prepare_softmax;", "-> variable 0 int8[1,1,1,5]; 10 cycles\n",
        "variable 0 8 B at 0, int8, at first -3\n", "multiply; interlayer+",
        "space_to_batch [2,3,0,0,1,1];", "resize_nearest;", "reshape;", "softmax along channel;"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
  }
}

TEST(AxonText, RefusesInvalidList) {
  List list = sample_list();
  list.layers[kSampleMax].kernel_h = 0;
  EXPECT_EQ(printed(list.build()),
            "list: layer 2: shapes, kernel, constants or attributes do not fit the operation");
  EXPECT_EQ(printed({}), "list: container is truncated");
}

/// The page has lines `    000001a0  01 02 ...`; a star replaces lines of zeros.
TEST(AxonText, DocumentedHexDumpEqualsBytes) {
  const std::vector<uint8_t> bytes = example().build();
  std::string expected;
  bool star = false;
  for (size_t at = 0; at < bytes.size(); at += 16) {
    std::string line;
    bool zero = true;
    for (size_t i = 0; i < 16; ++i) {
      line += fmt::format(" {:02x}", bytes[at + i]);
      zero = zero && bytes[at + i] == 0;
    }
    if (!zero) expected += fmt::format("    {:03x} {}\n", at, line);
    if (zero && !star) expected += "    *\n";
    star = zero;
  }
  std::ifstream page(test::source_folder() / "docs/nordic-axon.md");
  std::ostringstream text;
  text << page.rdbuf();
  EXPECT_NE(text.str().find(expected), std::string::npos) << expected;
}

}  // namespace
}  // namespace thimble::axon_test
