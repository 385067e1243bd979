// SPDX-License-Identifier: Apache-2.0
#include "capi/thimble_c.h"

#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/cancel.h"
#include "capi/session.h"

namespace thimble::capi {
namespace {

struct ElementType {
  thimble_c_type c;
  formats::npy::DType npy;
};
constexpr ElementType kElementTypes[] = {
    {THIMBLE_C_BOOL, formats::npy::DType::kBool},
    {THIMBLE_C_INT8, formats::npy::DType::kInt8},
    {THIMBLE_C_UINT8, formats::npy::DType::kUint8},
    {THIMBLE_C_INT16, formats::npy::DType::kInt16},
    {THIMBLE_C_INT32, formats::npy::DType::kInt32},
    {THIMBLE_C_INT64, formats::npy::DType::kInt64},
    {THIMBLE_C_FLOAT32, formats::npy::DType::kFloat32},
    {THIMBLE_C_FLOAT64, formats::npy::DType::kFloat64},
};

/// An error with the memory of its texts.
struct OwnedError : thimble_c_error {
  OwnedError() : thimble_c_error{} {}
  Error error;
  ErrorFacts facts;
  std::vector<const char*> suggestion_texts;
  std::vector<thimble_c_op> op_rows;
};

/// Exists before memory runs out.
struct OutOfMemory : OwnedError {
  OutOfMemory() {
    code = THIMBLE_C_BAD_INPUT;
    message = "out of memory";
    memory = "";
  }
} out_of_memory;

thimble_c_code code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kBadInput:
      return THIMBLE_C_BAD_INPUT;
    case ErrorKind::kUnsupported:
      return THIMBLE_C_UNSUPPORTED;
    case ErrorKind::kCancelled:
      return THIMBLE_C_CANCELLED;
  }
  return THIMBLE_C_BAD_INPUT;
}

/// Stores the error, if the caller wants it. Returns its code.
thimble_c_code fail(const Error& error, thimble_c_error** to) {
  const thimble_c_code code = code_of(error.kind);
  if (to == nullptr) return code;
  auto owned = std::make_unique<OwnedError>();
  owned->error = error;
  if (error.facts != nullptr) owned->facts = *error.facts;
  for (const std::string& text : owned->facts.suggestions) {
    owned->suggestion_texts.push_back(text.c_str());
  }
  for (const RefusedOp& op : owned->facts.ops) {
    owned->op_rows.push_back(
        {op.op.c_str(), op.source.c_str(), op.text.c_str(), op.module.c_str(), op.reason.c_str()});
  }
  owned->code = code;
  owned->message = owned->error.message.c_str();
  owned->memory = owned->facts.memory.c_str();
  owned->needed_bytes = owned->facts.needed_bytes;
  owned->available_bytes = owned->facts.available_bytes;
  owned->suggestions = owned->suggestion_texts.data();
  owned->suggestion_count = owned->suggestion_texts.size();
  owned->ops = owned->op_rows.data();
  owned->op_count = owned->op_rows.size();
  *to = owned.release();
  return code;
}

/// Calls a function that returns a code. An exception becomes an error.
template <typename Function>
thimble_c_code guarded(thimble_c_error** error, const Function& function) {
  try {
    try {
      return function();
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& exception) {
      return fail(bad_input("{}", exception.what()), error);
    }
  } catch (...) {
    if (error != nullptr) *error = &out_of_memory;
    return out_of_memory.code;
  }
}

Result<formats::npy::NpyArray> to_npy(const thimble_c_array& array) {
  formats::npy::NpyArray result;
  bool known = false;
  for (const ElementType& row : kElementTypes) {
    if (row.c != array.type) continue;
    result.dtype = row.npy;
    known = true;
  }
  const std::string name = array.name == nullptr ? "array" : array.name;
  if (!known) return bad_input("{}: unknown type {}", name, static_cast<int>(array.type));
  // As many bytes as an array of any process can have.
  constexpr size_t kBytesMax = SIZE_MAX / 4;
  if (array.shape == nullptr && array.rank > 0) return bad_input("{}: no shape", name);
  size_t bytes = formats::npy::size_bytes(result.dtype);
  for (size_t i = 0; i < array.rank; ++i) {
    const int64_t size = array.shape[i];
    if (size < 0 || (size > 0 && bytes > kBytesMax / static_cast<size_t>(size))) {
      return bad_input("{}: size {} of axis {}", name, size, i);
    }
    bytes *= static_cast<size_t>(size);
    result.shape.push_back(size);
  }
  if (array.data == nullptr && bytes > 0) return bad_input("{}: no data", name);
  const auto* const data = static_cast<const std::byte*>(array.data);
  result.bytes.assign(data, data + bytes);
  return result;
}

