// SPDX-License-Identifier: Apache-2.0
// Calls of a compiler library that can fail in any way: each return code, a crash, a hang, half a
// file. The stand-in simulates them; it reads the IR with its own structs.

#include "axon_vendor_support.h"

#include <fstream>

#include "engines/axon/compiler/vendor/layers_to_ir.h"
#include "engines/axon/compiler/vendor/vendor_compile.h"
#include "engines/axon/formats/compiled_header.h"
#include "engines/axon/formats/ir_layout.h"

namespace thimble::axon_vendor_test {
namespace {

using engine::axon::compile_with_vendor_tools;

formats::axon::IrFile network() {
  const std::vector<uint8_t> bytes = small_list(8, 6).build();
  const runtime_test::AlignedBytes data{
      ByteView(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size())};
  auto ir = engine::axon::layers_to_ir(axon::Container(data.data()), "net");
  EXPECT_TRUE(ir.ok());
  return ir->file;
}

/// Expects an error of kind kBadInput that contains all of these words, and no file left behind.
void expect_bad(const Error& error, const std::vector<std::string>& words) {
  EXPECT_EQ(error.kind, ErrorKind::kBadInput);
  for (const std::string& word : words) {
    EXPECT_NE(error.message.find(word), std::string::npos) << word << " in " << error.message;
  }
  EXPECT_TRUE(std::islower(static_cast<unsigned char>(error.message[0])) != 0 ||
              error.message[0] == '/' || error.message[0] == 'S');
}

TEST(AxonSdk, StandinReadsWhatWasWritten) {
  const StandinSdk sdk;
  const auto program = engine::axon::compile_with_sdk(network(), sdk.options());
  ASSERT_TRUE(program.ok()) << program.error().message;
  const auto header = formats::axon::read_compiled_header(program->header, "net_.h");
  ASSERT_TRUE(header.ok()) << header.error().message;
  EXPECT_EQ(header->name, "net");
  ASSERT_TRUE(header->input.has_value());
  EXPECT_EQ(header->input->width, 8);
  ASSERT_EQ(header->outputs.size(), 1U);
  EXPECT_EQ(header->outputs[0].width, 6);
  // The first member holds the IR's constants as the stand-in read them; weights come first.
  const formats::axon::IrFile ir = network();
  ASSERT_GE(header->constants.size(), ir.layers[0].weights.size());
  EXPECT_TRUE(std::equal(ir.layers[0].weights.begin(), ir.layers[0].weights.end(),
                         header->constants.begin()));
}

struct ModeCase {
  const char* mode;
  std::vector<std::string> words;
};

const ModeCase kModes[] = {
    {"code:-219", {"-219 INVALID_BIN_FILE", "layer 0"}},
    {"code:-239", {"-239 INVALID_FILTER_SIZE", "kernel", "layer 0 (operation 0, output 1x1x6)"}},
    {"code:-1", {"-1 FAILURE"}},
    {"code:-77", {"-77: unknown code (not in the published header)"}},
    {"crash", {"it crashed (signal 11)", "| compiling layer 0"}},
    {"exit:0", {"its process ended with code 0"}},
    {"exit:3", {"its process ended with code 3"}},
    {"silent", {"wrote no program"}},
    {"version:0x010302", {"1.3.2", "not supported", "1.3.1 (tool chain 1.4.0)"}},
};

TEST(AxonSdk, EachFailureHasAMessage) {
  const test::PrivateTempFolder temporary;
  for (const ModeCase& each : kModes) {
    SCOPED_TRACE(each.mode);
    const StandinSdk sdk(each.mode);
    const auto program = engine::axon::compile_with_sdk(network(), sdk.options());
    ASSERT_FALSE(program.ok());
    expect_bad(program.error(), each.words);
  }
  EXPECT_TRUE(temporary.is_empty());
}

TEST(AxonSdk, EveryPublishedCodeHasAName) {
  for (const int code :
       {-243, -242, -241, -240, -239, -238, -236, -235, -234, -232, -228, -227, -226, -225, -224,
        -223, -222, -221, -220, -219, -218, -217, -216, -215, -214, -212, -208, -207, -1}) {
    const std::string text = engine::axon::explain_sdk_code(code);
    EXPECT_TRUE(text.starts_with(std::to_string(code) + " ")) << text;
    EXPECT_EQ(text.find("published"), std::string::npos) << text;
  }
}

TEST(AxonSdk, HangIsStopped) {
  const StandinSdk sdk("hang");
  engine::axon::SdkOptions options = sdk.options();
  options.time_limit = std::chrono::seconds(1);
  const auto program = engine::axon::compile_with_sdk(network(), options);
  ASSERT_FALSE(program.ok());
  expect_bad(program.error(), {"did not end within 1 s and was stopped", "layer 0"});
}

TEST(AxonSdk, InvalidSdkPathsAreErrors) {
  const StandinSdk sdk;
  engine::axon::SdkOptions options = sdk.options();
  options.root = "";
  expect_bad(engine::axon::find_sdk_library(options).error(), {"SDK_EDGE_AI_PATH is not set"});
  options.root = "/nowhere/sdk";
  expect_bad(engine::axon::find_sdk_library(options).error(), {"/nowhere/sdk", "no such folder"});
  const Folder empty;
  options.root = empty.path();
  expect_bad(engine::axon::find_sdk_library(options).error(),
             {empty.path().string(), "is missing", "nrf-axon-nn-compiler-lib-"});
}

TEST(AxonSdk, NonLibraryFileIsAnError) {
  const Folder folder;
  const fs::path library = library_in(folder.path());
  fs::create_directories(library.parent_path());
  std::ofstream(library) << "not a library";
  const auto program = engine::axon::compile_with_sdk(
      network(), {folder.path(), THIMBLE_AXON_HELPER, std::chrono::seconds(20)});
  ASSERT_FALSE(program.ok());
  expect_bad(program.error(), {library.string(), "cannot be loaded"});
}

TEST(AxonSdk, TruncatedHeaderIsAnError) {
  const StandinSdk sdk("half");
  engine::Delegate delegate = delegate_of(small_list(8, 6).build());
  const Status finished = compile_with_vendor_tools(sdk.tools("program"), delegate);
  ASSERT_FALSE(finished.ok());
  expect_bad(finished.error(), {"my_model_", "_.h: no nrf_axon_nn_compiled_model_s in it"});
  EXPECT_EQ(delegate.id, axon::kDelegateId);  // unchanged
}

TEST(AxonSdk, ProgramOfAnotherShapeIsRefused) {
  const StandinSdk sdk("unlike");
  engine::Delegate delegate = delegate_of(small_list(8, 6).build());
  const Status finished = compile_with_vendor_tools(sdk.tools("program"), delegate);
  ASSERT_FALSE(finished.ok());
  expect_bad(finished.error(), {"an output that is not 1x1x6 elements"});
}

TEST(AxonSdk, UnsupportedLayersAreReported) {
  const StandinSdk sdk;
  List list = small_list(8, 6);
  const auto second = list.external({1, 1, 1, 6}, 1, 0);
  auto& add =
      list.layer(axon::Operation::kAdd, {list.last(), second}, list.interlayer({1, 1, 1, 6}, 1, 0));
  add.bias = list.ints({0});
  axon_test::scale(list, add, {1, 1}, {1});
  list.output(list.last());
  engine::Delegate delegate = delegate_of(list.build());
  const Status finished = compile_with_vendor_tools(sdk.tools("program"), delegate);
  ASSERT_FALSE(finished.ok());
  EXPECT_EQ(finished.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(finished.error().message.find("a second network input"), std::string::npos);
}

}  // namespace
}  // namespace thimble::axon_vendor_test
