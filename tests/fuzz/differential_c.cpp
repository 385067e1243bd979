// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/differential_c.h"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>

#include "base/work_folder.h"
#include "emit/c/model.h"
#include "formats/pte/read.h"
#include "hostrun/interface.h"
#include "hostrun/kernel_source.h"
#include "tests/folders.h"

namespace thimble::fuzz {
namespace {

namespace fs = std::filesystem;

/// The C functions that this file calls: init, and one call with copies of inputs and outputs.
std::string entry_points(const hostrun::Interface& interface, const std::string& header) {
  std::string text =
      "\n#include <string.h>\nvoid fuzz_init(void) { net_init(); }\n"
      "void fuzz_call(const void *const *in, void *const *out) {\n";
  std::string arguments;
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const bool in_arena = header.find(fmt::format("net_input_{}(void)", i)) != std::string::npos;
    text += fmt::format("  {}memcpy({}, in[{}], {});\n",
                        in_arena ? ""
                                 : fmt::format("static _Alignas(32) unsigned char x{}[{}]; ", i,
                                               interface.inputs[i].bytes() + 1),
                        in_arena ? fmt::format("net_input_{}()", i) : fmt::format("x{}", i), i,
                        interface.inputs[i].bytes());
    arguments += fmt::format("{}(const void *){}", i == 0 ? "" : ", ",
                             in_arena ? fmt::format("net_input_{}()", i) : fmt::format("x{}", i));
  }
  text += fmt::format("  net_run({});\n", arguments);
  for (size_t i = 0; i < interface.outputs.size(); ++i) {
    text += fmt::format("  memcpy(out[{}], net_output_{}(), {});\n", i, i,
                        interface.outputs[i].bytes());
  }
  return text + "}\n";
}

/// A loaded shared library.
class Library {
 public:
  explicit Library(const fs::path& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  template <typename Function>
  Function* find(const char* name) const {
    return handle_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

Status build(const fs::path& folder, const emit::c::Model& model,
             const hostrun::Interface& interface) {
  std::ofstream(folder / "net.h") << model.header;
  std::ofstream(folder / "net.c") << model.source << entry_points(interface, model.header);
  const char* const compiler = std::getenv("CC");
  const std::string command = fmt::format(
      "{} -std=c11 -O1 -w -shared -fPIC -DTHIMBLE_PORTABLE -I{} -I{} {}/net.c -o {}/net.so >{}/log "
      "2>&1",
      compiler != nullptr ? compiler : "cc", test::source_folder().string(), folder.string(),
      folder.string(), folder.string(), folder.string());
  if (std::system(command.c_str()) == 0) return ok();
  std::ifstream log(folder / "log");
  return bad_input("the C does not compile: {}",
                   std::string(std::istreambuf_iterator<char>(log), {}).substr(0, 2000));
}

}  // namespace

Result<std::vector<std::vector<ir::Tensor>>> run_c(
    const Bytes& pte, const engine::Lowered& lowered, const engine::Core& core,
    const std::vector<std::vector<ir::Tensor>>& calls) {
  THIMBLE_TRY(const auto program, formats::pte::read(pte, "fuzz.pte"));
  THIMBLE_TRY(const auto interface, hostrun::read_interface(program, "fuzz.pte"));
  emit::c::ModelInfo info;
  info.name = "net";
  info.target = core.name;
  THIMBLE_TRY(info.kernels, hostrun::chosen_kernels(interface, core.isa, "fuzz.pte"));
  for (const engine::KernelCall& call : lowered.calls) {
    info.result_names.push_back(lowered.graph.value(call.out).name);
  }
  info.result_names.resize(info.kernels.size());
  for (const hostrun::Port& port : interface.inputs) info.input_names.push_back(port.name);
  for (const hostrun::Port& port : interface.outputs) info.output_names.push_back(port.name);
  emit::c::Options options;
  options.owns_inputs = lowered.owns_inputs;
  THIMBLE_TRY(const emit::c::Model model, emit::c::write(program, info, options));
  THIMBLE_TRY(const base::WorkFolder folder, base::WorkFolder::create("fuzz"));
  THIMBLE_CHECK(build(folder.path(), model, interface));
  const Library library(folder.path() / "net.so");
  const auto init = library.find<void()>("fuzz_init");
  const auto call = library.find<void(const void* const*, void* const*)>("fuzz_call");
  if (init == nullptr || call == nullptr) return bad_input("the library of the C: {}", dlerror());
  init();
  std::vector<std::vector<ir::Tensor>> results;
  for (const std::vector<ir::Tensor>& inputs : calls) {
    std::vector<Bytes> in, out;
    std::vector<const void*> in_at;
    std::vector<void*> out_at;
    for (size_t i = 0; i < inputs.size(); ++i) {
      in.push_back(ir::to_memory(inputs[i], interface.inputs[i].dim_order));
    }
    for (const Bytes& bytes : in) in_at.push_back(bytes.data());
    for (const hostrun::Port& port : interface.outputs) out.emplace_back(port.bytes());
    for (Bytes& bytes : out) out_at.push_back(bytes.data());
    call(in_at.data(), out_at.data());
    std::vector<ir::Tensor>& tensors = results.emplace_back();
    for (size_t i = 0; i < out.size(); ++i) {
      const hostrun::Port& port = interface.outputs[i];
      tensors.push_back(ir::from_memory(out[i], port.dtype, port.shape, port.dim_order));
    }
  }
  return results;
}

}  // namespace thimble::fuzz
