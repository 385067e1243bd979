// SPDX-License-Identifier: Apache-2.0
#include "ethos_u_programs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/sim/hazard.h"
#include "engines/ethos_u/sim/machine.h"
#include "engines/ethos_u/sim/timeline.h"

namespace thimble::test {

namespace sim = thimble::ethos_u::sim;

int ProgramBuilder::tensor(Shape4 shape, TensorRole role) {
  NpuTensor one;
  one.shape = shape;
  one.role = role;
  one.linear = role != TensorRole::kIntermediate;
  one.name = "t" + std::to_string(program_.tensors.size());
  program_.tensors.push_back(one);
  return static_cast<int>(program_.tensors.size()) - 1;
}

Operand ProgramBuilder::whole(int tensor) const {
  const Shape4 shape = this->shape(tensor);
  Operand operand;
  operand.tensor = tensor;
  operand.shape = shape;
  operand.stride_h = shape.w * shape.c;
  operand.stride_w = shape.c;
  operand.zero_point = tensor % 7 - 3;
  return operand;
}

NpuOp ProgramBuilder::start(NpuOpKind kind, int from, int to) const {
  NpuOp op;
  op.kind = kind;
  op.ifm = whole(from);
  op.ofm = whole(to);
  op.ir_op = static_cast<int>(program_.ops.size());
  return op;
}

int ProgramBuilder::input(Shape4 shape) {
  const int t = tensor(shape, TensorRole::kInput);
  program_.inputs.push_back(t);
  return t;
}

void ProgramBuilder::output(int t) {
  NpuTensor& one = program_.tensors[static_cast<size_t>(t)];
  one.role = TensorRole::kOutput;
  one.linear = true;
  program_.outputs.push_back(t);
}

void ProgramBuilder::weigh(NpuOp* op, int64_t out, int64_t kernel, int64_t in) {
  Weights weights;
  weights.out = out;
  weights.kernel_h = weights.kernel_w = kernel;
  weights.in = in;
  std::normal_distribution<double> normal(0, 20);
  for (int64_t i = 0; i < out * kernel * kernel * in; ++i) {
    weights.values.push_back(
        static_cast<int16_t>(std::clamp(std::lround(normal(random_)), -127L, 127L)));
  }
  const double spread = 20.0 * 60 * std::sqrt(static_cast<double>(kernel * kernel * in));
  for (int64_t i = 0; i < out; ++i) {
    weights.bias.push_back(pick(-500, 500));
    op->requantize.multiplier.push_back(static_cast<int32_t>(pick(1LL << 30, (1LL << 31) - 1)));
    op->requantize.shift.push_back(30 + static_cast<int32_t>(std::lround(std::log2(spread / 50))));
  }
  op->weights = std::move(weights);
}

int ProgramBuilder::conv(int from, int64_t channels, int64_t kernel, int64_t stride, bool same) {
  const Shape4 in = shape(from);
  const int64_t lost = same ? 0 : kernel - 1;
  const Shape4 out{(in.h - lost + stride - 1) / stride, (in.w - lost + stride - 1) / stride,
                   channels};
  NpuOp op = start(NpuOpKind::kConv, from, tensor(out));
  op.window.kernel_h = op.window.kernel_w = kernel;
  op.window.stride_h = op.window.stride_w = stride;
  if (same) op.window.pad_top = op.window.pad_left = (kernel - 1) / 2;
  weigh(&op, channels, kernel, in.c);
  program_.ops.push_back(op);
  return op.ofm.tensor;
}

int ProgramBuilder::any_window(int from) {
  const Shape4 in = shape(from);
  const int64_t kind = pick(0, 2);
  Window window;
  window.kernel_h = pick(1, std::min<int64_t>({5, in.h, in.w}));
  window.kernel_w = kind == 2 ? pick(1, std::min<int64_t>(5, in.w)) : window.kernel_h;
  window.stride_h = pick(1, 3);
  window.stride_w = pick(1, 3);
  if (kind < 2) {
    window.pad_top = pick(0, window.kernel_h / 2);
    window.pad_left = pick(0, window.kernel_w / 2);
  }
  const auto out = [](int64_t size, int64_t kernel, int64_t stride, int64_t pad) {
    return (size + 2 * pad - kernel) / stride + 1;
  };
  const int64_t channels = kind == 0 ? pick(1, 40) : in.c;
  const Shape4 made{out(in.h, window.kernel_h, window.stride_h, window.pad_top),
                    out(in.w, window.kernel_w, window.stride_w, window.pad_left), channels};
  constexpr NpuOpKind kKinds[] = {NpuOpKind::kConv, NpuOpKind::kDepthwise, NpuOpKind::kPool};
  NpuOp op = start(kKinds[kind], from, tensor(made));
  op.window = window;
  if (kind < 2) {
    weigh(&op, channels, window.kernel_h, kind == 0 ? in.c : 1);
  } else {
    op.pool = PoolMode::kMax;
    op.ofm.zero_point = op.ifm.zero_point = 0;
    op.requantize.global = true;
  }
  program_.ops.push_back(op);
  return op.ofm.tensor;
}

int ProgramBuilder::upsampled_conv(int from, int64_t channels) {
  const Shape4 in = shape(from);
  NpuOp op = start(NpuOpKind::kConv, from, tensor({in.h * 2, in.w * 2, channels}));
  op.upscale = Upscale::kNearest;
  op.window.kernel_h = op.window.kernel_w = 3;
  op.window.pad_top = op.window.pad_left = 1;
  weigh(&op, channels, 3, in.c);
  program_.ops.push_back(op);
  return op.ofm.tensor;
}

int ProgramBuilder::depthwise(int from, int64_t kernel, int64_t stride, int64_t dilation) {
  const Shape4 in = shape(from);
  const Shape4 out{(in.h + stride - 1) / stride, (in.w + stride - 1) / stride, in.c};
  NpuOp op = start(NpuOpKind::kDepthwise, from, tensor(out));
  op.window.kernel_h = op.window.kernel_w = kernel;
  op.window.stride_h = op.window.stride_w = stride;
  op.window.dilation_h = op.window.dilation_w = dilation;
  op.window.pad_top = op.window.pad_left = (kernel - 1) * dilation / 2;
  weigh(&op, in.c, kernel, 1);
  program_.ops.push_back(op);
  return op.ofm.tensor;
}

int ProgramBuilder::max_pool(int from, int64_t kernel, int64_t stride) {
  const Shape4 in = shape(from);
  const Shape4 out{(in.h - kernel) / stride + 1, (in.w - kernel) / stride + 1, in.c};
  NpuOp op = start(NpuOpKind::kPool, from, tensor(out));
  op.pool = PoolMode::kMax;
  op.window.kernel_h = op.window.kernel_w = kernel;
  op.window.stride_h = op.window.stride_w = stride;
  op.ofm.zero_point = op.ifm.zero_point = 0;
  op.requantize.global = true;
  program_.ops.push_back(op);
  return op.ofm.tensor;
}

int ProgramBuilder::average(int from) {
  const Shape4 in = shape(from);
  NpuOp op = start(NpuOpKind::kPool, from, tensor({1, 1, in.c}));
  op.pool = PoolMode::kAverage;
  op.window.kernel_h = in.h;
  op.window.kernel_w = in.w;
  op.requantize.global = true;
  op.requantize.rounding = Requantize::Rounding::kNatural;
  op.requantize.multiplier = {
      static_cast<int32_t>(std::lround(std::ldexp(1.0 / static_cast<double>(in.h * in.w), 30)))};
  op.requantize.shift = {30};
  if (program_.config->generation == thimble::ethos_u::Generation::kU85) op.pool = PoolMode::kSum;
  program_.ops.push_back(op);
  return op.ofm.tensor;
}

int ProgramBuilder::add(int a, int b) {
  NpuOp op = start(NpuOpKind::kElementwise, a, tensor(shape(a)));
  op.elementwise = ElementwiseMode::kAdd;
  op.ifm2 = whole(b);
  op.requantize.global = true;
  op.requantize.multiplier = {static_cast<int32_t>(pick(1LL << 30, (1LL << 31) - 1))};
  op.requantize.shift = {31};
  program_.ops.push_back(op);
  return op.ofm.tensor;
}

int ProgramBuilder::table(int from) {
  NpuOp op = start(NpuOpKind::kPool, from, tensor(shape(from)));
  op.pool = program_.config->generation == thimble::ethos_u::Generation::kU85 ? PoolMode::kSum
                                                                              : PoolMode::kAverage;
  op.ofm.zero_point = op.ifm.zero_point = 0;
  op.requantize.global = true;
  op.requantize.rounding = Requantize::Rounding::kNatural;
  op.table.kind = Table::Kind::k8To8;
  for (int i = 0; i < 256; ++i) {
    op.table.content.push_back(static_cast<std::byte>(pick(0, 255)));
  }
  program_.ops.push_back(op);
  return op.ofm.tensor;
}

int ProgramBuilder::concat(int a, int b) {
  const Shape4 first = shape(a), second = shape(b);
  const int to = tensor({first.h, first.w, first.c + second.c});
  int64_t offset = 0;
  for (const int from : {a, b}) {
    NpuOp op = start(NpuOpKind::kPool, from, to);
    op.pool = program_.config->generation == thimble::ethos_u::Generation::kU85
                  ? PoolMode::kSum
                  : PoolMode::kAverage;
    op.ofm.zero_point = op.ifm.zero_point = 0;
    op.ofm.shape.c = shape(from).c;
    op.ofm.offset = offset;
    op.requantize.global = true;
    op.requantize.rounding = Requantize::Rounding::kNatural;
    offset += shape(from).c;
    program_.ops.push_back(op);
  }
  return to;
}

std::vector<Bytes> random_inputs(const NpuProgram& program, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Bytes> inputs;
  for (const int tensor : program.inputs) {
    Bytes bytes(static_cast<size_t>(program.tensors[static_cast<size_t>(tensor)].shape.elements()));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

namespace {

/// Returns value * multiplier / 2^shift, rounded as the operation requires.
int64_t scale(int64_t value, const Requantize& how, size_t channel) {
  if (how.multiplier.empty()) return value;
  const size_t i = how.global ? 0 : channel;
  const int shift = how.shift[i];
  if (shift == 0) return value * how.multiplier[i];
  __extension__ using Wide = __int128;
  const Wide product = Wide{value} * how.multiplier[i];
  Wide round = Wide{1} << (shift - 1);
  if (how.rounding == Requantize::Rounding::kDouble && shift > 31) {
    round += value < 0 ? -(Wide{1} << 30) : Wide{1} << 30;
  }
  return static_cast<int64_t>((product + round) >> shift);
}

class Interpreter {
 public:
  Interpreter(const NpuProgram& program, const std::vector<Bytes>& inputs) : program_(program) {
    for (const NpuTensor& tensor : program.tensors) {
      memory_.emplace_back(static_cast<size_t>(tensor.shape.elements()));
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      memory_[static_cast<size_t>(program.inputs[i])] = inputs[i];
    }
  }
  std::vector<Bytes> run() {
    for (const NpuOp& op : program_.ops) {
      const Shape4& shape = op.ofm.shape;
      for (int64_t y = 0; y < shape.h; ++y) {
        for (int64_t x = 0; x < shape.w; ++x) {
          for (int64_t c = 0; c < shape.c; ++c) *at(op.ofm, y, x, c) = element(op, y, x, c);
        }
      }
    }
    std::vector<Bytes> outputs;
    for (const int tensor : program_.outputs) {
      outputs.push_back(memory_[static_cast<size_t>(tensor)]);
    }
    return outputs;
  }

 private:
  uint8_t* at(const Operand& operand, int64_t y, int64_t x, int64_t c) {
    return memory_[static_cast<size_t>(operand.tensor)].data() + operand.offset +
           y * operand.stride_h + x * operand.stride_w + c * operand.stride_c;
  }
  int64_t read(const Operand& operand, int64_t y, int64_t x, int64_t c) {
    return static_cast<int8_t>(*at(operand, y, x, c)) - operand.zero_point;
  }
  uint8_t element(const NpuOp& op, int64_t y, int64_t x, int64_t c) {
    int64_t value = 0;
    if (op.kind == NpuOpKind::kElementwise) {
      value = read(op.ifm, y, x, c) + read(*op.ifm2, y, x, c);
    } else {
      value = window(op, y, x, c);
    }
    value = scale(value, op.requantize, static_cast<size_t>(c)) + op.ofm.zero_point;
    value = std::clamp<int64_t>(value, -128, 127);
    if (op.table.content.empty()) return static_cast<uint8_t>(value);
    return static_cast<uint8_t>(op.table.content[static_cast<size_t>(value + 128)]);
  }
  int64_t window(const NpuOp& op, int64_t y, int64_t x, int64_t c) {
    const Window& w = op.window;
    const int64_t up = op.upscale == Upscale::kNone ? 1 : 2;
    const bool max = op.kind == NpuOpKind::kPool && op.pool == PoolMode::kMax;
    int64_t value = max ? -1000 : 0;
    if (op.weights) value = op.weights->bias[static_cast<size_t>(c)];
    for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
      for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
        const int64_t iy = y * w.stride_h + ky * w.dilation_h - w.pad_top;
        const int64_t ix = x * w.stride_w + kx * w.dilation_w - w.pad_left;
        if (iy < 0 || ix < 0 || iy >= op.ifm.shape.h * up || ix >= op.ifm.shape.w * up) continue;
        if (op.kind == NpuOpKind::kConv) {
          for (int64_t i = 0; i < op.ifm.shape.c; ++i) {
            value += read(op.ifm, iy / up, ix / up, i) * weight(op, c, ky, kx, i);
          }
        } else if (op.kind == NpuOpKind::kDepthwise) {
          value += read(op.ifm, iy, ix, c) * weight(op, c, ky, kx, 0);
        } else {
          const int64_t one = read(op.ifm, iy, ix, c);
          value = max ? std::max(value, one) : value + one;
        }
      }
    }
    return value;
  }
  static int64_t weight(const NpuOp& op, int64_t o, int64_t y, int64_t x, int64_t i) {
    const Weights& w = *op.weights;
    return w.values[static_cast<size_t>(((o * w.kernel_h + y) * w.kernel_w + x) * w.in + i)];
  }

  const NpuProgram& program_;
  std::vector<Bytes> memory_;
};

}  // namespace

std::vector<Bytes> interpret(const NpuProgram& program, const std::vector<Bytes>& inputs) {
  return Interpreter(program, inputs).run();
}

namespace {

std::vector<uint32_t> words_of(const NpuBlob& blob) {
  thimble::ethos_u::DriverPayload payload;
  if (!thimble::ethos_u::read_driver_payload(reinterpret_cast<const uint8_t*>(blob.commands.data()),
                                             static_cast<uint32_t>(blob.commands.size()),
                                             payload)) {
    return {};
  }
  std::vector<uint32_t> words(payload.stream_words);
  std::memcpy(words.data(), blob.commands.data() + payload.stream_offset, words.size() * 4);
  return words;
}

}  // namespace

Simulated simulate(const NpuProgram& program, const NpuBlob& blob,
                   const std::vector<Bytes>& inputs) {
  Simulated result;
  const std::vector<uint32_t> words = words_of(blob);
  if (words.empty()) {
    result.error = "no driver payload";
    return result;
  }
  // Memory in units of 8 bytes, for alignment. Bytes that are not written have a nonzero value.
  const std::vector<int64_t> sizes = {static_cast<int64_t>(blob.weights.size()), blob.scratch_bytes,
                                      blob.fast_scratch_bytes};
  std::vector<std::vector<uint64_t>> memory;
  sim::Job job;
  job.config = program.config;
  job.words = words.data();
  job.word_count = static_cast<uint32_t>(words.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    memory.emplace_back(static_cast<size_t>(sizes[i]) / 8 + 4, 0xA5A5A5A5A5A5A5A5U);
    job.regions[i] = {reinterpret_cast<uint8_t*>(memory[i].data()), static_cast<uint64_t>(sizes[i]),
                      i == 0};
  }
  std::ranges::copy(std::as_bytes(std::span(blob.weights)),
                    reinterpret_cast<std::byte*>(job.regions[0].data));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const NpuBlob::Io& io = blob.inputs[i];
    std::memcpy(job.regions[io.region].data + io.offset, inputs[i].data(), inputs[i].size());
  }
  size_t bytes = 0;
  sim::Fault fault = sim::workspace_bytes(*program.config, words.data(), job.word_count, &bytes);
  std::vector<uint64_t> workspace(bytes / 8 + 1);
  job.workspace = reinterpret_cast<uint8_t*>(workspace.data());
  job.workspace_bytes = bytes;
  sim::HazardChecker checker(*program.config);
  const sim::Observer observer = checker.observer();
  job.observer = &observer;
  if (fault.none()) fault = sim::run(job);
  if (fault.none()) fault = checker.first();
  if (!fault.none()) {
    result.error = "word " + std::to_string(fault.word) + " (" + std::to_string(fault.other_word) +
                   "): " + fault.detail;
    return result;
  }
  for (const NpuBlob::Io& io : blob.outputs) {
    const uint8_t* begin = job.regions[io.region].data + io.offset;
    const int64_t size = io.shape[1] * io.shape[2] * io.shape[3] * io.elem_bytes;
    result.outputs.emplace_back(begin, begin + size);
  }
  return result;
}

