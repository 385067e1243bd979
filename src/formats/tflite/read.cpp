// SPDX-License-Identifier: Apache-2.0
#include "formats/tflite/read.h"

#include <algorithm>
#include <cstring>

#include "formats/tflite/model.h"
#include "tflite_generated.h"

namespace thimble::formats::tflite {
namespace {

constexpr int32_t kCustom = 32;
/// Limits of the verifier, far above those of any file that a converter writes.
constexpr flatbuffers::uoffset_t kDepthMax = 16, kTablesMax = 1'000'000;

template <typename T>
size_t size_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

std::vector<int32_t> list_of(const flatbuffers::Vector<int32_t>* vector) {
  if (vector == nullptr) return {};
  return {vector->begin(), vector->end()};
}

class Reader {
 public:
  Reader(const fb::Model& model, std::string_view name) : model_(model), name_(name) {}

  Result<File> run() {
    if (model_.version() != kSchemaVersion) {
      return bad_input("{}: version {} of the LiteRT format, expected {}", name_, model_.version(),
                       kSchemaVersion);
    }
    if (size_of(model_.subgraphs()) != 1) {
      return bad_input("{}: {} subgraphs, expected one", name_, size_of(model_.subgraphs()));
    }
    const fb::SubGraph* graph = model_.subgraphs()->Get(0);
    if (graph == nullptr) return bad_input("{}: its subgraph is missing", name_);
    for (size_t i = 0; i < size_of(graph->tensors()); ++i) {
      THIMBLE_CHECK(add_tensor(graph->tensors()->Get(static_cast<uint32_t>(i)), i));
    }
    for (size_t i = 0; i < size_of(graph->operators()); ++i) {
      THIMBLE_CHECK(add_operator(graph->operators()->Get(static_cast<uint32_t>(i)), i));
    }
    file_.inputs = list_of(graph->inputs());
    file_.outputs = list_of(graph->outputs());
    THIMBLE_CHECK(check(file_.inputs, "the inputs", false));
    THIMBLE_CHECK(check(file_.outputs, "the outputs", false));
    return std::move(file_);
  }

 private:
  Status add_tensor(const fb::Tensor* tensor, size_t number) {
    if (tensor == nullptr) return bad_input("{}: tensor {} is missing", name_, number);
    FileTensor made;
    if (tensor->name() != nullptr) made.name = tensor->name()->str();
    made.shape = list_of(tensor->shape());
    made.type = tensor->type();
    if (tensor->buffer() >= std::max<size_t>(size_of(model_.buffers()), 1)) {
      return bad_input("{}: tensor {} is in buffer {} of {}", name_, number, tensor->buffer(),
                       size_of(model_.buffers()));
    }
    const fb::Buffer* buffer =
        size_of(model_.buffers()) == 0 ? nullptr : model_.buffers()->Get(tensor->buffer());
    if (buffer != nullptr && size_of(buffer->data()) != 0) {
      const auto* const first = reinterpret_cast<const std::byte*>(buffer->data()->data());
      made.data.assign(first, first + buffer->data()->size());
    }
    file_.tensors.push_back(std::move(made));
    return ok();
  }

  Status add_operator(const fb::Operator* op, size_t number) {
    if (op == nullptr || op->opcode_index() >= size_of(model_.operator_codes())) {
      return bad_input(
          "{}: the code index of operator {} is not less than {}, the number of operator codes",
          name_, number, size_of(model_.operator_codes()));
    }
    const fb::OperatorCode* code = model_.operator_codes()->Get(op->opcode_index());
    FileOperator made;
    // Files from before the format had more than 127 operators have only the deprecated field.
    made.number = std::max<int32_t>(code->builtin_code(), code->deprecated_builtin_code());
    if (made.number == kCustom && code->custom_code() != nullptr) {
      made.custom = code->custom_code()->str();
    }
    made.inputs = list_of(op->inputs());
    made.outputs = list_of(op->outputs());
    THIMBLE_CHECK(check(made.inputs, fmt::format("operator {}", number), true));
    THIMBLE_CHECK(check(made.outputs, fmt::format("operator {}", number), false));
    file_.operators.push_back(std::move(made));
    return ok();
  }

  [[nodiscard]] Status check(const std::vector<int32_t>& list, std::string_view whose,
                             bool absent) const {
    const auto count = static_cast<int32_t>(file_.tensors.size());
    for (const int32_t tensor : list) {
      if (tensor < (absent ? -1 : 0) || tensor >= count) {
        return bad_input("{}: {}: tensor {} of {}", name_, whose, tensor, count);
      }
    }
    return ok();
  }

  const fb::Model& model_;
  std::string_view name_;
  File file_;
};

}  // namespace

Result<File> read(ByteView bytes, std::string_view name) {
  constexpr size_t kIdentifierAt = 4, kIdentifierBytes = 4;
  if (bytes.size() < kIdentifierAt + kIdentifierBytes ||
      std::memcmp(bytes.data() + kIdentifierAt, "TFL3", kIdentifierBytes) != 0) {
    return bad_input("{}: {} bytes that are not a LiteRT model: TFL3 expected at byte 4", name,
                     bytes.size());
  }
  // The flatbuffer accessors require aligned words.
  std::vector<uint64_t> aligned(bytes.size() / sizeof(uint64_t) + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const auto* const data = reinterpret_cast<const uint8_t*>(aligned.data());
  flatbuffers::Verifier verifier(data, bytes.size(), kDepthMax, kTablesMax);
  if (!fb::VerifyModelBuffer(verifier)) {
    return bad_input("{}: a damaged LiteRT model of {} bytes", name, bytes.size());
  }
  return Reader(*fb::GetModel(data), name).run();
}

std::string type_name(int8_t type) {
  switch (type) {
    case 0:
      return "float32";
    case 1:
      return "float16";
    case 2:
      return "int32";
    case kUint8Type:
      return "uint8";
    case 4:
      return "int64";
    case 6:
      return "bool";
    case 7:
      return "int16";
    case 9:
      return "int8";
    default:
      return fmt::format("type {}", type);
  }
}

std::string operator_name(const FileOperator& op) {
  if (op.number == kCustom) return "CUSTOM " + op.custom;
  return fmt::format("builtin operator {}", op.number);
}

}  // namespace thimble::formats::tflite
