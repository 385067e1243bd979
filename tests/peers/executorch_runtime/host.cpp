// SPDX-License-Identifier: Apache-2.0
// A program of ExecuTorch's runtime with Thimble's delegates, linked with LeakSanitizer.
//
//   host repeat MODEL.pte COUNT
//     loads and executes the model COUNT times, then executes it COUNT times
//   host together A.pte B.pte
//     two loaded models, executed in turn, give the results that each gives alone
//   host refuse MODEL.pte CHANGE...
//     with each change (OFFSET:VALUE,OFFSET:VALUE,...), the file does not load or not execute
//   host refuse_all ID PAYLOAD FIRST
//     init() fails for each changed bit of the bytes from FIRST on
//   host damage ID PAYLOAD COUNT
//     init() of COUNT damaged payloads does not crash
//
// All memory of a method is in two fixed buffers. They are filled with a pattern before each load,
// so that a delegate that assumes zeros gives another result. A call of malloc within init() of a
// delegate is an error. Exit code 0: all is as expected.

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

// Part of the sanitizers' interface; GCC does not install its header.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             size_t),
                                                         void (*free_hook)(const volatile void*));

namespace et = executorch::runtime;
using executorch::extension::BufferDataLoader;

namespace {

constexpr size_t kMethodBytes = 24U << 20;
constexpr size_t kTempBytes = 8U << 20;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::_Exit(1);
}

/// Bytes at a multiple of 64.
class Buffer {
 public:
  explicit Buffer(size_t bytes) : bytes_(bytes), data_(new unsigned char[bytes + 64]) { fill(); }
  void fill() { std::memset(data(), 0xA5, bytes_); }
  uint8_t* data() const {
    return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(data_.get()) + 63) / 64 * 64);
  }
  size_t size() const { return bytes_; }

 private:
  size_t bytes_;
  std::unique_ptr<unsigned char[]> data_;
};

Buffer read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  if (bytes.empty()) fail(std::string(path) + ": cannot be read");
  Buffer buffer(bytes.size());
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  return buffer;
}

/// A loaded model with its memory.
class Model {
 public:
  Model(const Buffer& file, Buffer& method_memory, Buffer& temp_memory)
      : loader_(file.data(), file.size()),
        method_allocator_(static_cast<uint32_t>(method_memory.size()), method_memory.data()),
        temp_allocator_(static_cast<uint32_t>(temp_memory.size()), temp_memory.data()) {
    auto program = et::Program::load(&loader_);
    if (!program.ok()) fail("the program does not load");
    program_.emplace(std::move(program.get()));
    auto meta = program_->method_meta("forward");
    if (!meta.ok()) fail("no method");
    for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
      const auto bytes = static_cast<size_t>(meta->memory_planned_buffer_size(i).get());
      planned_.emplace_back(bytes);
      spans_.push_back({planned_.back().data(), bytes});
    }
    planned_memory_.emplace(et::Span<et::Span<uint8_t>>(spans_.data(), spans_.size()));
    manager_.emplace(&method_allocator_, &*planned_memory_, &temp_allocator_);
    auto method = program_->load_method("forward", &*manager_);
    if (!method.ok()) {
      error_ = method.error();
      return;
    }
    method_.emplace(std::move(method.get()));
    for (size_t i = 0; i < meta->num_inputs(); ++i) {
      const auto info = meta->input_tensor_meta(i);
      inputs_.emplace_back(info->nbytes());
      shapes_.push_back(std::make_unique<Shape>(*info));
    }
  }

  /// Error::Ok if the model is loaded and all executions have succeeded.
  et::Error error() const { return error_; }

  /// Outputs for inputs of this seed: floats in [-1, 1], or bytes. Empty: error() is not Ok.
  std::vector<uint8_t> execute(uint32_t seed) {
    if (error_ != et::Error::Ok) return {};
    std::mt19937 random(seed);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      Shape& shape = *shapes_[i];
      uint8_t* const data = inputs_[i].data();
      if (shape.type == executorch::aten::ScalarType::Float) {
        std::uniform_real_distribution<float> value(-1, 1);
        for (size_t at = 0; at < inputs_[i].size(); at += 4) {
          const float number = value(random);
          std::memcpy(data + at, &number, 4);
        }
      } else {
        for (size_t at = 0; at < inputs_[i].size(); ++at) data[at] = static_cast<uint8_t>(random());
      }
      executorch::aten::TensorImpl impl(shape.type, static_cast<ssize_t>(shape.sizes.size()),
                                        shape.sizes.data(), data, shape.order.data(),
                                        shape.strides.data());
      if (method_->set_input(executorch::aten::Tensor(&impl), i) != et::Error::Ok) {
        fail("set_input");
      }
    }
    error_ = method_->execute();
    if (error_ != et::Error::Ok) return {};
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < method_->outputs_size(); ++i) {
      const auto& tensor = method_->get_output(i).toTensor();
      const auto* const data = static_cast<const uint8_t*>(tensor.const_data_ptr());
      bytes.insert(bytes.end(), data, data + tensor.nbytes());
    }
    return bytes;
  }

 private:
  struct Shape {
    explicit Shape(const et::TensorInfo& info)
        : type(info.scalar_type()),
          sizes(info.sizes().begin(), info.sizes().end()),
          order(info.dim_order().begin(), info.dim_order().end()),
          strides(sizes.size()) {
      int32_t stride = 1;
      for (size_t i = order.size(); i-- > 0;) {
        strides[order[i]] = stride;
        stride *= sizes[order[i]];
      }
    }
    executorch::aten::ScalarType type;
    std::vector<int32_t> sizes;
    std::vector<uint8_t> order;
    std::vector<int32_t> strides;
  };

  et::Error error_ = et::Error::Ok;
  BufferDataLoader loader_;
  et::MemoryAllocator method_allocator_, temp_allocator_;
  std::vector<Buffer> planned_, inputs_;
  std::vector<et::Span<uint8_t>> spans_;
  std::vector<std::unique_ptr<Shape>> shapes_;
  std::optional<et::Program> program_;
  std::optional<et::HierarchicalAllocator> planned_memory_;
  std::optional<et::MemoryManager> manager_;
  std::optional<et::Method> method_;
};

