// SPDX-License-Identifier: Apache-2.0
// The payload of a Neutron delegate call: golden bytes written by hand from docs/neutron.md, the
// error for each invalid field, and readers that do not crash on any input.

#include <gtest/gtest.h>
#include <cstring>

#include <cstdlib>
#include <functional>
#include <random>

#include "engines/neutron/formats/payload.h"

namespace thimble::formats::neutron {
namespace {

Bytes bytes_of_hex(std::string_view text) {
  Bytes bytes;
  std::string digits;
  for (const char letter : text) {
    if (std::isxdigit(static_cast<unsigned char>(letter)) == 0) continue;
    digits += letter;
    if (digits.size() != 2) continue;
    bytes.push_back(static_cast<std::byte>(std::strtoul(digits.c_str(), nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

// Microcode of two inputs and one output. The words between the published ones are private to the
// NPU; here they are 0xA0 and following.
constexpr std::string_view kProgram0 =
    "6E 4D 43 64  A1 A1 A1 A1  A2 A2 A2 A2  A3 A3 A3 A3 "  // 0 magic
    "A4 A4 A4 A4  A5 A5 A5 A5  36 00 00 00  05 00 00 00 "  // 6: 54 bytes, 7: 5 bytes of weights
    "A8 A8 A8 A8  20 01 00 00  40 00 00 00  02 00 00 00 "  // 9 scratch, 10 prefetch, 11 inputs
    "01 00 00 00  EE FF ";                                 // 12 outputs
constexpr std::string_view kGolden0 =
    // header: 2 inputs, 1 output, 3 arguments; formats 1 0, 0; maps 2 0, 0; version 0
    "02 01 03  01 00  00  02 00  00  00             00 00 00 00 00 00 "
    "6E 4D 43 64  A1 A1 A1 A1  A2 A2 A2 A2  A3 A3 A3 A3 "
    "A4 A4 A4 A4  A5 A5 A5 A5  36 00 00 00  05 00 00 00 "
    "A8 A8 A8 A8  20 01 00 00  40 00 00 00  02 00 00 00 "
    "01 00 00 00  EE FF 00 00  00 00 00 00  00 00 00 00 "  // padded to 64
    "11 22 33 44 55 00 00 00 00 00 00 00 00 00 00 00 "     // weights
    "77 88 99 00 00 00 00 00 00 00 00 00 00 00 00 00 ";    // kernels

Payload payload0() {
  Payload payload;
  payload.input_formats = {MemoryOrder::kChannelsLast, MemoryOrder::kRowMajor};
  payload.output_formats = {MemoryOrder::kRowMajor};
  payload.input_map = {2, 0};
  payload.output_map = {0};
  payload.arg_count = 3;
  payload.version = 0;
  payload.program = bytes_of_hex(kProgram0);
  payload.weights = bytes_of_hex("1122334455");
  payload.kernels = bytes_of_hex("778899");
  return payload;
}

// A kernel list with three inputs and four outputs, 64 bytes; no weights, no kernels.
constexpr std::string_view kProgram1 =
    "54 4E 65 75  01 00 00 00  00 00 00 00  40 00 00 00 "   // 0 magic
    "40 00 00 00  00 00 00 00  40 00 00 00  00 00 00 00 "   // 6: 64 bytes, 7: no weights
    "00 00 00 00  30 00 00 00  20 00 00 80  10 00 00 00 "   // 9 scratch, 10 profile, 11 debug
    "50 00 00 00  03 00 00 00  04 00 00 00  00 00 00 00 ";  // 12 prefetch, 13 inputs, 14 outputs
constexpr std::string_view kGolden1 =
    // header, 18 bytes: formats 0 1 0, 1 0 0 1; maps 0 1 2, 3 1 0 2; version 1
    "03 04 03  00 01 00  01 00 00 01  00 01 02  03 01 00 "
    "02  01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
    "54 4E 65 75  01 00 00 00  00 00 00 00  40 00 00 00 "
    "40 00 00 00  00 00 00 00  40 00 00 00  00 00 00 00 "
    "00 00 00 00  30 00 00 00  20 00 00 80  10 00 00 00 "
    "50 00 00 00  03 00 00 00  04 00 00 00  00 00 00 00 ";

Payload payload1() {
  Payload payload;
  const MemoryOrder last = MemoryOrder::kChannelsLast;
  const MemoryOrder none = MemoryOrder::kRowMajor;
  payload.input_formats = {none, last, none};
  payload.output_formats = {last, none, none, last};
  payload.input_map = {0, 1, 2};
  payload.output_map = {3, 1, 0, 2};
  payload.arg_count = 3;
  payload.version = 1;
  payload.program = bytes_of_hex(kProgram1);
  return payload;
}

std::string text_of(const Result<Payload>& result) {
  return result.ok() ? "ok" : result.error().message;
}
std::string text_of(const Status& result) {
  return result.ok() ? "ok" : result.error().message;
}

TEST(NeutronPayload, GoldenBytesOfVersion0) {
  const auto written = write_payload(payload0());
  ASSERT_TRUE(written.ok()) << written.error().message;
  const Bytes golden = bytes_of_hex(kGolden0);
  EXPECT_EQ(golden.size(), 112U);
  EXPECT_EQ(*written, golden);
  EXPECT_EQ(text_of(verify_payload(golden)), "ok");
  const auto read = read_payload(golden);
  ASSERT_TRUE(read.ok()) << read.error().message;
  Payload wanted = payload0();
  wanted.kernels.resize(16);
  EXPECT_TRUE(*read == wanted);
}

TEST(NeutronPayload, GoldenBytesOfVersion1) {
  const auto written = write_payload(payload1());
  ASSERT_TRUE(written.ok()) << written.error().message;
  const Bytes golden = bytes_of_hex(kGolden1);
  EXPECT_EQ(golden.size(), 96U);
  EXPECT_EQ(*written, golden);
  EXPECT_EQ(text_of(verify_payload(golden)), "ok");
  const auto read = read_payload(golden);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(*read == payload1());
}

/// The delegate's reader gives the golden bytes' words, one by one.
TEST(NeutronPayload, ReadsWordsOfProgram) {
  alignas(16) std::array<uint8_t, 112> data = {};
  abi::neutron::PayloadView view;
  abi::neutron::PayloadProblem problem;
  const auto look = [&](std::string_view hex) {
    const Bytes bytes = bytes_of_hex(hex);
    std::memcpy(data.data(), bytes.data(), bytes.size());
    return abi::neutron::read_payload(data.data(), static_cast<uint32_t>(bytes.size()), view,
                                      problem);
  };
  ASSERT_TRUE(look(kGolden0));
  EXPECT_EQ(view.magic, 0x64434D6EU);
  EXPECT_EQ(view.program - data.data(), 16);
  EXPECT_EQ(view.weights - data.data(), 80);
  EXPECT_EQ(view.kernels - data.data(), 96);
  EXPECT_EQ(view.program_bytes, 54U);
  EXPECT_EQ(view.weight_bytes, 5U);
  EXPECT_EQ(view.kernel_bytes, 16U);
  EXPECT_EQ(view.scratch_bytes, 0x120U);
  EXPECT_EQ(view.profile_bytes, 0U);
  EXPECT_EQ(view.debug_bytes, 0U);
  EXPECT_EQ(view.prefetch_bytes, 0x40U);
  EXPECT_EQ(abi::neutron::call_bytes(view), 48U + 0x120 + 0x40);
  ASSERT_TRUE(look(kGolden1));
  EXPECT_EQ(view.program - data.data(), 32);
  EXPECT_EQ(view.scratch_bytes, 0x30U);
  EXPECT_EQ(view.profile_bytes, 0x20U) << "the top bit is no size";
  EXPECT_EQ(view.debug_bytes, 0x10U);
  EXPECT_EQ(view.prefetch_bytes, 0x50U);
  EXPECT_EQ(abi::neutron::call_bytes(view), 80U + 0x30 + 0x20 + 0x10 + 0x50);
}

/// The unchecked reader, used in calls, gives the same values as the checked reader, used at load.
TEST(NeutronPayload, UncheckedReaderEqualsCheckedReader) {
  for (const std::string_view hex : {kGolden0, kGolden1}) {
    alignas(16) std::array<uint8_t, 112> data = {};
    const Bytes bytes = bytes_of_hex(hex);
    std::memcpy(data.data(), bytes.data(), bytes.size());
    abi::neutron::PayloadView a;
    abi::neutron::PayloadProblem problem;
    ASSERT_TRUE(
        abi::neutron::read_payload(data.data(), static_cast<uint32_t>(bytes.size()), a, problem));
    const abi::neutron::PayloadView b = abi::neutron::trusted_payload(data.data());
    EXPECT_EQ(a.input_count, b.input_count);
    EXPECT_EQ(a.output_count, b.output_count);
    EXPECT_EQ(a.arg_count, b.arg_count);
    EXPECT_EQ(a.version, b.version);
    EXPECT_EQ(a.magic, b.magic);
    EXPECT_EQ(a.input_formats, b.input_formats);
    EXPECT_EQ(a.output_formats, b.output_formats);
    EXPECT_EQ(a.input_map, b.input_map);
    EXPECT_EQ(a.output_map, b.output_map);
    EXPECT_EQ(a.program, b.program);
    EXPECT_EQ(a.program_bytes, b.program_bytes);
    EXPECT_EQ(a.weight_bytes, b.weight_bytes);
    EXPECT_EQ(abi::neutron::call_bytes(a), abi::neutron::call_bytes(b));
    EXPECT_EQ(a.scratch_bytes, b.scratch_bytes);
    EXPECT_EQ(a.profile_bytes, b.profile_bytes);
    EXPECT_EQ(a.debug_bytes, b.debug_bytes);
    EXPECT_EQ(a.prefetch_bytes, b.prefetch_bytes);
  }
}

/// A change of one byte of golden bytes.
struct Case {
  std::string_view golden;
  size_t at;
  int value;
  std::string_view expected;  // message after "Neutron payload, "
};

constexpr Case kCases[] = {
    {kGolden0, 9, 2, "byte 9: version 2, expected 0 or 1"},
    {kGolden1, 17, 0, "byte 17: version 0, expected 1 for a kernel list"},
    {kGolden0, 4, 2, "byte 4: format 2 of input 1, expected 0 or 1"},
    {kGolden0, 5, 255, "byte 5: format 255 of output 0, expected 0 or 1"},
    {kGolden1, 9, 9, "byte 9: format 9 of output 3, expected 0 or 1"},
    {kGolden0, 6, 3, "byte 6: input 0 is argument 3, expected one of 3 input arguments"},
    {kGolden0, 2, 2, "byte 6: input 0 is argument 2, expected one of 2 input arguments"},
    {kGolden0, 8, 1, "byte 8: output 0 is output argument 1, expected one of 1"},
    {kGolden1, 16, 1, "byte 16: output 3 has output argument 1, which another output already has"},
    {kGolden0, 16, 0x6F,
     "byte 16: magic 0x64434d6f, expected 0x64434d6e (microcode) or 0x75654e54 (a kernel list)"},
    {kGolden0, 40, 51, "byte 40: a program of 51 bytes, expected 52 to 268435456"},
    {kGolden1, 56, 59, "byte 56: a program of 59 bytes, expected 60 to 268435456"},
    {kGolden0, 43, 0xFF, "byte 40: a program of 4278190134 bytes, expected 52 to 268435456"},
    {kGolden0, 47, 0x20, "byte 44: weights of 536870917 bytes, expected at most 268435456"},
    {kGolden0, 55, 0x20,
     "byte 52: scratch, profile, debug or prefetch size of 536871200 bytes, expected at most "
     "268435456"},
    {kGolden0, 59, 0x20,
     "byte 56: scratch, profile, debug or prefetch size of 536870976 bytes, expected at most "
     "268435456"},
    {kGolden1, 75, 0xA0,
     "byte 72: scratch, profile, debug or prefetch size of 536870944 bytes, expected at most "
     "268435456"},
    {kGolden1, 79, 0x80,
     "byte 76: scratch, profile, debug or prefetch size of 2147483664 bytes, expected at most "
     "268435456"},
    {kGolden0, 60, 3, "byte 60: a program of 3 inputs, the header has 2"},
    {kGolden0, 64, 0, "byte 64: a program of 0 outputs, the header has 1"},
    {kGolden1, 84, 4, "byte 84: a program of 4 inputs, the header has 3"},
    {kGolden1, 88, 5, "byte 88: a program of 5 outputs, the header has 4"},
    {kGolden0, 40, 85, "byte 112: ends here, expected at least 128 bytes"},
    {kGolden0, 44, 33, "byte 112: ends here, expected at least 128 bytes"},
};

TEST(NeutronPayload, EachInvalidFieldHasItsMessage) {
  for (const Case& each : kCases) {
    Bytes bytes = bytes_of_hex(each.golden);
    ASSERT_NE(bytes[each.at], static_cast<std::byte>(each.value)) << each.expected;
    bytes[each.at] = static_cast<std::byte>(each.value);
    EXPECT_EQ(text_of(read_payload(bytes)), "Neutron payload, " + std::string(each.expected));
  }
}

TEST(NeutronPayload, EveryTruncationIsRefused) {
  for (const std::string_view golden : {kGolden0, kGolden1}) {
    const Bytes bytes = bytes_of_hex(golden);
    constexpr size_t kLeast = 96;  // kernels may be missing
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto read = read_payload(ByteView(bytes).first(size));
      EXPECT_EQ(read.ok(), size >= kLeast) << size;
      if (read.ok()) continue;
      EXPECT_NE(read.error().message.find(fmt::format("byte {}: ends here", size)),
                std::string::npos)
          << read.error().message;
    }
  }
}

TEST(NeutronPayload, ReaderIgnoresPaddingAndVerifierChecksIt) {
  const auto with = [](std::string_view golden, size_t at) {
    Bytes bytes = bytes_of_hex(golden);
    bytes[at] = std::byte{7};
    EXPECT_EQ(text_of(read_payload(bytes)), "ok") << at;
    return text_of(verify_payload(bytes));
  };
  EXPECT_EQ(with(kGolden0, 10), "Neutron payload, byte 10: 7 in the padding, expected 0");
  EXPECT_EQ(with(kGolden0, 70), "Neutron payload, byte 70: 7 in the padding, expected 0");
  EXPECT_EQ(with(kGolden0, 95), "Neutron payload, byte 95: 7 in the padding, expected 0");
  EXPECT_EQ(with(kGolden1, 18), "Neutron payload, byte 18: 7 in the padding, expected 0");
  EXPECT_EQ(with(kGolden0, 99), "ok") << "the vendor's kernels may be as long as that";
  Bytes bytes = bytes_of_hex(kGolden1);
  bytes.resize(100);
  EXPECT_EQ(text_of(verify_payload(bytes)),
            "Neutron payload, byte 100: ends here, expected a multiple of 16");
  bytes.resize(112);
  EXPECT_EQ(text_of(verify_payload(bytes)),
            "Neutron payload, byte 96: a kernel list must not be followed by a kernels block, "
            "found 16 bytes");
}

TEST(NeutronPayload, WriterRefusesInvalidPayloads) {
  const auto message = [](const std::function<void(Payload&)>& change) {
    Payload payload = payload0();
    change(payload);
    const auto written = write_payload(payload);
    return written.ok() ? "ok" : written.error().message;
  };
  EXPECT_EQ(message([](Payload&) {}), "ok");
  EXPECT_EQ(message([](Payload& p) { p.input_map.pop_back(); }),
            "Neutron payload: maps of 1 inputs and 1 outputs, formats of 2 and 1");
  EXPECT_EQ(
      message([](Payload& p) { p.weights.pop_back(); }),
      "Neutron payload: a program of 54 bytes and weights of 4, expected 54 and 5 as in its words");
  EXPECT_EQ(
      message([](Payload& p) { p.program.push_back(std::byte{0}); }),
      "Neutron payload: a program of 55 bytes and weights of 5, expected 54 and 5 as in its words");
  EXPECT_EQ(message([](Payload& p) { p.output_formats.resize(256); }),
            "Neutron payload: 2 inputs and 256 outputs, at most 255 of each");
  EXPECT_EQ(message([](Payload& p) { p.arg_count = 1; }),
            "Neutron payload, byte 6: input 0 is argument 2, expected one of 1 input arguments");
}

/// A header with the largest numbers that fit in a byte.
TEST(NeutronPayload, HeaderWithMaximumCounts) {
  Payload payload = payload1();
  payload.input_formats.assign(255, MemoryOrder::kChannelsLast);
  payload.output_formats.assign(255, MemoryOrder::kRowMajor);
  payload.input_map.assign(255, 254);
  payload.output_map.clear();
  for (int i = 254; i >= 0; --i) payload.output_map.push_back(static_cast<uint8_t>(i));
  payload.arg_count = 255;
  payload.program[52] = payload.program[56] = std::byte{255};
  const auto written = write_payload(payload);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(written->size(), 1024U + 64);
  const auto read = read_payload(*written);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(*read == payload);
}

/// Reading accepted bytes and writing them again gives the same bytes, except for padding.
TEST(NeutronPayload, RandomlyChangedBytesAreRefusedOrRoundTrip) {
  const char* const given = std::getenv("THIMBLE_SEED");
  const uint32_t seed =
      given != nullptr ? static_cast<uint32_t>(std::strtoul(given, nullptr, 0)) : 20261122;
  std::mt19937 random(seed);
  int accepted = 0;
  constexpr int kChanges = 20000;
  for (int i = 0; i < kChanges; ++i) {
    Bytes bytes = bytes_of_hex(random() % 2 == 0 ? kGolden0 : kGolden1);
    for (size_t flips = 1 + random() % 3; flips != 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << random() % 8);
    }
    if (random() % 8 == 0) bytes.resize(random() % (bytes.size() + 1));
    const auto read = read_payload(bytes);
    if (!read.ok()) continue;
    ++accepted;
    const auto again = write_payload(*read);
    ASSERT_TRUE(again.ok()) << again.error().message << "; repeat with THIMBLE_SEED=" << seed;
    if (verify_payload(bytes).ok()) {
      ASSERT_EQ(*again, bytes) << i << "; THIMBLE_SEED=" << seed;
    }
    ASSERT_TRUE(verify_payload(*again).ok() || read->kernels.size() != 0);
  }
  EXPECT_GT(accepted, kChanges / 20);
  EXPECT_LT(accepted, kChanges);
}

TEST(NeutronPayload, CompileSpecs) {
  CompileOptions options;
  options.operators_not_to_delegate = {"aten_add", "aten_mul"};
  options.fetch_constants_to_sram = true;
  const auto specs = compile_specs(options);
  std::string text;
  for (const pte::CompileSpec& spec : specs) {
    text += fmt::format("{}={};", spec.key, as_text(spec.value));
  }
  EXPECT_EQ(text,
            "output_format=tflite;compile_flags=;target=imxrt700;intermediates_dir=None;"
            "operators_not_to_delegate=aten_add,aten_mul;use_neutron_for_format_conversion=True;"
            "fetch_constants_to_sram=True;dump_kernel_selection_code=False;use_profiling=False;");
  const auto read = read_compile_specs(specs);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(*read == options);
  EXPECT_TRUE(*read_compile_specs(compile_specs({})) == CompileOptions{});
}

TEST(NeutronPayload, RefusesForeignCompileSpecs) {
  const auto message = [](const std::function<void(std::vector<pte::CompileSpec>&)>& change) {
    auto specs = compile_specs({});
    change(specs);
    const auto read = read_compile_specs(specs);
    return read.ok() ? "ok" : read.error().message;
  };
  EXPECT_EQ(message([](auto& specs) { specs.pop_back(); }),
            "NeutronBackend: 8 compile specs, expected 9");
  EXPECT_EQ(message([](auto& specs) { std::swap(specs[0], specs[1]); }),
            "NeutronBackend, compile spec 0: 'compile_flags', expected 'output_format'");
  EXPECT_EQ(message([](auto& specs) { specs[8].value.clear(); }),
            "NeutronBackend, compile spec use_profiling: '', expected True or False");
}

}  // namespace
}  // namespace thimble::formats::neutron
