// SPDX-License-Identifier: Apache-2.0
// Kernel lists as text and back, byte by byte. Invalid text is refused with its line number.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "engines/neutron/text/text.h"
#include "neutron_random_list.h"
#include "neutron_sample.h"
#include "tests/folders.h"

namespace thimble::neutron_test {
namespace {

ByteView view_of(const Bytes& bytes) {
  return {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()};
}

std::string printed(const Bytes& program, const Bytes& weights) {
  const auto text = neutron::text::print(view_of(program), view_of(weights), "list");
  return text.ok() ? *text : text.error().message;
}

std::string reparsed(const std::string& text, Bytes& program) {
  const auto bytes = neutron::text::parse(text, "text");
  if (!bytes.ok()) return bytes.error().message;
  program.resize(bytes->size());
  std::memcpy(program.data(), bytes->data(), bytes->size());
  return "";
}

/// Returns the bytes of program() without the padding at its end.
Bytes unpadded(const List& list) {
  Bytes program = list.program();
  neutron::Header header;
  std::memcpy(&header, program.data(), sizeof header);
  program.resize(header.program_bytes);
  return program;
}

void expect_round_trip(const List& list) {
  const Bytes program = unpadded(list);
  const std::string text = printed(program, list.weights);
  ASSERT_TRUE(text.starts_with("list   weights ")) << text;
  Bytes again;
  ASSERT_EQ(reparsed(text, again), "") << text;
  EXPECT_EQ(again, program) << text;
}

TEST(NeutronText, SampleRoundTrip) {
  const List list = sample_list();
  const std::string text = printed(unpadded(list), list.weights);
  for (const char* line : {
           "list   weights ",
           " scratch 1040, prefetch 512, profile 480, 4321 cycles, hash ",
           "input  0   int8[48] scale 0.5 zero -3\n",
           "kernel 0   Conv2DStandard input0[1,4,4,3] -> scratch+0[1,4,4,8]\n"
           "           window 3,3 pad 1,1 zero 3,-4,5 multiplier 1500000000,1500000000,1500000000 "
           "shift -7,-7,-7 scales 8,32,64 weights 96 bias 0 prefetch 0,312,0 macs 3456 cycles "
           "100\n",
           "kernel 4   FullyConnected scratch+0[4,32] -> ",
           " rounding 1 zero 3,-4,5 ",
           "kernel 5   BatchMatMul input1[2,3,4] input1[2,4,3:12,1,4] -> ",
           "kernel 12  Table scratch+0[1,4,4,8] -> scratch+128[1,4,4,8]\n"
           "           function LOGISTIC table ",
           " reduced 3 ",
           "kernel 20  Softmax ",
           " fill -496 cycles 120\n",
           "kernel 25  Pad ",
           " inside scratch+",
           "output 1   int8[192] scale 0.5 zero -3\n",
       }) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nin\n" << text;
  }
  expect_round_trip(list);
}

TEST(NeutronText, InputsAndOutputs) {
  List list = sample_list();
  IoRecord& io = list.inputs[0];
  io = {4, 1, 0, {1, 3, 4, 4, 1, 1}, 0.1F, -128, 48};
  list.outputs[0].scale = 0;
  list.outputs[1].scale = 1.17549e-38F;
  EXPECT_NE(printed(unpadded(list), list.weights)
                .find("input  0   int8[1,3,4,4] channels_last scale 0.1 zero -128\n"),
            std::string::npos);
  expect_round_trip(list);
}

/// Random lists with all kinds of values.
TEST(NeutronText, RandomLists) {
  for_random_lists("text", 300, [](RandomList& world) {
    const Dims dims = world.dims(world.pick(1, neutron::kRankMax), 5);
    const View from = world.place(world.tensor(dims));
    const View other = world.place(world.tensor(dims));
    KernelRecord& record = world.list.kernel(Kernel::kAdd, {from, other}, world.result(dims));
    world.use(record, world.output_stage());
    for (uint32_t i = 0; i < 3; ++i) RandomList::use(record, i, world.factor(128));
    record.a_zero_point = world.zero_point();
    record.prefetch_from = 16 * world.pick(0, 9);
    record.macs = world.pick(0, 0xFFFFFFFE);
    record.cycles = 0xFFFFFFFF;
    record.data = world.pick(0, 0xFFFFFFFE);
    record.dilation_w = static_cast<uint16_t>(world.pick(0, 65535));
    const View made = record.output;
    world.list.kernel(
        Kernel::kCopy, {made},
        dense_view(Memory::kOutput, world.list.output(static_cast<uint32_t>(elements(dims))), 0,
                   dims));
    world.list.header.cycles = world.pick(0, 0xFFFFFFFE);
    expect_round_trip(world.list);
  });
}

TEST(NeutronText, RefusesInvalidList) {
  List list = sample_list();
  list.kernels[sample::kMaxPool].stride_h = 0;
  EXPECT_EQ(printed(list.program(), list.weights),
            "list: kernel 14: window, constants or numbers do not fit the kernel, or the "
            "kernel is unknown");
  EXPECT_EQ(printed({}, {}), "list: program or weights are truncated");
}

constexpr const char* kHead =
    "list weights 0, scratch 16, prefetch 0, profile 0, 7 cycles, hash ff # a comment\n";

TEST(NeutronText, LineOrderAndWhitespaceAreFree) {
  Bytes first, second;
  const std::string head = kHead;
  ASSERT_EQ(reparsed(head + "kernel 0 Copy input0[2,3] -> output0+3[2,3:-3,1] cycles 5\n"
                            "input 0 int8[2,3] scale 1 zero 0\noutput 0 int8[6] scale 1 zero 0\n",
                     first),
            "");
  ASSERT_EQ(reparsed(head + "output 0 int8[6]\n  scale 1 # more\n zero 0\n\n"
                            "input 0 int8[2,3] scale 1.0 zero 0; kernel 0\tCopy\n"
                            "input0+0[2,3:3,1]\n->\noutput0+3[2,3:-3,1] cycles 5",
                     second),
            "");
  EXPECT_EQ(first, second);
  neutron::Header header;
  std::memcpy(&header, first.data(), sizeof header);
  EXPECT_EQ(header.content_hash, 0xFFU);
  EXPECT_EQ(header.program_bytes, first.size());
  rehash(first, {});
  EXPECT_EQ(check_bytes(first, {}), Status::kOk);
}

TEST(NeutronText, MessagesNameTheLine) {
  const auto message = [](const std::string& text) {
    Bytes program;
    return reparsed(text, program);
  };
  const auto behind = [&](const std::string& text) { return message(kHead + text); };
  const std::string number = " expected a number";
  EXPECT_EQ(message(""), "text:1: the text ends, expected 'list'");
  EXPECT_EQ(message("lists"), "text:1: 'lists', expected 'list'");
  EXPECT_EQ(message("list weights x"), "text:1: 'x'," + number);
  EXPECT_EQ(message("list weights 5000000000"), "text:1: '5000000000'," + number);
  EXPECT_EQ(message("list weights 1 scratch -1"), "text:1: '-1'," + number);
  EXPECT_EQ(behind("layer 0"), "text:2: 'layer', expected input, output or kernel");
  EXPECT_EQ(behind("\nkernel 1"), "text:3: '1', expected number 0");
  EXPECT_EQ(behind("kernel 0 Conv"), "text:2: 'Conv', expected a kernel's name");
  EXPECT_EQ(behind("kernel 0 ?"), "text:2: '?', expected a kernel's name");
  const std::string a_view = " expected a view, memory+offset[dimensions:strides]";
  for (const char* view :
       {"input[1]", "input0", "input0[]", "input0[1,]", "input0[1:1,1]", "input0[1,2,3,4,5,6,7]",
        "input0+x[1]", "flash+0[1]", "input0[1:x]", "input70000[1]", "input0+1[1]2"}) {
    EXPECT_EQ(behind("kernel 0 Copy\n" + std::string(view)),
              "text:3: '" + std::string(view) + "'," + a_view);
  }
  EXPECT_EQ(behind("kernel 0 Add weights+0[1] weights+0[1] weights+0[1]"),
            "text:2: 'weights+0[1]', expected '->'");
  EXPECT_EQ(behind("kernel 0 Copy weights+0[1] ->"), "text:2: the text ends," + a_view);
  const std::string copy = "kernel 0 Copy weights+0[1] -> scratch+0[1] ";
  EXPECT_EQ(behind(copy + "zero 1,2"), "text:2: '1,2', expected 3 numbers that fit 'zero'");
  EXPECT_EQ(behind(copy + "zero 1,2,3,4"), "text:2: '1,2,3,4', expected 3 numbers that fit 'zero'");
  EXPECT_EQ(behind(copy + "pad 1,65536"), "text:2: '1,65536', expected 2 numbers that fit 'pad'");
  EXPECT_EQ(behind(copy + "rounding 256"), "text:2: '256', expected 1 number that fit 'rounding'");
  EXPECT_EQ(behind(copy + "macs none"), "text:2: 'none', expected 1 number that fit 'macs'");
  EXPECT_EQ(behind(copy + "function SINE"), "text:2: 'SINE', expected a function's name");
  EXPECT_EQ(behind(copy + "speed 5"), "text:2: 'speed', expected input, output or kernel");
  EXPECT_EQ(behind("input 0 int16[1]"), "text:2: 'int16[1]', expected int8[dimensions]");
  EXPECT_EQ(behind("input 0 int8[65536,65536]"),
            "text:2: 'int8[65536,65536]', expected at most 268435456 elements");
  EXPECT_EQ(behind("input 0 int8[1] scale 1x"), "text:2: '1x'," + number);
  EXPECT_EQ(behind("input 0 int8[1] zero"), "text:2: 'zero', expected 'scale'");
}

/// Truncated and changed text is parsed or refused; nothing else happens.
TEST(NeutronText, AnyTextIsReadOrRefused) {
  const List list = sample_list();
  const std::string good = printed(unpadded(list), list.weights);
  std::mt19937 random(9);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    if (random() % 4 == 0) text.resize(random() % text.size());
    for (auto left = random() % 4; left > 0 && !text.empty(); --left) {
      text[random() % text.size()] = "0123456789-,:[]+ \n#xaz"[random() % 22];
    }
    Bytes program;
    const std::string error = reparsed(text, program);
    refused += error.empty() ? 0 : 1;
    if (error.empty()) {
      rehash(program, list.weights);
      (void)check_bytes(program, list.weights);
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_LT(refused, 4900);
}

/// The list of docs/neutron.md: tanh of three values.
List example() {
  List list;
  std::vector<int8_t> table(256);
  for (int x = -128; x < 128; ++x) {
    const double y = std::nearbyint(128 * std::tanh(x / 32.0));
    table[static_cast<size_t>(x + 128)] = static_cast<int8_t>(std::clamp(y, -128.0, 127.0));
  }
  const View from = dense_view(Memory::kInput, list.input(3), 0, {3});
  KernelRecord& record =
      list.kernel(Kernel::kTable, {from}, dense_view(Memory::kOutput, list.output(3), 0, {3}));
  record.table = list.codes(table);
  record.function = neutron::Function::kTanh;
  record.cycles = 161;
  list.header.cycles = 161;
  list.inputs[0].scale = 1.0F / 32;
  list.outputs[0].scale = 1.0F / 128;
  list.inputs[0].zero_point = list.outputs[0].zero_point = 0;
  return list;
}

std::string page() {
  std::ifstream file(test::source_folder() / "docs/neutron.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The page has lines `    140  01 02 ...`; a star replaces lines of zeros.
TEST(NeutronText, DocumentedHexDumpEqualsBytes) {
  const Bytes bytes = example().program();
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
  EXPECT_NE(page().find(expected), std::string::npos) << expected;
}

TEST(NeutronText, DocumentedTextEqualsList) {
  const List list = example();
  std::istringstream lines(printed(list.program(), list.weights));
  std::string expected;
  for (std::string line; std::getline(lines, line);) expected += "    " + line + "\n";
  EXPECT_NE(page().find(expected), std::string::npos) << expected;
}

}  // namespace
}  // namespace thimble::neutron_test