void repeat(const char* path, int count) {
  const Buffer file = read_file(path);
  Buffer memory(kMethodBytes), temp(kTempBytes);
  std::vector<uint8_t> expected;
  for (int i = 0; i < count; ++i) {
    if (i < 3) memory.fill(), temp.fill();
    Model model(file, memory, temp);
    const auto outputs = model.execute(1);
    if (i == 0) expected = outputs;
    if (outputs.empty()) fail(et::to_string(model.error()));
    if (outputs != expected) fail("load " + std::to_string(i) + ": other outputs");
  }
  Model model(file, memory, temp);
  for (int i = 0; i < count; ++i) {
    if (model.execute(1) != expected) fail("execution " + std::to_string(i) + ": other outputs");
  }
}

void together(const char* first, const char* second) {
  const Buffer files[] = {read_file(first), read_file(second)};
  std::vector<uint8_t> expected[2][3];
  for (uint32_t m = 0; m < 2; ++m) {
    Buffer memory(kMethodBytes), temp(kTempBytes);
    Model model(files[m], memory, temp);
    for (uint32_t i = 0; i < 3; ++i) expected[m][i] = model.execute(i);
  }
  if (expected[0][0].empty() || expected[1][0].empty()) fail("a model fails");
  if (expected[0][0] == expected[0][1]) fail("outputs do not depend on the inputs");
  Buffer memories[] = {Buffer(kMethodBytes), Buffer(kMethodBytes)};
  Buffer temps[] = {Buffer(kTempBytes), Buffer(kTempBytes)};
  Model a(files[0], memories[0], temps[0]);
  Model b(files[1], memories[1], temps[1]);
  for (uint32_t i = 0; i < 3; ++i) {
    if (a.execute(i) != expected[0][i]) fail("the first model has other outputs");
    if (b.execute(i) != expected[1][i]) fail("the second model has other outputs");
  }
}

bool counts_allocations = false;
int allocations = 0;
void count_allocation(const volatile void*, size_t) {
  if (counts_allocations) ++allocations;
}

/// Calls init() and destroy() of the backend with a payload.
class Loader {
 public:
  explicit Loader(const char* id) : backend_(et::get_backend_class(id)), memory_(kMethodBytes) {
    if (backend_ == nullptr) fail(std::string(id) + ": no such backend");
    if (!backend_->is_available()) fail(std::string(id) + ": not available");
  }
  et::Error load(const Buffer& payload) {
    et::MemoryAllocator allocator(static_cast<uint32_t>(memory_.size()), memory_.data());
    et::BackendInitContext context(&allocator);
    et::FreeableBuffer processed(payload.data(), payload.size(), nullptr);
    counts_allocations = true;
    const auto handle = backend_->init(context, &processed, {});
    counts_allocations = false;
    if (!handle.ok()) return handle.error();
    backend_->destroy(handle.get());
    return et::Error::Ok;
  }

