// SPDX-License-Identifier: Apache-2.0
// A stand-in for NXP's converter in the SDK. It accepts the published options, writes a model with
// one NeutronGraph, and simulates failures. Its microcode is not real: it has the published words
// of the header, then a sentence. Under the name merge_kernel_selection_code it merges lists.
//
// NEUTRON_STANDIN selects the behaviour (plays() below). NEUTRON_STANDIN_LOG is a file for the
// command line.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tflite_generated.h"

namespace {

namespace fb = thimble::formats::tflite::fb;
using flatbuffers::Offset;

std::string mode() {
  const char* const text = std::getenv("NEUTRON_STANDIN");
  return text == nullptr ? "" : text;
}
bool plays(const char* name) {
  return mode() == name;
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write_file(const std::string& path, const void* data, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

struct Arguments {
  std::string input, output, target;
  bool prefetch = false, selection = false;
  std::vector<std::string> others;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] { return std::string(++i < argc ? argv[i] : ""); };
    if (word == "--input") {
      arguments.input = value();
    } else if (word == "--output") {
      arguments.output = value();
    } else if (word == "--target") {
      arguments.target = value();
    } else if (word == "--fetch-constants-to-sram") {
      arguments.prefetch = true;
    } else if (word == "--dump-kernel-selection-code") {
      arguments.selection = true;
    } else {
      arguments.others.push_back(word);
    }
  }
  return arguments;
}

struct Port {
  std::string name;
  std::vector<int32_t> shape;
  int8_t type = 0;
};
std::vector<Port> ports_of(const fb::SubGraph& graph, const flatbuffers::Vector<int32_t>& list) {
  std::vector<Port> ports;
  for (const int32_t at : list) {
    const fb::Tensor& tensor = *graph.tensors()->Get(static_cast<uint32_t>(at));
    ports.push_back(
        {tensor.name()->str(), {tensor.shape()->begin(), tensor.shape()->end()}, tensor.type()});
  }
  return ports;
}

constexpr uint32_t kWeightBytes = 40, kScratchBytes = 1000;

void put(std::vector<uint8_t>& bytes, size_t word, uint32_t value) {
  std::memcpy(bytes.data() + 4 * word, &value, 4);
}

std::vector<uint8_t> fake_microcode(size_t inputs, size_t outputs, bool v0, bool prefetch) {
  const std::string sentence = "STAND-IN: THESE ARE NO INSTRUCTIONS OF ANY MACHINE. ";
  constexpr size_t kHeaderBytes = 64;
  std::vector<uint8_t> bytes(kHeaderBytes + sentence.size());
  std::memcpy(bytes.data() + kHeaderBytes, sentence.data(), sentence.size());
  put(bytes, 0, plays("skew:magic") ? 0x65434D6EU : 0x64434D6EU);
  put(bytes, 6, static_cast<uint32_t>(bytes.size()) + (plays("skew:size") ? 4096U : 0U));
  put(bytes, 7, kWeightBytes);
  put(bytes, 9, kScratchBytes);
  const uint32_t fetched = prefetch ? 256 : 0;
  const uint32_t extra = plays("skew:inputs") ? 1 : 0;
  const auto in = static_cast<uint32_t>(inputs) + extra;
  const auto out = static_cast<uint32_t>(outputs);
  if (v0) {
    put(bytes, 10, fetched);
    put(bytes, 11, in);
    put(bytes, 12, out);
  } else {
    put(bytes, 12, fetched);
    put(bytes, 13, in);
    put(bytes, 14, out);
  }
  return bytes;
}

/// The output model: a NeutronGraph and the operators around it.
class Answer {
 public:
  Answer(std::vector<Port> inputs, std::vector<Port> outputs, bool prefetch)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)), prefetch_(prefetch) {}

  std::vector<uint8_t> write() {
    buffers_.push_back(fb::CreateBuffer(builder_));
    if (plays("ports")) {  // reversed order; the names identify the ports
      std::reverse(inputs_.begin(), inputs_.end());
      std::reverse(outputs_.begin(), outputs_.end());
    }
    if (plays("shape")) outputs_[0].shape.push_back(1);
    for (const Port& port : inputs_) of_model_.push_back(tensor(port));
    for (const Port& port : outputs_) from_model_.push_back(tensor(port));
    std::vector<int32_t> read = of_model_, made = from_model_;
    if (plays("reordered")) {
      std::reverse(read.begin(), read.end());
      std::reverse(made.begin(), made.end());
    }
    if (plays("stray")) read[0] = tensor({"stray", {1, 4}, 9});
    const bool v0 = plays("v0");
    const auto microcode = fake_microcode(read.size(), made.size(), v0, prefetch_);
    read.push_back(constant("microcode", microcode));
    read.push_back(constant("weights", std::vector<uint8_t>(kWeightBytes, 0x57)));
    read.push_back(constant("kernels", std::vector<uint8_t>(16, 0x4B)));
    made.push_back(tensor({"scratch", {static_cast<int32_t>(kScratchBytes)}, 3}));
    if (plays("skew:results")) made.push_back(tensor({"profile", {16}, 3}));
    if (!v0 && !plays("skew:results")) {
      made.push_back(tensor({"profile", {16}, 3}));
      made.push_back(tensor({"debug", {16}, 3}));
    }
    if (!plays("none")) op(0, read, made);
    if (plays("two")) op(1, {of_model_[0]}, {from_model_[0]});
    return finish();
  }

 private:
  int32_t tensor(const Port& port, uint32_t buffer = 0) {
    const auto shape = builder_.CreateVector(port.shape);
    const auto name = builder_.CreateString(port.name);
    tensors_.push_back(fb::CreateTensor(builder_, shape, port.type, buffer, name));
    return static_cast<int32_t>(tensors_.size()) - 1;
  }
  int32_t constant(const char* name, const std::vector<uint8_t>& bytes) {
    builder_.ForceVectorAlignment(bytes.size(), 1, 16);
    buffers_.push_back(fb::CreateBuffer(builder_, builder_.CreateVector(bytes)));
    const int8_t type = plays("float") ? 0 : 3;
    return tensor({name, {static_cast<int32_t>(bytes.size())}, type},
                  static_cast<uint32_t>(buffers_.size()) - 1);
  }
  void op(uint32_t code, const std::vector<int32_t>& read, const std::vector<int32_t>& made) {
    const auto inputs = builder_.CreateVector(read);
    const auto outputs = builder_.CreateVector(made);
    operators_.push_back(fb::CreateOperator(builder_, code, inputs, outputs));
  }

  std::vector<uint8_t> finish() {
    const auto custom = builder_.CreateString(plays("other") ? "NeutronGraphS" : "NeutronGraph");
    const std::vector<Offset<fb::OperatorCode>> codes = {
        plays("builtin") ? fb::CreateOperatorCode(builder_, 3, 0, 1, 3)
                         : fb::CreateOperatorCode(builder_, 32, custom, 1, 32),
        fb::CreateOperatorCode(builder_, 22, 0, 1, 22)};
    const auto tensors = builder_.CreateVector(tensors_);
    const auto inputs = builder_.CreateVector(of_model_);
    const auto outputs = builder_.CreateVector(from_model_);
    const auto operators = builder_.CreateVector(operators_);
    const std::vector<Offset<fb::SubGraph>> graphs = {
        fb::CreateSubGraph(builder_, tensors, inputs, outputs, operators)};
    const auto codes_at = builder_.CreateVector(codes);
    const auto graphs_at = builder_.CreateVector(graphs);
    const auto buffers = builder_.CreateVector(buffers_);
    const uint32_t version = plays("schema") ? 4 : 3;
    fb::FinishModelBuffer(builder_,
                          fb::CreateModel(builder_, version, codes_at, graphs_at, 0, buffers));
    return {builder_.GetBufferPointer(), builder_.GetBufferPointer() + builder_.GetSize()};
  }

  flatbuffers::FlatBufferBuilder builder_;
  std::vector<Port> inputs_, outputs_;
  bool prefetch_;
  std::vector<Offset<fb::Tensor>> tensors_;
  std::vector<Offset<fb::Buffer>> buffers_;
  std::vector<Offset<fb::Operator>> operators_;
  std::vector<int32_t> of_model_, from_model_;
};