Result<std::shared_ptr<const driver::SampleArrays>> to_samples(const thimble_c_array* arrays,
                                                               size_t count,
                                                               const std::string& label) {
  auto samples = std::make_shared<driver::SampleArrays>();
  samples->label = label;
  formats::npy::NpzArrays& item = samples->items.emplace_back();
  if (arrays == nullptr && count > 0) return bad_input("{}: {} arrays, found NULL", label, count);
  for (size_t i = 0; i < count; ++i) {
    THIMBLE_TRY(formats::npy::NpyArray array, to_npy(arrays[i]));
    item.emplace_back(arrays[i].name == nullptr ? "" : arrays[i].name, std::move(array));
  }
  return std::shared_ptr<const driver::SampleArrays>(std::move(samples));
}

Result<ModelSource> to_source(const thimble_c_file& file) {
  ModelSource source;
  if (file.path != nullptr) {
    source.path = file.path;
    source.name = source.path.filename().string();
    return source;
  }
  if (file.bytes == nullptr || file.name == nullptr) {
    return bad_input("a file has no path, or no bytes and name");
  }
  const auto* const data = static_cast<const std::byte*>(file.bytes);
  source.bytes = std::make_shared<const Bytes>(data, data + file.size);
  source.name = std::filesystem::path(file.name).filename().string();
  if (source.name.empty() || source.name == "." || source.name == "..") {
    return bad_input("found \"{}\", expected the name of a file", file.name);
  }
  return source;
}

Result<Words> to_words(const char* const* options, size_t count) {
  if (options == nullptr && count > 0) return bad_input("{} options, found NULL", count);
  for (size_t i = 0; i < count; ++i) {
    if (options[i] == nullptr) return bad_input("option {}: found NULL, expected a text", i);
  }
  return Words(options, options + count);
}

ProgressFunction to_progress(thimble_c_progress function, void* context) {
  if (function == nullptr) return {};
  return [=](std::string_view phase, int64_t done, int64_t all) {
    function(context, std::string(phase).c_str(), done, all);
  };
}

char* copy_of(const std::string& text) {
  char* const copy = new char[text.size() + 1];
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

/// Stores a text, or the error.
thimble_c_code store(const Result<std::string>& text, char** to, thimble_c_error** error) {
  if (!text) return fail(text.error(), error);
  *to = copy_of(*text);
  return THIMBLE_C_OK;
}

thimble_c_type type_of(ir::DType type) {
  switch (type) {
    case ir::DType::kF32:
      return THIMBLE_C_FLOAT32;
    case ir::DType::kI8:
      return THIMBLE_C_INT8;
    case ir::DType::kU8:
      return THIMBLE_C_UINT8;
    case ir::DType::kBool:
      return THIMBLE_C_BOOL;
    case ir::DType::kI16:
      return THIMBLE_C_INT16;
    case ir::DType::kI32:
      return THIMBLE_C_INT32;
    case ir::DType::kI64:
      return THIMBLE_C_INT64;
  }
  return THIMBLE_C_FLOAT32;
}

std::vector<thimble_c_array> describe(const std::vector<hostrun::Port>& ports) {
  std::vector<thimble_c_array> arrays;
  for (const hostrun::Port& port : ports) {
    arrays.push_back(
        {port.name.c_str(), type_of(port.dtype), port.shape.data(), port.shape.size(), nullptr});
  }
  return arrays;
}

}  // namespace
}  // namespace thimble::capi

using namespace thimble;
using namespace thimble::capi;

struct thimble_c_cancellation {
  Cancellation cancellation;
};

struct thimble_c_compiled {
  std::shared_ptr<CompiledModel> model;
};