 private:
  et::BackendInterface* backend_;
  Buffer memory_;
};

bool is_refused(et::Error error) {
  return error == et::Error::InvalidProgram || error == et::Error::DelegateInvalidCompatibility;
}

void check_valid(Loader& loader, const Buffer& payload) {
  if (loader.load(payload) != et::Error::Ok) fail("the payload itself is refused");
  if (allocations != 0) fail("init() allocates memory of its own");
}

/// Writes the bytes of "OFFSET:VALUE,OFFSET:VALUE,...".
void change_bytes(const char* text, Buffer& file) {
  while (*text != 0) {
    char* end = nullptr;
    const size_t offset = std::strtoul(text, &end, 10);
    if (*end != ':' || offset >= file.size()) fail(std::string(text) + ": no OFFSET:VALUE");
    file.data()[offset] = static_cast<uint8_t>(std::strtoul(end + 1, &end, 10));
    text = *end == ',' ? end + 1 : end;
  }
}

void refuse(const char* path, char** changes, int count) {
  const Buffer original = read_file(path);
  Buffer memory(kMethodBytes), temp(kTempBytes), file(original.size());
  if (Model(original, memory, temp).execute(1).empty()) fail("the file itself fails");
  int at_load = 0;
  for (int i = 0; i < count; ++i) {
    std::memcpy(file.data(), original.data(), file.size());
    change_bytes(changes[i], file);
    if (std::memcmp(original.data(), file.data(), file.size()) == 0) {
      fail(std::string(changes[i]) + ": no change");
    }
    Model model(file, memory, temp);
    at_load += model.error() != et::Error::Ok;
    (void)model.execute(1);
    if (!is_refused(model.error())) {
      fail(std::string(changes[i]) + ": " + et::to_string(model.error()));
    }
  }
  std::printf("%d changes refused, %d of them when the method is loaded\n", count, at_load);
}

void refuse_all(const char* id, const char* path, size_t first) {
  Loader loader(id);
  Buffer payload = read_file(path);
  check_valid(loader, payload);
  for (size_t offset = first; offset < payload.size(); ++offset) {
    for (int bit = 0; bit < 8; ++bit) {
      payload.data()[offset] ^= static_cast<uint8_t>(1U << bit);
      const et::Error error = loader.load(payload);
      if (!is_refused(error)) {
        fail("byte " + std::to_string(offset) + ", bit " + std::to_string(bit) + ": " +
             et::to_string(error));
      }
      payload.data()[offset] ^= static_cast<uint8_t>(1U << bit);
    }
  }
}

void damage(const char* id, const char* path, int count) {
  Loader loader(id);
  const Buffer original = read_file(path);
  check_valid(loader, original);
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    Buffer payload(original.size());
    std::memcpy(payload.data(), original.data(), original.size());
    for (uint32_t k = 0; k <= random() % 4; ++k) {
      // Most damage is where the fields are.
      const size_t range =
          random() % 2 != 0 ? payload.size() : std::min<size_t>(payload.size(), 512);
      payload.data()[random() % range] = static_cast<uint8_t>(random());
    }
    const et::Error error = loader.load(payload);
    // A damaged command stream can need more memory for its simulation than the method has.
    if (error != et::Error::Ok && error != et::Error::MemoryAllocationFailed &&
        !is_refused(error)) {
      fail(std::string("damage: ") + et::to_string(error));
    }
    refused += error != et::Error::Ok;
  }
  if (refused == 0) fail("no damaged payload is refused");
}

}  // namespace

int main(int count, char** words) {
  et::runtime_init();
  __sanitizer_install_malloc_and_free_hooks(count_allocation, nullptr);
  const std::string verb = count > 1 ? words[1] : "";
  if (verb == "repeat" && count == 4) {
    repeat(words[2], std::atoi(words[3]));
  } else if (verb == "together" && count == 4) {
    together(words[2], words[3]);
  } else if (verb == "refuse" && count > 3) {
    refuse(words[2], words + 3, count - 3);
  } else if (verb == "refuse_all" && count == 5) {
    refuse_all(words[2], words[3], static_cast<size_t>(std::atol(words[4])));
  } else if (verb == "damage" && count == 5) {
    damage(words[2], words[3], std::atoi(words[4]));
  } else {
    fail("host repeat|together|refuse|refuse_all|damage ...");
  }
  std::puts("ok");
  return 0;
}
