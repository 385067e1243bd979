// SPDX-License-Identifier: Apache-2.0
// The vendor's IR file and the C header that its compiler writes, as structs: round trips, and
// refusals with their locations.

#include <gtest/gtest.h>
#include <cstring>

#include "axon_sample.h"
#include "engines/axon/compiler/vendor/layers_to_ir.h"
#include "engines/axon/compiler/vendor/subgraph_text.h"
#include "engines/axon/formats/compiled_header.h"
#include "engines/axon/formats/ir_file.h"
#include "engines/axon/formats/program.h"
#include "runtime_support.h"

namespace thimble::axon_vendor_test {
namespace {

using namespace formats::axon;

constexpr uint32_t kVersion = 0x010301;

IrFile sample_ir() {
  const std::vector<uint8_t> bytes = axon_test::sample_list().build();
  const runtime_test::AlignedBytes data{
      ByteView(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size())};
  auto ir = engine::axon::layers_to_ir(axon::Container(data.data()), "sample");
  EXPECT_TRUE(ir.ok()) << ir.error().message;
  ir->file.labels = {"cat", "dog"};
  return ir->file;
}

TEST(IrFileTest, RoundTripKeepsBytes) {
  const IrFile file = sample_ir();
  const auto bytes = write_ir(file, kVersion);
  ASSERT_TRUE(bytes.ok());
  const auto back = read_ir(*bytes);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, file);
}

TEST(IrFileTest, RefusesUnknownVersions) {
  for (const uint32_t version : {0U, 0x000110U, 0x010300U, 0x010302U, 0x020000U}) {
    const auto bytes = write_ir(sample_ir(), version);
    ASSERT_FALSE(bytes.ok());
    EXPECT_NE(bytes.error().message.find("supported: 1.3.1 (tool chain 1.4.0)"), std::string::npos);
    EXPECT_NE(bytes.error().message.find(ir_version_text(version)), std::string::npos);
  }
}

TEST(IrFileTest, EveryTruncationIsRefused) {
  const auto bytes = write_ir(sample_ir(), kVersion);
  ASSERT_TRUE(bytes.ok());
  for (size_t size = 0; size < bytes->size(); ++size) {
    EXPECT_FALSE(read_ir(ByteView(*bytes).first(size)).ok()) << size;
  }
}

TEST(IrFileTest, ChangedFilesAreReadOrRefused) {
  const auto bytes = write_ir(sample_ir(), kVersion);
  ASSERT_TRUE(bytes.ok());
  for (size_t at = 0; at < bytes->size(); ++at) {
    for (const int change : {0x01, 0x80, 0xFF}) {
      Bytes changed = *bytes;
      changed[at] ^= static_cast<std::byte>(change);
      const auto back = read_ir(changed);
      if (!back.ok()) {
        EXPECT_FALSE(back.error().message.empty());
      }
    }
  }
}

TEST(IrFileTest, WriterRefusesInvalidLayers) {
  IrFile file = sample_ir();
  file.layers[0].inputs = {-1, -1, -1, -1, -1};
  EXPECT_FALSE(write_ir(file, kVersion).ok());
  file.layers[0].inputs = {static_cast<int16_t>(file.layers.size())};
  EXPECT_FALSE(write_ir(file, kVersion).ok());
  file.layers.clear();
  EXPECT_FALSE(write_ir(file, kVersion).ok());
}

TEST(LayersToIr, SampleLayersHaveTheirProducers) {
  const IrFile file = sample_ir();
  // The state is the first layer, with the add as its input. The copy of the input is next; two
  // layers read it.
  EXPECT_EQ(file.layers[0].operation, 8U);
  EXPECT_EQ(file.layers[1].operation, 10U);
  EXPECT_EQ(file.layers[1].inputs, std::vector<int16_t>{kIrExternal});
  EXPECT_EQ(file.layers[2].operation, 1U);
  EXPECT_EQ(file.layers[2].inputs, std::vector<int16_t>{1});
  const int16_t add = file.layers[0].inputs[0];
  ASSERT_GT(add, 0);
  EXPECT_EQ(file.layers[static_cast<size_t>(add)].operation, 6U);
  EXPECT_EQ(file.layers[static_cast<size_t>(add)].inputs[1], 0);
  // The operand of a tanh is declared with twelve fractional bits.
  for (const IrLayer& layer : file.layers) {
    if (layer.operation != 102) continue;
    const IrLayer& before = file.layers[static_cast<size_t>(layer.inputs[0])];
    EXPECT_EQ(before.output_multiplier, 1U << 29);
    EXPECT_EQ(before.output_shift, 17);
    EXPECT_EQ(before.output.byte_width, 2U);
  }
}

constexpr char kStart[] =
    "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
    "#define NRF_AXON_MODEL_N_MAX_IL_BUFFER_USED 24\n"
    "#define NRF_AXON_MODEL_N_MAX_PSUM_BUFFER_USED 0\n"
    "static_assert(NRF_AXON_MODEL_N_MAX_IL_BUFFER_USED <= (SIZE), \"small; {\\n\");\n"
    "// size\nconst static struct {\n\tint8_t l00_weights[3];\n\tint32_t l00_biasp[2];\n"
    "\tint16_t l01_w[1];\n} axon_model_const_n = {\n\t.l00_weights = {117,-28,17,},\n"
    "\t.l00_biasp = {-2,0x10,},\n\t.l01_w = {-3},\n};\n"
    "int32_t axon_model_n_persistent_vars[3];\n"
    "extern const int8_t axonpro_int8_packing_filter[4];\n";
constexpr char kModel[] =
    "const nrf_axon_nn_model_persistent_var_s axon_model_n_persistent_var_list[] = {\n"
    "  {// 0\n .buf_ptr = (int8_t*)((uint8_t*)(axon_model_n_persistent_vars)+0x8),\n"
    " .buf_size = 4,// in bytes\n .initial_value = -128,\n .byte_width = 1,\n },\n};\n"
    "const nrf_axon_nn_compiled_model_s model_n = {\n .compiler_version = 0x00010400,\n"
    " .model_name = \"n\",\n .labels = NULL,\n .inputs = {\n {// 0\n"
    " .ptr = (int8_t*)nrf_axon_interlayer_buffer,\n .dimensions = {\n .height = 2,\n"
    " .width = 3,\n .channel_cnt = 1,\n .byte_width = 1,\n },\n .stride = 3,\n"
    " .is_external = true,\n },\n },\n .input_cnt = 1,\n .external_input_ndx = 0,\n"
    " .output_ptr = (int8_t*)((uint8_t*)(nrf_axon_interlayer_buffer)+0x10),\n"
    "#if NRF_AXON_MODEL_ALLOCATE_PACKED_OUTPUT_BUFFER\n .packed_output_buf = (int8_t*)x,\n#else\n"
    " .packed_output_buf = NULL,\n#endif\n"
    " .interlayer_buffer_needed = NRF_AXON_MODEL_N_MAX_IL_BUFFER_USED,\n"
    " .psum_buffer_needed = NRF_AXON_MODEL_N_MAX_PSUM_BUFFER_USED,\n"
    " .persistent_vars = {\n .buf_ptr = (int8_t*)axon_model_n_persistent_vars,\n"
    " .buf_size = sizeof(axon_model_n_persistent_vars),\n"
    " .vars = axon_model_n_persistent_var_list,\n .count = 1,\n },\n"
    " .output_dimensions = {\n .height = 1,\n .width = 2,\n .channel_cnt = 1,\n"
    " .byte_width = 4,\n },\n .output_stride = 8,\n .extra_output_cnt = 0,\n"
    " .extra_outputs = NULL,\n .min_driver_version_required = 0x00010200,\n};\n"
    "#ifdef __cplusplus\n}\n#endif\n";

std::string with_words(const std::string& count, const std::string& words) {
  return kStart + ("const NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE cmd_buffer_n[" + count) +
         "] = {\n" + words + "};\n" + kModel;
}

TEST(CompiledHeaderTest, ParsesEachNotationOfAWord) {
  const auto header = read_compiled_header(
      with_words("12",
                 "// segment 0\n0x1fff0021,7,-1,\n"
                 "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)nrf_axon_interlayer_buffer,\n"
                 "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)((uint8_t*)"
                 "(nrf_axon_interlayer_buffer) + 0x12a0),\n"
                 "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)axon_model_const_n.l00_biasp,\n"
                 "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)(axon_model_const_n.l00_weights + 2),\n"
                 "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)(axon_model_const_n.l00_biasp + 1),\n"
                 "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)((uint8_t*)"
                 "(axon_model_n_persistent_vars)+0x8),\n"
                 "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)axonpro_int8_packing_filter,\n"
                 "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)NULL,\n"
                 "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)nrf_axon_psum_buffer,\n"),
      "n_.h");
  ASSERT_TRUE(header.ok()) << header.error().message;
  EXPECT_EQ(header->words,
            (std::vector<uint32_t>{0x1fff0021, 7, 0xFFFFFFFF, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  const std::vector<Relocation> expected = {
      {3, {AddressSpace::kInterlayer, 0, 0}}, {4, {AddressSpace::kInterlayer, 0, 0x12A0}},
      {5, {AddressSpace::kConstants, 0, 4}},  {6, {AddressSpace::kConstants, 0, 2}},
      {7, {AddressSpace::kConstants, 0, 8}},  {8, {AddressSpace::kVariables, 0, 8}},
      {9, {AddressSpace::kSymbol, 0, 0}},     {11, {AddressSpace::kPartialSums, 0, 0}}};
  EXPECT_EQ(header->relocations, expected);
  EXPECT_EQ(header->symbols, std::vector<std::string>{"axonpro_int8_packing_filter"});
  // Members are aligned to their element size; the struct is padded to a multiple of four.
  const uint8_t constants[] = {117, 228, 17, 0, 0xFE, 0xFF, 0xFF, 0xFF,
                               16,  0,   0,  0, 0xFD, 0xFF, 0,    0};
  ASSERT_EQ(header->constants.size(), sizeof constants);
  EXPECT_EQ(std::memcmp(header->constants.data(), constants, sizeof constants), 0);
  EXPECT_EQ(header->interlayer_bytes, 24U);
  EXPECT_EQ(header->variable_bytes, 12U);
  ASSERT_EQ(header->variables.size(), 1U);
  EXPECT_EQ(header->variables[0].initial, -128);
  EXPECT_EQ(header->variables[0].address.offset, 8U);
  EXPECT_EQ(header->outputs[0].address.offset, 16U);
  EXPECT_EQ(header->outputs[0].byte_width, 4);
  EXPECT_EQ(header->compiler_version, 0x010400U);
}

TEST(CompiledHeaderTest, UnknownSyntaxIsErrorWithLine) {
  const auto refusal = [](const std::string& text) {
    const auto header = read_compiled_header(text, "n_.h");
    return header.ok() ? std::string("accepted") : header.error().message;
  };
  const std::string cast = "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {with_words("2", "1,\n"), "2 words announced, 1 found"},
      {with_words("1", "something,\n"), "a number expected, something found"},
      {with_words("1", "0x100000000,\n"), "not a 32-bit word"},
      {with_words("1", cast + "(axonpro_int8_packing_filter + 4),\n"), "not supported, at +"},
      {with_words("1", cast + "other_struct.member,\n"), "not supported, at member"},
      {with_words("1", cast + "(nrf_axon_interlayer_buffer,\n"), "expected"},
      {with_words("1", cast + "7,\n"), "not supported, at 7"},
      {with_words("1", "1,\n") + "double other = 2.5;\n", "other: unknown kind of definition"},
      {with_words("1", "1,\n") + "/* open", "comment without end"},
      {with_words("1", "1,\n") + "#if X\n", "#if without #endif"},
      {kModel, "no commands in it"},
      {kStart, "no nrf_axon_nn_compiled_model_s in it"},
      {"", "no nrf_axon_nn_compiled_model_s in it"},
  };
  for (const auto& [text, words] : cases) {
    const std::string message = refusal(text);
    EXPECT_NE(message.find(words), std::string::npos) << message;
    EXPECT_TRUE(message.starts_with("n_.h: ")) << message;
  }
}

TEST(CompiledHeaderTest, EveryTruncationIsRefused) {
  const std::string text = with_words("2", "1,(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)NULL,\n");
  ASSERT_TRUE(read_compiled_header(text, "n").ok());
  const size_t end = text.rfind("};");
  for (size_t size = 0; size <= end; ++size) {
    EXPECT_FALSE(read_compiled_header(text.substr(0, size), "n").ok()) << size;
  }
}

TEST(SubgraphText, IdentifiersAndNotes) {
  EXPECT_EQ(engine::axon::identifier_of("My-Model.v2"), "my_model_v2");
  EXPECT_EQ(engine::axon::identifier_of("2nd"), "m2nd");
  EXPECT_EQ(engine::axon::identifier_of(""), "m");
  const auto header = read_compiled_header(with_words("1", "1,\n"), "n_.h");
  ASSERT_TRUE(header.ok());
  ProgramInterface interface;
  interface.inputs.push_back({{AddressSpace::kInterlayer, 0, 0}, 1, 1, 2, 3, 1, 3});
  interface.outputs.push_back({{AddressSpace::kVariables, 0, 8}, 1, 1, 1, 2, 4, 8});
  const auto text =
      engine::axon::subgraph_header(*header, interface,
                                    "extern int nrf_axon_nn_op_extension_tanh_v2(void*);\n"
                                    "x = nrf_axon_nn_op_extension_tanh_v2_wide;\n",
                                    "My of Model");
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("extern int thimble_axon_ext_tanh(void*);"), std::string::npos);
  EXPECT_NE(text->find("x = nrf_axon_nn_op_extension_tanh_v2_wide;"), std::string::npos);
  EXPECT_NE(text->find("axon_model_n_persistent_vars + 8, 8, 1, 1, 1, 2, 4"), std::string::npos);
  const auto notes = engine::axon::read_subgraph_note(*text);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].name, "n");
  EXPECT_EQ(notes[0].model, "My of Model");
  EXPECT_TRUE(engine::axon::read_subgraph_note("/* another header */\n").empty());
}

TEST(AxonMarkerName, NamesOfAnyLength) {
  for (const size_t length : {1, 2, 3, 4, 5, 21, 255}) {
    const std::string name(length, 'a');
    const auto bytes = write_marker(name);
    ASSERT_TRUE(bytes.ok());
    EXPECT_EQ(bytes->size() % 4, 0U);
    EXPECT_EQ(as_text(ByteView(*bytes).subspan(12, length)), name);
  }
  EXPECT_FALSE(write_marker("").ok());
  EXPECT_FALSE(write_marker(std::string(256, 'a')).ok());
}

}  // namespace
}  // namespace thimble::axon_vendor_test