struct thimble_c_interpreter {
  std::unique_ptr<Interpreter> interpreter;
  std::vector<ir::Tensor> results;
  std::vector<thimble_c_array> inputs, outputs;
};

namespace {

Result<std::unique_ptr<thimble_c_compiled>> compile(const thimble_c_compile_request& from) {
  if (from.version == 0 || from.version > THIMBLE_C_API_VERSION) {
    return bad_input("version {} of the C API, this library supports 1 to {}", from.version,
                     THIMBLE_C_API_VERSION);
  }
  if (from.target == nullptr) return bad_input("no target");
  CompileRequest request;
  THIMBLE_TRY(request.model, to_source(from.model));
  request.target = from.target;
  THIMBLE_TRY(request.options, to_words(from.options, from.option_count));
  if (from.calibration_path != nullptr) request.calibration.path = from.calibration_path;
  if (from.calibration != nullptr) {
    THIMBLE_TRY(request.samples,
                to_samples(from.calibration, from.calibration_count, "calibration"));
  }
  const CancelScope scope(from.cancellation == nullptr ? nullptr
                                                       : &from.cancellation->cancellation);
  auto compiled = std::make_unique<thimble_c_compiled>();
  THIMBLE_TRY(compiled->model,
              CompiledModel::compile(std::move(request),
                                     to_progress(from.progress, from.progress_context)));
  return compiled;
}

Result<std::unique_ptr<thimble_c_interpreter>> open(const thimble_c_file& program,
                                                    const Words& options) {
  THIMBLE_TRY(const ModelSource source, to_source(program));
  auto result = std::make_unique<thimble_c_interpreter>();
  THIMBLE_TRY(result->interpreter, Interpreter::open(source, options));
  result->inputs = describe(result->interpreter->model().inputs);
  result->outputs = describe(result->interpreter->model().outputs);
  return result;
}

Status run(thimble_c_interpreter* self, const thimble_c_array* inputs, size_t count) {
  if (inputs == nullptr && count > 0) return bad_input("{} inputs, found NULL", count);
  std::vector<tools::InputArray> arrays;
  for (size_t i = 0; i < count; ++i) {
    THIMBLE_TRY(formats::npy::NpyArray array, to_npy(inputs[i]));
    const std::string name = inputs[i].name == nullptr ? "" : inputs[i].name;
    arrays.push_back({std::move(array), name.empty() ? fmt::format("input {}", i) : name, name});
  }
  THIMBLE_TRY(self->results, self->interpreter->run(arrays, false));
  for (size_t i = 0; i < self->results.size(); ++i) {
    const ir::Tensor& tensor = self->results[i];
    thimble_c_array& output = self->outputs[i];
    output.shape = tensor.shape.data();
    output.rank = tensor.shape.size();
    output.data = tensor.bytes.data();
  }
  return ok();
}

}  // namespace

