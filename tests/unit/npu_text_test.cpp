// SPDX-License-Identifier: Apache-2.0
// Command streams as text: text and words map one to one, also for words that the table lacks.

#include "engines/ethos_u/text/text.h"

#include <gtest/gtest.h>

#include <random>

#include "engines/ethos_u/text/payload.h"

namespace thimble::ethos_u::text {
namespace {

using Words = std::vector<uint32_t>;
constexpr Generation kGenerations[] = {Generation::kU55, Generation::kU65, Generation::kU85};

std::string error_of(std::string_view text, Generation generation = Generation::kU55) {
  const Result<Words> words = assemble(text, generation, "s.txt");
  return words.ok() ? "no error" : words.error().message;
}

TEST(NpuText, CommandsEncodeToExpectedWords) {
  const Words words = {
      word0(0x105, 1U << 6 | 1U << 8 | 2U << 14 | 1U),
      word1(0x00, 0x12),
      0x345678,
      word1(0x04, 0xFFFF),
      0xFFFFFFF0,
      word0(0x109, 0xFF80),
      word1(0x24, 37),
      1518500250,
      word0(0x05, 1),
      word0(0x02, 0),
      word0(0x12, 0),
      word0(0x00, 0xFFFF),
  };
  EXPECT_EQ(disassemble(words, Generation::kU55),
            "IFM_PRECISION signed=1 precision=0 format=NHCWB16 scale_mode=OPA_32 round=NATURAL\n"
            "IFM_BASE0 0x1200345678\n"
            "IFM_STRIDE_X -16\n"
            "IFM_ZERO_POINT -128\n"
            "OFM_SCALE shift=37 multiplier=1518500250\n"
            "POOL AVERAGE\n"
            "CONV\n"
            "KERNEL_WAIT 0\n"
            "STOP 65535\n");
}

TEST(NpuText, CommandBelongsToItsGeneration) {
  const Words words = {word0(0x07, 2), word1(0x100, 0), 64, word1(0x96, 3U << 4 | 1), 7U << 16 | 5};
  EXPECT_EQ(disassemble(words, Generation::kU85),
            "RESIZE NEAREST\nBRANCH ALWAYS 0x40\n"
            "RESIZE_X one_step=1 block_step=3 one_step_mod=5 block_step_mod=7\n");
  EXPECT_EQ(disassemble(words, Generation::kU55),
            ".word 0x00020007\n.word 0x00004100 0x00000040\n.word 0x00314096 0x00070005\n");
}

TEST(NpuText, UnknownCommandsArePrintedAsWords) {
  const Words words = {word0(0x100, 0x80), word0(0x12, 0) | 0x400, word1(0x21, 1), 5, 0x8002,
                       word1(0x00, 0)};
  EXPECT_EQ(disassemble(words, Generation::kU65),
            ".word 0x00800100\n.word 0x00000412\n.word 0x00014021 0x00000005\n"
            ".word 0x00008002\n.word 0x00004000\n");
}

TEST(NpuText, AnyWordsRoundTrip) {
  std::mt19937 random(20261121);
  for (const Generation generation : kGenerations) {
    for (int round = 0; round < 200; ++round) {
      Words words(random() % 60);
      for (uint32_t& word : words) {
        const CommandRow& row = kCommands[random() % std::size(kCommands)];
        const auto parameter = static_cast<uint32_t>(random() >> (random() % 32));
        word = row.payload ? word1(row.code, parameter) : word0(row.code, parameter);
        if (random() % 4 == 0) word = static_cast<uint32_t>(random());
      }
      for (const bool offsets : {false, true}) {
        const std::string text = disassemble(words, generation, {offsets});
        const Result<Words> again = assemble(text, generation, "text");
        ASSERT_TRUE(again.ok()) << again.error().message << "\n" << text;
        ASSERT_EQ(*again, words) << text;
      }
    }
  }
}

TEST(NpuText, EveryCommandHasText) {
  for (const Generation generation : kGenerations) {
    for (const CommandRow& row : kCommands) {
      if (!has(row.generations, generation)) continue;
      Words words = {row.payload ? word1(row.code, 0) : word0(row.code, 0)};
      if (row.payload) words.push_back(1);
      EXPECT_TRUE(disassemble(words, generation).starts_with(row.name)) << row.name;
    }
  }
}

TEST(NpuText, FieldAcceptsNameOrNumber) {
  const Result<Words> words =
      assemble("POOL 1\nPOOL AVERAGE # mean\n\n  # nothing\n", Generation::kU55, "text");
  ASSERT_TRUE(words.ok());
  EXPECT_EQ(*words, Words({word0(5, 1), word0(5, 1)}));
}

TEST(NpuText, ErrorsNameLine) {
  EXPECT_EQ(error_of("STOP 0\nSTOPP 0"), "s.txt:2: no command STOPP on this generation");
  EXPECT_EQ(error_of("RESIZE 0"), "s.txt:1: no command RESIZE on this generation");
  EXPECT_EQ(error_of("IFM_PAD_TOP 128"), "s.txt:1: 128 does not fit into 7 bits");
  EXPECT_EQ(error_of("IFM_PAD_TOP -1"), "s.txt:1: -1 does not fit into 7 bits");
  EXPECT_EQ(error_of("IFM_ZERO_POINT -32769"), "s.txt:1: -32769 does not fit into 16 bits");
  EXPECT_EQ(error_of("POOL MEAN"), "s.txt:1: 'MEAN' is not a value of POOL");
  EXPECT_EQ(error_of("POOL"), "s.txt:1: POOL ends before its number");
  EXPECT_EQ(error_of("POOL MAX MAX"), "s.txt:1: unexpected 'MAX' after POOL");
  EXPECT_EQ(error_of("OFM_SCALE multiplier=1 shift=2"),
            "s.txt:1: shift= expected, 'multiplier=1' found");
  EXPECT_EQ(error_of("OFM_SCALE shift=2"), "s.txt:1: OFM_SCALE ends before multiplier");
  EXPECT_EQ(error_of(".word"), "s.txt:1: .word without a number");
  EXPECT_EQ(error_of(".word 0x100000000"), "s.txt:1: '0x100000000' is not a 32-bit word");
  EXPECT_EQ(error_of("IFM_BASE0 0x"), "s.txt:1: '0x' is not a value of IFM_BASE0");
}

Bytes bytes_of(const Words& words) {
  Bytes bytes;
  for (const uint32_t word : words) append_le(bytes, word);
  return bytes;
}

// The first words of Vela 5.1.0's payloads for ethos-u55-128 and ethos-u85-256.
const Words kCop1 = {0x31504F43, 0x00100001, 0x00001807,   0x10066001,  5,
                     5,          5,          2U << 16 | 2, word0(5, 1), word0(0, 0xFFFF)};
const Words kCop2 = {0x32504F43, 1,          56, 0,   1,           48,
                     0x24,       0x4D554556, 1,  20,  0x20000118,  0x20007000,
                     1,          0x20A20,    0,  ~0U, word0(7, 2), word0(0, 0xFFFF)};

TEST(NpuPayload, FirstPayloadFormat) {
  const Result<Payload> payload = read_payload(bytes_of(kCop1), "p");
  ASSERT_TRUE(payload.ok()) << payload.error().message;
  EXPECT_EQ(payload->header.cop_version, 1);
  EXPECT_EQ(payload->stream, Words({word0(5, 1), word0(0, 0xFFFF)}));
  EXPECT_EQ(payload->header.stream_offset, 32U);
  ASSERT_NE(payload->hardware(), nullptr);
  EXPECT_STREQ(payload->hardware()->name, "ethos-u55-128");
  EXPECT_EQ(print(*payload),
            "# COP1, 2 words from byte 32\n"
            "# config 0x00001807: ethos-u55-128, 128 MACs, stream version 0, SHRAM 24 KiB\n"
            "# id 0x10066001: architecture 1.0.6\n" +
                disassemble(payload->stream, Generation::kU55, {.offsets = true}));
}

TEST(NpuPayload, SecondPayloadFormat) {
  const Result<Payload> payload = read_payload(bytes_of(kCop2), "p");
  ASSERT_TRUE(payload.ok()) << payload.error().message;
  EXPECT_EQ(payload->header.cop_version, 2);
  EXPECT_EQ(payload->stream, Words({word0(7, 2), word0(0, 0xFFFF)}));
  EXPECT_EQ(payload->header.staging_bytes, 0x20A20U);
  ASSERT_NE(payload->hardware(), nullptr);
  EXPECT_STREQ(payload->hardware()->name, "ethos-u85-256");
}

/// Expects that the payload has the words of these bytes: its stream, also after printing and
/// assembling, and the fields of its header.
void expect_words_of(const Payload& payload, const Bytes& bytes) {
  const DriverPayload& header = payload.header;
  const auto word = [&](size_t index) { return load_le<uint32_t>(bytes, 4 * index); };
  Words stream;
  for (size_t at = header.stream_offset / 4; at < bytes.size() / 4; ++at) {
    stream.push_back(word(at));
  }
  EXPECT_EQ(header.stream_offset % 16, 0U);
  EXPECT_EQ(payload.stream, stream);
  const Result<Words> assembled = assemble(print(payload), payload.generation, "p");
  ASSERT_TRUE(assembled.ok()) << assembled.error().message;
  EXPECT_EQ(*assembled, stream);
  if (header.cop_version == 2) {
    EXPECT_EQ(header.config, word(10));
    EXPECT_EQ(header.id, word(11));
    EXPECT_EQ(header.addressing, word(12));
    EXPECT_EQ(header.staging_bytes, word(13) | uint64_t{word(14)} << 32);
    return;
  }
  // Bit 2 turns the action 5 into the action 1, a second configuration.
  const size_t config = (word(4) & 255) == 1 ? 5 : 2;
  EXPECT_EQ(header.config, word(config));
  EXPECT_EQ(header.id, word(config + 1));
}

TEST(NpuPayload, TruncationsAreErrorsAndBitFlipsAreRefusedOrRead) {
  for (const Words& words : {kCop1, kCop2}) {
    const Bytes whole = bytes_of(words);
    EXPECT_TRUE(is_payload(whole));
    for (size_t size = 0; size < whole.size(); ++size) {
      const Result<Payload> cut = read_payload(ByteView(whole).first(size), "p");
      ASSERT_FALSE(cut.ok()) << size;
      EXPECT_TRUE(cut.error().message.starts_with("p: byte ")) << cut.error().message;
    }
    size_t accepted = 0;
    for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      SCOPED_TRACE(fmt::format("word {}, bit {}", bit / 32, bit % 32));
      Bytes flipped = whole;
      flipped[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
      const Result<Payload> answer = read_payload(flipped, "p");
      if (!answer.ok()) continue;
      ++accepted;
      expect_words_of(*answer, flipped);
    }
    // The stream, CONFIG, ID and ignored fields may have nearly any value.
    EXPECT_GE(accepted, 8 * whole.size() / 4);
    EXPECT_LE(accepted, 8 * whole.size() * 3 / 4);
  }
}

}  // namespace
}  // namespace thimble::ethos_u::text
