// SPDX-License-Identifier: Apache-2.0
// Calls of a converter that can fail in any way: answers of both versions, in any order, and each
// failure. The stand-in simulates them. An answer is used only after it was checked completely.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "engine/engine.h"
#include "engines/neutron/compiler/vendor/sdk.h"
#include "engines/neutron/compiler/vendor/vendor_compile.h"
#include "engines/neutron/formats/payload.h"
#include "folder.h"
#include "formats/tflite/read.h"
#include "ir/print.h"

namespace thimble::neutron_vendor_test {
namespace {

namespace fs = std::filesystem;
using engine::Delegate;
using engine::neutron::compile_with_vendor_tools;
using formats::neutron::MemoryOrder;
using test::Folder;

/// An SDK folder with the stand-in, and its behaviour during the object's lifetime.
class StandinSdk {
 public:
  explicit StandinSdk(const std::string& mode = "", bool merges = true) {
    fs::create_directories(folder_.path() / "bin");
    fs::copy_file(THIMBLE_NEUTRON_STANDIN, folder_.path() / "bin" / "neutron-converter");
    if (merges) {
      fs::copy_file(THIMBLE_NEUTRON_STANDIN,
                    folder_.path() / "bin" / "merge_kernel_selection_code");
    }
    ::setenv("NEUTRON_STANDIN", mode.c_str(), 1);
    ::setenv("NEUTRON_STANDIN_LOG", log().c_str(), 1);
  }
  ~StandinSdk() {
    ::unsetenv("NEUTRON_STANDIN");
    ::unsetenv("NEUTRON_STANDIN_LOG");
  }
  [[nodiscard]] engine::VendorTools tools() const {
    engine::VendorTools tools;
    tools.form = "sdk";
    tools.folder = folder_.path();
    tools.time_limit = std::chrono::seconds(20);
    tools.model = "net";
    return tools;
  }
  [[nodiscard]] std::string log() const { return (folder_.path() / "log").string(); }
  [[nodiscard]] std::string commands() const {
    std::ifstream file(log());
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  Folder folder_;
};

/// Two inputs, one of them an image, and two outputs, all with different shapes.
const char* const kRegion = R"(graph @g {
    input %a: i8[1,2,4,4] order(0,2,3,1) quant(0.5, 0)
    input %b: i8[1,6] quant(0.5, 3)
    %m: i8[1,2,2,2] order(0,2,3,1) quant(0.5, 0) = max_pool2d(%a)
      {kernel=[2,2], stride=[2,2], padding=[0,0,0,0], dilation=[1,1]}
    %s: i8[1,4] quant(0.5, 3) = slice(%b) {dim=1, start=1, end=5}
    output %m
    output %s
  })";

Delegate delegate_of(const std::string& text = kRegion) {
  const auto engine = engine::find_npu("neutron-n3-64");
  const auto graph = ir::parse(text, "subgraph.ir");
  EXPECT_TRUE(engine.ok() && graph.ok()) << (graph.ok() ? "" : graph.error().message);
  if (!engine.ok() || !graph.ok()) return {};
  engine::PartNpu use;
  use.engine = *engine;
  use.name = "neutron-n3-64";
  const auto region = use.engine->adapt(*graph, use);
  EXPECT_TRUE(region.ok()) << (region.ok() ? "" : region.error().message);
  auto delegate = use.engine->compile(*region, use, {});
  EXPECT_TRUE(delegate.ok()) << (delegate.ok() ? "" : delegate.error().message);
  return delegate.ok() ? *std::move(delegate) : Delegate();
}

formats::neutron::Payload payload_in(const Delegate& delegate) {
  const auto payload = formats::neutron::read_payload(delegate.payload);
  EXPECT_TRUE(payload.ok()) << (payload.ok() ? "" : payload.error().message);
  return payload.ok() ? *payload : formats::neutron::Payload();
}

Delegate finished(const engine::VendorTools& tools) {
  Delegate delegate = delegate_of();
  const Status status = compile_with_vendor_tools(tools, delegate);
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  return delegate;
}

TEST(NeutronVendor, WithoutSdkKernelListIsKept) {
  Delegate delegate = delegate_of();
  const auto payload = delegate.payload;
  EXPECT_FALSE(delegate.tflite_model.empty());
  ASSERT_TRUE(compile_with_vendor_tools({}, delegate).ok());
  EXPECT_EQ(delegate.payload, payload);
  EXPECT_EQ(delegate.id, "ThimbleNeutronModel");
}

TEST(NeutronVendor, ConverterOutputBecomesPayload) {
  const StandinSdk sdk;
  const Delegate delegate = finished(sdk.tools());
  EXPECT_EQ(delegate.id, "NeutronBackend");
  const auto payload = payload_in(delegate);
  EXPECT_EQ(payload.version, 1);
  EXPECT_EQ(payload.arg_count, 2);
  EXPECT_EQ(payload.input_map, (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(payload.output_map, (std::vector<uint8_t>{0, 1}));
  const std::vector<MemoryOrder> formats = {MemoryOrder::kChannelsLast, MemoryOrder::kRowMajor};
  EXPECT_EQ(payload.input_formats, formats);
  EXPECT_EQ(payload.output_formats, formats);
  EXPECT_EQ(payload.weights, Bytes(40, std::byte{0x57}));
  EXPECT_EQ(payload.kernels, Bytes(16, std::byte{0x4B}));
  EXPECT_EQ(delegate.constant_bytes, 40);
  EXPECT_GE(delegate.scratch_bytes, 1000);
  ASSERT_EQ(delegate.specs.size(), 9U);
  EXPECT_EQ(delegate.specs[0], (std::pair<std::string, std::string>("output_format", "tflite")));
  EXPECT_EQ(delegate.specs[2], (std::pair<std::string, std::string>("target", "imxrt700")));
  EXPECT_NE(delegate.note.find("version 9.9.9"), std::string::npos) << delegate.note;
  EXPECT_EQ(sdk.commands(), "--input network.tflite --output converted.tflite --target imxrt700\n");
}

TEST(NeutronVendor, OlderVersionHasOnlyScratch) {
  const StandinSdk sdk("v0");
  const Delegate delegate = finished(sdk.tools());
  const auto payload = payload_in(delegate);
  EXPECT_EQ(payload.version, 0);
  // The seven addresses of a call with two inputs and two outputs, and the stand-in's 1,000 bytes
  // of scratch: no profile, no debug, no prefetch memory.
  EXPECT_EQ(load_le<uint32_t>(payload.program, 4 * abi::neutron::kScratchWord), 1000U);
  EXPECT_EQ(delegate.scratch_bytes, 64 + 1008);
}

TEST(NeutronVendor, NodePortOrderBecomesMaps) {
  const StandinSdk sdk("reordered");
  const auto payload = payload_in(finished(sdk.tools()));
  EXPECT_EQ(payload.input_map, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(payload.output_map, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(payload.input_formats[1], MemoryOrder::kChannelsLast);
}

/// The returned model may have another order of inputs and outputs; the names identify them.
TEST(NeutronVendor, ModelPortOrderBecomesMaps) {
  const StandinSdk sdk("ports");
  const auto payload = payload_in(finished(sdk.tools()));
  EXPECT_EQ(payload.input_map, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(payload.output_map, (std::vector<uint8_t>{1, 0}));
}

TEST(NeutronVendor, OptionsReachTheConverter) {
  const StandinSdk sdk;
  engine::VendorTools tools = sdk.tools();
  tools.prefetch = true;
  tools.kernel_selection = true;
  tools.flags = "--verbose  --optimization-level OFast";
  const Delegate delegate = finished(tools);
  EXPECT_EQ(sdk.commands(),
            "--input network.tflite --output converted.tflite --target imxrt700 "
            "--fetch-constants-to-sram --dump-kernel-selection-code --verbose "
            "--optimization-level OFast\n");
  ASSERT_EQ(delegate.files.size(), 1U);
  EXPECT_TRUE(delegate.files[0].name.starts_with("net_kernel_selection_"));
  EXPECT_NE(delegate.files[0].text.find("standin_kernel_selection"), std::string::npos);
  EXPECT_EQ(delegate.specs[1].second, tools.flags);
  EXPECT_EQ(delegate.specs[6].second, "True");
}

struct ModeCase {
  const char* mode;
  std::vector<std::string> words;
};

const ModeCase kModes[] = {
    {"builtin", {"1 operator in it (builtin operator 3), expected one CUSTOM NeutronGraph"}},
    {"crash", {"it crashed (signal 11)", "| Converting, target imxrt700"}},
    {"empty", {"it ended with code 0, but wrote no model"}},
    {"escape", {"| ?[31mred?[0m"}},
    {"exit:1", {"it ended with code 1", "| error: operator 0 is not supported"}},
    {"exit:77", {"it ended with code 77"}},
    {"float", {"microcode of NeutronGraph is float32[", "expected uint8"}},
    {"garbage", {"36 bytes that are not a LiteRT model: TFL3 expected at byte 4"}},
    {"huge", {"it wrote 64424509440 bytes, a model has at most 805306368"}},
    {"link", {"its output is a folder, a link or a device"}},
    {"none", {"no operator in it, expected one CUSTOM NeutronGraph"}},
    {"other", {"1 operator in it (CUSTOM NeutronGraphS)"}},
    {"pipe", {"its output is a folder, a link or a device"}},
    {"schema", {"version 4 of the LiteRT format, expected 3"}},
    {"shape", {"output 0 is int8[1,2,2,2,1], expected int8[1,2,2,2] (m)"}},
    {"silent", {"it ended with code 0, but wrote no model"}},
    {"skew:inputs",
     {"unsupported microcode format (converter version 9.9.9)", "3 inputs, the header has 2"}},
    {"skew:magic", {"unsupported microcode format (converter version 9.9.9)", "magic 0x65434d6e"}},
    {"skew:results", {"4 results for 2 outputs", "unsupported converter version"}},
    {"skew:size", {"unsupported microcode format (converter version 9.9.9)"}},
    {"stray", {"input 0 of NeutronGraph is not an input of the model"}},
    {"truncated", {"a damaged LiteRT model"}},
    {"two", {"2 operators in it (CUSTOM NeutronGraph, builtin operator 22)", "left a part of"}},
};

TEST(NeutronVendor, EachFailureHasAMessage) {
  const test::PrivateTempFolder temporary;
  const Delegate made = delegate_of();
  for (const ModeCase& each : kModes) {
    SCOPED_TRACE(each.mode);
    const StandinSdk sdk(each.mode);
    Delegate delegate = made;
    const Status status = compile_with_vendor_tools(sdk.tools(), delegate);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().kind, ErrorKind::kBadInput);
    for (const std::string& word : each.words) {
      EXPECT_NE(status.error().message.find(word), std::string::npos)
          << word << " in " << status.error().message;
    }
    EXPECT_EQ(delegate.payload, made.payload);  // unchanged
    EXPECT_EQ(delegate.id, made.id);
    EXPECT_TRUE(delegate.files.empty());
  }
  EXPECT_TRUE(temporary.is_empty());
}

TEST(NeutronVendor, HangingConverterIsStopped) {
  const StandinSdk sdk("hang");
  engine::VendorTools tools = sdk.tools();
  tools.time_limit = std::chrono::seconds(1);
  Delegate delegate = delegate_of();
  const Status status = compile_with_vendor_tools(tools, delegate);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("did not end within 1 s and was stopped"),
            std::string::npos)
      << status.error().message;
}

TEST(NeutronVendor, MissingKernelListIsAnError) {
  const StandinSdk sdk("no selection");
  engine::VendorTools tools = sdk.tools();
  tools.kernel_selection = true;
  Delegate delegate = delegate_of();
  const Status status = compile_with_vendor_tools(tools, delegate);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("it wrote no kernel selection"), std::string::npos);
}

TEST(NeutronVendor, InvalidSdkPathsAreErrors) {
  const auto message = [](const fs::path& root) {
    const auto found = engine::neutron::find_converter(root);
    EXPECT_FALSE(found.ok());
    return found.ok() ? std::string() : found.error().message;
  };
  EXPECT_NE(message("").find("EIQ_NEUTRON_SDK_PATH is not set"), std::string::npos);
  EXPECT_NE(message("/nowhere/sdk").find("/nowhere/sdk: no such folder"), std::string::npos);
  const Folder empty;
  EXPECT_NE(message(empty.path()).find("no neutron-converter in it"), std::string::npos);
}

TEST(NeutronVendor, FindsConverterInSdkLayouts) {
  const Folder folder;
  const auto put = [&](const fs::path& where) {
    fs::create_directories((folder.path() / where).parent_path());
    std::ofstream(folder.path() / where) << "x";
    const auto found = engine::neutron::find_converter(folder.path());
    EXPECT_TRUE(found.ok());
    return found.ok() ? fs::relative(*found, folder.path()) : fs::path();
  };
  const fs::path older = "bin/neutron-converter/MCU_SDK_2.15.000/neutron-converter";
  const fs::path newer = "bin/neutron-converter/MCU_SDK_2.16.000/neutron-converter";
  EXPECT_EQ(put(older), older);
  EXPECT_EQ(put(newer), newer);
  EXPECT_EQ(put("neutron-converter"), "neutron-converter");
  const auto itself = engine::neutron::find_converter(folder.path() / newer);
  ASSERT_TRUE(itself.ok());
  EXPECT_EQ(fs::relative(*itself, folder.path()), newer);
}

TEST(NeutronVendor, NonExecutableConverterIsAnError) {
  const Folder folder;
  std::ofstream(folder.path() / "neutron-converter") << "not a program";
  engine::VendorTools tools;
  tools.form = "sdk";
  tools.folder = folder.path();
  Delegate delegate = delegate_of();
  const Status status = compile_with_vendor_tools(tools, delegate);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("neutron-converter"), std::string::npos)
      << status.error().message;
}

TEST(NeutronVendor, SubgraphWithoutTfliteFormIsUnsupported) {
  const StandinSdk sdk;
  Delegate delegate = delegate_of();
  delegate.tflite_model.clear();
  delegate.no_tflite_reason = "qdiv cannot be represented in LiteRT";
  const Status status = compile_with_vendor_tools(sdk.tools(), delegate);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(status.error().message.find("qdiv cannot be represented"), std::string::npos);
}

TEST(NeutronVendor, SdkMergesKernelLists) {
  const std::vector<engine::GeneratedFile> files = {{"a.c", "first\n"}, {"b.c", "second\n"}};
  const auto merge = [&](const StandinSdk& sdk) {
    engine::neutron::SdkOptions options;
    options.root = sdk.tools().folder;
    options.time_limit = std::chrono::seconds(20);
    return engine::neutron::merge_selections(files, options);
  };
  const StandinSdk sdk;
  const auto merged = merge(sdk);
  ASSERT_TRUE(merged.ok() && *merged);
  EXPECT_EQ(**merged, "first\nsecond\n");
  EXPECT_EQ(sdk.commands(), "-input-files a.c b.c -output-file merged.c\n");
  const auto without = merge(StandinSdk("", false));
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(without->has_value());
  const auto fails = merge(StandinSdk("merge:fails"));
  ASSERT_FALSE(fails.ok());
  EXPECT_NE(fails.error().message.find("merging 2 kernel selections: it ended with code 1"),
            std::string::npos)
      << fails.error().message;
}

/// An answer with any one byte damaged is refused, or gives a payload that can be read.
TEST(NeutronVendor, DamagedModelsAreRefusedOrRead) {
  const Delegate delegate = delegate_of();
  const Bytes& model = delegate.tflite_model;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    std::mt19937_64 random(seed);
    Bytes damaged = model;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = std::byte(random());
    if (seed % 5 == 0) damaged.resize(random() % damaged.size());
    const auto read = formats::tflite::read(damaged, "damaged");
    if (!read.ok()) continue;
    const auto count = static_cast<int32_t>(read->tensors.size());
    for (const auto& op : read->operators) {
      for (const int32_t tensor : op.inputs) ASSERT_LT(tensor, count) << "seed " << seed;
      for (const int32_t tensor : op.outputs) ASSERT_GE(tensor, 0) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace thimble::neutron_vendor_test