extern "C" {

void thimble_c_error_free(thimble_c_error* error) {
  if (error != &out_of_memory) delete static_cast<OwnedError*>(error);
}

uint32_t thimble_c_api_version(void) {
  return THIMBLE_C_API_VERSION;
}

const char* thimble_c_release(void) {
  return version();
}

thimble_c_cancellation* thimble_c_cancellation_new(void) {
  return new (std::nothrow) thimble_c_cancellation;
}

void thimble_c_cancel(thimble_c_cancellation* cancellation) {
  cancellation->cancellation.cancel();
}

void thimble_c_cancellation_free(thimble_c_cancellation* cancellation) {
  delete cancellation;
}

thimble_c_code thimble_c_compile(const thimble_c_compile_request* request,
                                 thimble_c_compiled** compiled, thimble_c_error** error) {
  return guarded(error, [&]() -> thimble_c_code {
    Result<std::unique_ptr<thimble_c_compiled>> result = compile(*request);
    if (!result) return fail(result.error(), error);
    *compiled = result->release();
    return THIMBLE_C_OK;
  });
}

const void* thimble_c_bytes(const thimble_c_compiled* compiled, size_t* size) {
  const Bytes& bytes = compiled->model->pte();
  *size = bytes.size();
  return bytes.data();
}

const char* thimble_c_report_json(const thimble_c_compiled* compiled) {
  return compiled->model->state().report_json.c_str();
}

thimble_c_code thimble_c_save(thimble_c_compiled* compiled, const char* path,
                              thimble_c_error** error) {
  return guarded(error, [&]() -> thimble_c_code {
    if (path == nullptr) return fail(bad_input("found NULL, expected a path"), error);
    const Status saved = compiled->model->save(path);
    return saved ? THIMBLE_C_OK : fail(saved.error(), error);
  });
}

thimble_c_code thimble_c_compare(const thimble_c_compiled* compiled, const thimble_c_array* samples,
                                 size_t count, char** json, thimble_c_error** error) {
  return guarded(error, [&]() -> thimble_c_code {
    auto data = to_samples(samples, count, "data");
    if (!data) return fail(data.error(), error);
    return store(compiled->model->compare(std::move(*data), {}, {}, {}), json, error);
  });
}

void thimble_c_compiled_free(thimble_c_compiled* compiled) {
  delete compiled;
}

thimble_c_code thimble_c_open(const thimble_c_file* program, const char* const* options,
                              size_t option_count, thimble_c_interpreter** interpreter,
                              thimble_c_error** error) {
  return guarded(error, [&]() -> thimble_c_code {
    const auto words = to_words(options, option_count);
    if (!words) return fail(words.error(), error);
    auto result = open(*program, *words);
    if (!result) return fail(result.error(), error);
    *interpreter = result->release();
    return THIMBLE_C_OK;
  });
}

size_t thimble_c_input_count(const thimble_c_interpreter* interpreter) {
  return interpreter->inputs.size();
}

size_t thimble_c_output_count(const thimble_c_interpreter* interpreter) {
  return interpreter->outputs.size();
}

const thimble_c_array* thimble_c_input(const thimble_c_interpreter* interpreter, size_t index) {
  return index < interpreter->inputs.size() ? &interpreter->inputs[index] : nullptr;
}

const thimble_c_array* thimble_c_output(const thimble_c_interpreter* interpreter, size_t index) {
  return index < interpreter->outputs.size() ? &interpreter->outputs[index] : nullptr;
}

thimble_c_code thimble_c_run(thimble_c_interpreter* interpreter, const thimble_c_array* inputs,
                             size_t count, thimble_c_error** error) {
  return guarded(error, [&]() -> thimble_c_code {
    const Status status = run(interpreter, inputs, count);
    return status ? THIMBLE_C_OK : fail(status.error(), error);
  });
}

thimble_c_code thimble_c_reset(thimble_c_interpreter* interpreter, thimble_c_error** error) {
  return guarded(error, [&]() -> thimble_c_code {
    const Status status = interpreter->interpreter->reset();
    return status ? THIMBLE_C_OK : fail(status.error(), error);
  });
}

void thimble_c_interpreter_free(thimble_c_interpreter* interpreter) {
  delete interpreter;
}

thimble_c_code thimble_c_targets(const char* name, char** json, thimble_c_error** error) {
  return guarded(error, [&]() -> thimble_c_code {
    return store(targets(name == nullptr ? "" : name), json, error);
  });
}

thimble_c_code thimble_c_inspect(const thimble_c_file* file, char** json, thimble_c_error** error) {
  return guarded(error, [&]() -> thimble_c_code {
    const auto source = to_source(*file);
    if (!source) return fail(source.error(), error);
    return store(inspect(*source, false), json, error);
  });
}

thimble_c_code thimble_c_fit(const thimble_c_file* models, size_t model_count,
                             const char* const* options, size_t option_count, char** json,
                             thimble_c_error** error) {
  return guarded(error, [&]() -> thimble_c_code {
    FitRequest request;
    if (models == nullptr && model_count > 0) {
      return fail(bad_input("{} models, found NULL", model_count), error);
    }
    for (size_t i = 0; i < model_count; ++i) {
      const auto source = to_source(models[i]);
      if (!source) return fail(source.error(), error);
      request.models.push_back(*source);
    }
    auto words = to_words(options, option_count);
    if (!words) return fail(words.error(), error);
    request.options = std::move(*words);
    return store(fit(request, {}), json, error);
  });
}

void thimble_c_text_free(char* text) {
  delete[] text;
}

}  // extern "C"