void write_selection() {
  const std::string text =
      "/* Stand-in, version 9.9.9: no kernels of anybody's. */\nint standin_kernel_selection;\n";
  write_file("_kernel_selection.c", text.data(), text.size());
}

int convert(const Arguments& arguments) {
  std::printf("Converting, target %s, converter version: 9.9.9.\n", arguments.target.c_str());
  std::fflush(stdout);
  const std::string play = mode();
  if (play.rfind("exit:", 0) == 0) {
    std::fprintf(stderr, "error: operator 0 is not supported\n");
    return std::atoi(play.c_str() + std::strlen("exit:"));
  }
  if (plays("crash")) {
    std::signal(SIGSEGV, SIG_DFL);  // the address sanitizer handles it otherwise
    std::raise(SIGSEGV);
  }
  if (plays("hang")) sleep(1000);
  if (plays("silent")) return 0;
  if (plays("empty")) {
    write_file(arguments.output, "", 0);
    return 0;
  }
  if (plays("pipe")) return mkfifo(arguments.output.c_str(), 0600);
  if (plays("link")) return symlink("/dev/zero", arguments.output.c_str());
  if (plays("huge")) {  // a sparse file, which needs no disk space
    write_file(arguments.output, "", 0);
    return truncate(arguments.output.c_str(), off_t{60} << 30);
  }
  if (plays("escape")) std::fprintf(stderr, "\x1b[31mred\x1b[0m\n");
  if (plays("escape")) return 1;
  if (plays("garbage")) {
    const std::string text = "<html>503 Service Unavailable</html>";
    write_file(arguments.output, text.data(), text.size());
    return 0;
  }
  const std::vector<char> file = read_file(arguments.input);
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  if (file.empty() || !fb::VerifyModelBuffer(verifier)) {
    std::fprintf(stderr, "error: %s is not a model\n", arguments.input.c_str());
    return 7;
  }
  const fb::SubGraph& graph = *fb::GetModel(file.data())->subgraphs()->Get(0);
  Answer answer(ports_of(graph, *graph.inputs()), ports_of(graph, *graph.outputs()),
                arguments.prefetch);
  const std::vector<uint8_t> bytes = answer.write();
  write_file(arguments.output, bytes.data(), plays("truncated") ? bytes.size() / 2 : bytes.size());
  if (arguments.selection && !plays("no selection")) write_selection();
  return 0;
}

/// -input-files A B ... -output-file C
int merge(int argc, char** argv) {
  if (plays("merge:fails")) {
    std::fprintf(stderr, "error: files of different versions\n");
    return 1;
  }
  std::string all, output;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-output-file" && i + 1 < argc) {
      output = argv[++i];
    } else if (word != "-input-files") {
      const std::vector<char> text = read_file(word);
      all.append(text.begin(), text.end());
    }
  }
  write_file(output, all.data(), all.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (const char* const log = std::getenv("NEUTRON_STANDIN_LOG")) {
    std::ofstream file(log, std::ios::app);
    for (int i = 1; i < argc; ++i) file << (i > 1 ? " " : "") << argv[i];
    file << "\n";
  }
  const std::string name = argv[0];
  if (name.find("merge_kernel_selection_code") != std::string::npos) return merge(argc, argv);
  return convert(parse(argc, argv));
}