NpuProgram chain(const Config& config) {
  ProgramBuilder b(config, 2);
  int at = b.conv(b.input({19, 23, 3}), 24, 3, 2);
  at = b.depthwise(at, 3, 1);
  at = b.conv(at, 40, 1, 1);
  at = b.depthwise(at, 5, 2, 1);
  at = b.conv(at, 17, 3, 1, false);
  b.output(at);
  return b.take();
}
NpuProgram random_chain(const Config& config, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto pick = [&random](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  ProgramBuilder b(config, seed);
  int at = b.input({pick(20, 90), pick(4, 30), pick(1, 20)});
  for (int64_t left = pick(3, 6); left > 0; --left) at = b.any_window(at);
  b.output(at);
  return b.take();
}

NpuProgram chain_with_skipped_rows(const Config& config) {
  ProgramBuilder b(config, 5);
  int at = b.conv(b.input({40, 12, 8}), 16, 3, 1);
  at = b.conv(at, 24, 1, 3);
  at = b.conv(at, 16, 3, 1);
  at = b.depthwise(at, 1, 4);
  b.output(b.conv(at, 8, 1, 1));
  return b.take();
}

NpuProgram residual(const Config& config) {
  ProgramBuilder b(config, 3);
  const int x = b.conv(b.input({16, 12, 8}), 32, 3, 1);
  const int y = b.conv(b.depthwise(b.conv(x, 48, 1, 1), 3, 1, 2), 32, 1, 1);
  b.output(b.average(b.add(x, y)));
  return b.take();
}
NpuProgram sequence_with_skips(const Config& config) {
  ProgramBuilder b(config, 8);
  int at = b.conv(b.input({1, 64, 12}), 32, 5, 1);
  for (const int64_t channels : {24, 16, 8}) {
    at = b.conv(at, channels, 3, 1);
    for (int block = 0; block < 2; ++block) at = b.add(at, b.conv(b.table(at), channels, 3, 1));
  }
  b.output(b.conv(b.table(at), 1, 7, 1));
  return b.take();
}
NpuProgram branches(const Config& config) {
  ProgramBuilder b(config, 4);
  const int x = b.conv(b.input({14, 14, 16}), 16, 3, 1);
  const int p = b.max_pool(x, 2, 2);
  const int up = b.upsampled_conv(p, 32);
  const int t = b.table(b.conv(x, 16, 1, 1));
  const int both = b.concat(up, t);
  b.output(b.table(b.conv(both, 33, 3, 2)));
  b.output(b.table(b.conv(p, 8, 1, 1)));
  return b.take();
}

double timeline_cycles(const NpuProgram& program, const NpuBlob& blob, MemoryMode mode) {
  const std::vector<uint32_t> words = words_of(blob);
  sim::TimelineJob job;
  job.config = program.config;
  job.system = thimble::ethos_u::default_system(program.config->generation);
  job.mode = mode;
  job.words = words.data();
  job.word_count = static_cast<uint32_t>(words.size());
  sim::Timeline timeline;
  return sim::make_timeline(job, &timeline).none() ? timeline.cycles : -1;
}

NpuProgram mobilenet(const Config& config, int64_t size) {
  ProgramBuilder b(config, 1);
  int at = b.conv(b.input({size, size, 3}), 32, 3, 2);
  at = b.conv(b.depthwise(at, 3, 1), 16, 1, 1);
  struct Stage {
    int64_t channels, count, stride;
  };
  for (const Stage& stage : {Stage{24, 2, 2}, Stage{32, 3, 2}, Stage{64, 4, 2}, Stage{96, 3, 1},
                             Stage{160, 3, 2}, Stage{320, 1, 1}}) {
    for (int64_t i = 0; i < stage.count; ++i) {
      const int from = at;
      at = b.conv(at, b.shape(at).c * 6, 1, 1);
      at = b.conv(b.depthwise(at, 3, i == 0 ? stage.stride : 1), stage.channels, 1, 1);
      if (i > 0) at = b.add(from, at);
    }
  }
  at = b.average(b.conv(at, 1280, 1, 1));
  b.output(b.conv(at, 1000, 1, 1));
  return b.take();
}

}  // namespace thimble::test
