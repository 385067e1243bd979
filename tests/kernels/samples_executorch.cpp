// SPDX-License-Identifier: Apache-2.0
// Samples of operators that only ExecuTorch's files contain: ATen in float32, variants of other
// releases, explicit layouts.

#include <algorithm>
#include <cstring>
#include <string_view>

#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

constexpr int64_t kNone = kAbsent;

std::vector<int32_t> only(int32_t item) {
  return {item};
}
Sizes small(Random& random, size_t rank, int32_t max = 4) {
  Sizes sizes;
  for (size_t d = 0; d < rank; ++d) sizes.push_back(uniform(random, 1, max));
  return sizes;
}
Value random_value(Random& random, DType type, Sizes sizes, Order order = {}) {
  Value value = make(type, std::move(sizes), std::move(order));
  value.fill(random);
  if (type == DType::kF32) {
    for (int32_t i = 0; i < value.count(); ++i) {
      value.as<float>()[i] = static_cast<float>(uniform(random, -4000, 4000)) / 1000.0F;
    }
  }
  return value;
}
Value floats(Random& random, Sizes sizes, Order order = {}) {
  return random_value(random, DType::kF32, std::move(sizes), std::move(order));
}
Value shuffled(Random& random, DType type, const Sizes& sizes) {
  return random_value(random, type, sizes, random_order(random, sizes.size()));
}
Value constant(Value value) {
  value.constant = true;
  return value;
}
DType float_or_codes(Random& random) {
  return random() % 2 == 0 ? DType::kF32 : DType::kI8;
}
/// Returns y's sizes with a random subset replaced by 1.
Sizes narrowed(Random& random, Sizes sizes) {
  for (int32_t& size : sizes) size = random() % 2 == 0 ? 1 : size;
  return sizes;
}

Invocation unary(PteOp op, Random& random) {
  const bool limits =
      op == PteOp::aten_clamp || op == PteOp::aten_hardtanh || op == PteOp::aten_relu;
  const DType type = op == PteOp::aten_logical_not ? DType::kBool
                     : limits                      ? float_or_codes(random)
                                                   : DType::kF32;
  const Sizes sizes = small(random, random() % 4);
  Invocation call(op);
  call.add(shuffled(random, type, sizes));
  for (const char* letter = call.kernel->arguments + 1; *letter != 'o'; ++letter) {
    if (*letter == 'c') {
      call.add_text(random() % 2 == 0 ? "tanh" : "none");
    } else {
      call.add(static_cast<double>(uniform(random, -2, 3)));
    }
  }
  return std::move(call.add(shuffled(random, type, sizes)));
}

Invocation binary(PteOp op, Random& random) {
  const std::string_view name = abi::info(op).name;
  const bool logic = name.starts_with("aten::logical");
  const bool compares = name.find("or_out") != std::string_view::npos ||
                        name.find("lar_out") != std::string_view::npos;
  const bool arithmetic = name.starts_with("aten::add") || name.starts_with("aten::sub") ||
                          name.starts_with("aten::mul") || name.starts_with("aten::div");
  const bool mixed =
      op == PteOp::aten_maximum || op == PteOp::aten_minimum || (compares && !arithmetic);
  const DType from = logic                          ? DType::kBool
                     : name.starts_with("cortex_m") ? DType::kI8
                     : mixed && random() % 2 == 0   ? DType::kI8
                                                    : DType::kF32;
  const DType to = compares && !arithmetic ? DType::kBool : from;
  const Sizes sizes = small(random, random() % 4);
  Invocation call(op);
  call.add(shuffled(random, from, sizes));
  if (call.kernel->arguments[1] == 'T') {
    call.add(shuffled(random, from, narrowed(random, sizes)));
  } else {
    call.add(1.5);
  }
  if (call.kernel->arguments[2] == 'y') call.add(2.0);
  return std::move(call.add(shuffled(random, to, sizes)));
}

Invocation where(Random& random) {
  const Sizes sizes = small(random, random() % 4);
  const DType type = float_or_codes(random);
  Invocation call(PteOp::aten_where);
  call.add(shuffled(random, DType::kBool, narrowed(random, sizes)));
  call.add(shuffled(random, type, narrowed(random, sizes)));
  call.add(shuffled(random, type, sizes));
  return std::move(call.add(shuffled(random, type, sizes)));
}

Invocation one_copy(PteOp op, Random& random) {
  const size_t rank = 1 + random() % (op == PteOp::aten_t_copy ? 2 : 4);
  const Sizes sizes = small(random, rank);
  const auto last = static_cast<int64_t>(rank) - 1;
  const DType type = float_or_codes(random);
  Sizes y = sizes;
  Invocation call(op);
  const bool flat = op == PteOp::aten_view_copy;
  call.add(flat ? random_value(random, type, sizes) : shuffled(random, type, sizes));
  switch (op) {
    case PteOp::aten_alias_copy:
      break;
    case PteOp::aten_clone:
      call.add(random() % 2 == 0 ? kNone : int64_t{0});
      break;
    case PteOp::aten_flip:
      call.add(only(-1));
      break;
    case PteOp::aten_permute_copy: {
      const Order order = random_order(random, rank);
      for (size_t d = 0; d < rank; ++d) y[d] = sizes[order[d]];
      call.add(std::vector<int32_t>(order.begin(), order.end()));
      break;
    }
    case PteOp::aten_repeat: {
      y.insert(y.begin(), 2);
      y.back() *= 2;
      std::vector<int32_t> times(rank + 1, 1);
      times.front() = times.back() = 2;
      call.add(times);
      break;
    }
    case PteOp::aten_select_copy:
      call.add(last).add(int64_t{-1});
      y.pop_back();
      break;
    case PteOp::aten_t_copy:
      std::reverse(y.begin(), y.end());
      break;
    case PteOp::aten_transpose_copy:
      std::swap(y.front(), y.back());
      call.add(int64_t{0}).add(int64_t{-1});
      break;
    case PteOp::aten_unsqueeze_copy:
      y.push_back(1);
      call.add(int64_t{-1});
      break;
    default:  // aten_view_copy
      call.add({-1, 1});
      y = {call.values[0].count(), 1};
      break;
  }
  return std::move(call.add(flat ? make(type, y) : shuffled(random, type, y)));
}

Invocation squeeze(PteOp op, Random& random) {
  Sizes sizes = small(random, 1 + random() % 3);
  sizes[0] = 1;
  Invocation call(op);
  call.add(shuffled(random, DType::kF32, sizes));
  if (op == PteOp::aten_squeeze_copy_dim) {
    call.add(int64_t{0});
  } else {
    call.add(only(0));
  }
  sizes.erase(sizes.begin());
  return std::move(call.add(shuffled(random, DType::kF32, sizes)));
}

Invocation several(PteOp op, Random& random) {
  const Sizes piece = small(random, 1 + random() % 3);
  const DType type = float_or_codes(random);
  std::vector<Value> pieces;
  for (int i = 0; i < 2; ++i) pieces.push_back(shuffled(random, type, piece));
  Sizes whole = piece;
  Invocation call(op);
  if (op == PteOp::aten_stack || op == PteOp::aten_unbind_copy) {
    whole.insert(whole.begin(), 2);
  } else {
    whole[0] *= 2;
  }
  if (op == PteOp::aten_stack) {
    call.add_list(std::move(pieces)).add(int64_t{0});
    return std::move(call.add(shuffled(random, type, whole)));
  }
  call.add(shuffled(random, type, whole));
  if (op == PteOp::aten_split_copy) call.add(int64_t{piece[0]});
  if (op == PteOp::aten_split_with_sizes_copy) call.add({piece[0], piece[0]});
  return std::move(call.add(int64_t{0}).add_list(std::move(pieces)));
}

Invocation filled(PteOp op, Random& random) {
  const Sizes sizes = small(random, 1 + random() % 3);
  const DType type = float_or_codes(random);
  Invocation call(op);
  if (op == PteOp::aten_full_like) {
    call.add(shuffled(random, type, sizes)).add(3.0).add(kNone);
  } else if (op == PteOp::aten_constant_pad_nd) {
    call.add(shuffled(random, type, sizes)).add({1, 2}).add(-2.0);
    Sizes y = sizes;
    y.back() += 3;
    return std::move(call.add(shuffled(random, type, y)));
  } else {
    call.add(std::vector<int32_t>(sizes.begin(), sizes.end()));
    if (op == PteOp::aten_full) {
      call.add(-7.0);
    } else {
      call.add(std::vector<int32_t>{});
    }
  }
  return std::move(call.add(shuffled(random, type, sizes)));
}

Invocation indexed(PteOp op, Random& random) {
  const DType wide = random() % 2 == 0 ? DType::kI64 : DType::kI32;
  const int32_t count = uniform(random, 1, 4);
  Invocation call(op);
  if (op == PteOp::aten_embedding) {
    call.add(floats(random, {5, 3})).add(random_value(random, wide, {count}));
    call.add(int64_t{-1}).add(int64_t{0}).add(int64_t{0});
    return std::move(call.add(floats(random, {count, 3})));
  }
  call.add(shuffled(random, DType::kI8, {2, 5, 3})).add(int64_t{-2});
  call.add(random_value(random, wide, {count}));
  return std::move(call.add(shuffled(random, DType::kI8, {2, count, 3})));
}

Invocation upsample(Random& random) {
  const Sizes x = small(random, 4);
  Invocation call(PteOp::aten_upsample_nearest2d);
  call.add(shuffled(random, DType::kI8, x));
  if (random() % 2 == 0) {
    call.add({x[2] * 2, x[3] * 3}).add_doubles({});
  } else {
    call.add(std::vector<int32_t>{}).add_doubles({2.0, 3.0});
  }
  return std::move(call.add(shuffled(random, DType::kI8, {x[0], x[1], x[2] * 2, x[3] * 3})));
}

Invocation to_copy(Random& random) {
  static const DType kTypes[] = {DType::kI8,  DType::kI16, DType::kI32,
                                 DType::kI64, DType::kF32, DType::kBool};
  const Sizes sizes = small(random, random() % 4);
  const DType from = kTypes[random() % std::size(kTypes)];
  Invocation call(PteOp::dim_order_to_copy);
  call.add(shuffled(random, from, sizes)).add(int64_t{0}).add(std::vector<int32_t>{});
  return std::move(call.add(shuffled(random, random() % 2 == 0 ? from : DType::kF32, sizes)));
}

Invocation reduction(PteOp op, Random& random) {
  const Sizes sizes = small(random, 1 + random() % 4);
  const bool keep = random() % 2 == 0;
  const bool codes = op == PteOp::aten_amax || op == PteOp::aten_amin || op == PteOp::aten_argmax;
  const bool one_dim = op == PteOp::aten_any || op == PteOp::aten_argmax;
  const DType type = op == PteOp::aten_any ? DType::kBool
                     : codes               ? float_or_codes(random)
                                           : DType::kF32;
  Sizes y = sizes;
  y.back() = 1;
  if (!keep) y.pop_back();
  Invocation call(op);
  call.add(shuffled(random, type, sizes));
  if (one_dim) {
    call.add(int64_t{-1});
  } else {
    call.add(only(-1));
  }
  if (op == PteOp::aten_var) call.add(1.0);
  call.add(int64_t{keep});
  if (op == PteOp::aten_mean || op == PteOp::aten_sum) call.add(kNone);
  return std::move(call.add(shuffled(random, op == PteOp::aten_argmax ? DType::kI64 : type, y)));
}

Invocation soft(PteOp op, Random& random) {
  const Sizes sizes = small(random, 1 + random() % 3);
  Invocation call(op);
  call.add(shuffled(random, DType::kF32, sizes)).add(int64_t{-1}).add(int64_t{0});
  return std::move(call.add(shuffled(random, DType::kF32, sizes)));
}

Invocation layer_norm(Random& random) {
  const Sizes sizes = small(random, 2);
  Invocation call(PteOp::aten_layer_norm);
  call.add(floats(random, sizes)).add(only(sizes[1]));
  call.add(random() % 2 == 0 ? absent() : floats(random, {sizes[1]}));
  call.add(random() % 2 == 0 ? absent() : floats(random, {sizes[1]}));
  call.add(1e-5).add(floats(random, sizes)).add(floats(random, {sizes[0], 1}));
  return std::move(call.add(floats(random, {sizes[0], 1})));
}

Invocation batch_norm(Random& random) {
  const Sizes sizes = small(random, 2 + random() % 3);
  Invocation call(PteOp::aten_batch_norm);
  call.add(shuffled(random, DType::kF32, sizes));
  for (int i = 0; i < 4; ++i) call.add(floats(random, {sizes[1]}));
  call.add(0.1).add(1e-5).add(shuffled(random, DType::kF32, sizes));
  return std::move(call.add(make(DType::kF32, {1})).add(make(DType::kF32, {1})));
}

Invocation product(PteOp op, Random& random) {
  const int32_t m = uniform(random, 1, 5), k = uniform(random, 1, 5), n = uniform(random, 1, 5);
  const auto batched = [&](Sizes sizes) {
    if (op == PteOp::aten_bmm) sizes.insert(sizes.begin(), 2);
    return shuffled(random, DType::kF32, sizes);
  };
  Invocation call(op);
  if (op == PteOp::aten_linear) {
    call.add(floats(random, {2, m, k})).add(shuffled(random, DType::kF32, {n, k}));
    call.add(random() % 2 == 0 ? absent() : floats(random, {n}));
    return std::move(call.add(floats(random, {2, m, n})));
  }
  if (op == PteOp::aten_addmm) call.add(floats(random, {random() % 2 == 0 ? 1 : m, n}));
  call.add(batched({m, k})).add(batched({k, n}));
  if (op == PteOp::aten_addmm) call.add(0.5).add(2.0);
  return std::move(call.add(batched({m, n})));
}

Invocation convolution(Random& random) {
  const bool transposed = random() % 2 == 0;
  const size_t axes = 1 + random() % 2;
  const int32_t groups = uniform(random, 1, 2);
  const int32_t in = groups * uniform(random, 1, 2), out = groups * uniform(random, 1, 2);
  const int32_t kernel = uniform(random, 1, 3), stride = uniform(random, 1, 2);
  const int32_t pad = uniform(random, 0, 1), size = uniform(random, 3, 5);
  const int32_t after = transposed ? uniform(random, 0, stride - 1) : 0;
  const int32_t result = transposed ? (size - 1) * stride - 2 * pad + kernel + after
                                    : (size + 2 * pad - kernel) / stride + 1;
  const auto image = [&](int32_t channels, int32_t extent) {
    Sizes sizes = {2, channels};
    sizes.insert(sizes.end(), axes, extent);
    return shuffled(random, DType::kF32, sizes);
  };
  Sizes w = transposed ? Sizes{in, out / groups} : Sizes{out, in / groups};
  w.insert(w.end(), axes, kernel);
  const auto all = [&](int32_t value) { return std::vector<int32_t>(axes, value); };
  Invocation call(PteOp::aten_convolution);
  call.add(image(in, size)).add(shuffled(random, DType::kF32, w));
  call.add(random() % 2 == 0 ? absent() : floats(random, {out}));
  call.add(all(stride)).add(all(pad)).add(only(1)).add(int64_t{transposed}).add(all(after));
  return std::move(call.add(int64_t{groups}).add(image(out, result)));
}

Invocation image_pool(PteOp op, Random& random) {
  const int32_t kernel = uniform(random, 1, 3), stride = uniform(random, 1, 3);
  const int32_t pad = kernel / 2, in = uniform(random, kernel, 6);
  const int32_t out = (in + 2 * pad - kernel) / stride + 1;
  const Sizes x = {2, 3, in, in};
  Invocation call(op);
  if (op == PteOp::aten_adaptive_avg_pool2d) {
    call.add(shuffled(random, DType::kF32, x)).add({2, 3});
    return std::move(call.add(shuffled(random, DType::kF32, {2, 3, 2, 3})));
  }
  const Sizes y = {2, 3, out, out};
  if (op == PteOp::aten_avg_pool2d) {
    call.add(shuffled(random, DType::kF32, x))
        .add(only(kernel))
        .add({stride, stride})
        .add(only(pad));
    call.add(int64_t{0}).add(int64_t{1}).add(random() % 2 == 0 ? kNone : int64_t{3});
    return std::move(call.add(shuffled(random, DType::kF32, y)));
  }
  const DType type = float_or_codes(random);
  const Order order = random_order(random, 4);
  call.add(shuffled(random, type, x)).add({kernel, kernel}).add(only(stride)).add({pad, pad});
  call.add(std::vector<int32_t>{}).add(int64_t{0}).add(random_value(random, type, y, order));
  return std::move(call.add(random_value(random, DType::kI64, y, order)));
}

Invocation edge(PteOp op, Random& random) {
  static const DType kTypes[] = {DType::kI8, DType::kU8, DType::kI16};
  const DType coded = kTypes[random() % 3];
  const bool channels =
      op == PteOp::quantized_quantize_per_channel || op == PteOp::quantized_dequantize_per_channel;
  const bool quantize =
      op == PteOp::quantized_quantize_per_channel || op == PteOp::quantized_quantize_per_tensor;
  const Sizes sizes = small(random, 1 + random() % 3);
  Invocation call(op);
  call.add(shuffled(random, quantize ? DType::kF32 : coded, sizes));
  if (channels) {
    Value scales = make(DType::kF32, {sizes.back()});
    std::fill_n(scales.as<float>(), sizes.back(), 0.25F);
    Value zero_points = make(DType::kI64, {sizes.back()});
    std::memset(zero_points.data.get(), 0, zero_points.bytes);
    call.add(constant(std::move(scales))).add(constant(std::move(zero_points))).add(int64_t{-1});
  } else {
    call.add(0.25).add(int64_t{3});
  }
  call.add(int64_t{coded == DType::kU8 ? 0 : -128}).add(int64_t{127});
  call.add(int64_t{static_cast<uint8_t>(coded)});
  if (!quantize) call.add(random() % 2 == 0 ? kNone : int64_t{6});
  return std::move(call.add(shuffled(random, quantize ? coded : DType::kF32, sizes)));
}

Invocation quotient(Random& random) {
  const Sizes sizes = small(random, random() % 4);
  const Order order = random_order(random, sizes.size());
  const DType type = random() % 2 == 0 ? DType::kI8 : DType::kI16;
  Invocation call(PteOp::cortex_m_quantized_div);
  call.add(random_value(random, type, sizes, order)).add(int64_t{3});
  call.add(random_value(random, type, sizes, order)).add(int64_t{-4}).add(int64_t{5}).add(20.0);
  return std::move(call.add(random_value(random, type, sizes, order)));
}

Invocation batch_matmul(PteOp op, Random& random) {
  const int32_t m = uniform(random, 1, 5), k = uniform(random, 1, 9), n = uniform(random, 1, 5);
  Invocation call(op);
  call.add(random_codes(random, {2, m, k})).add(int64_t{3});
  call.add(random_codes(random, {2, n, k})).add(int64_t{-4});
  call.add(int64_t{5}).add(int64_t{1 << 30}).add(int64_t{-8});
  if (op == PteOp::cortex_m_quantized_batch_matmul) call.add(make(DType::kU8, {4}));
  return std::move(call.add(make(DType::kI8, {2, m, n})));
}

/// Variants of convolutions and pools that samples.cpp does not cover.
Invocation spatial(PteOp op, Random& random) {
  const std::string_view name = abi::info(op).name;
  const std::string_view letters = abi::info(op).arguments;
  const bool nhwc = name.find("_nhwc") != std::string_view::npos;
  const bool upward = name.find("transpose") != std::string_view::npos;
  const bool depthwise = name.find("depthwise") != std::string_view::npos;
  const int32_t kernel = uniform(random, 1, 3), stride = uniform(random, 1, 2);
  const int32_t pad = kernel / 2, in = uniform(random, 3, 6);
  const int32_t out =
      upward ? (in - 1) * stride - 2 * pad + kernel : (in + 2 * pad - kernel) / stride + 1;
  const bool pool = name.find("pool") != std::string_view::npos;
  const int32_t in_c = uniform(random, 1, 4), out_c = pool ? in_c : depthwise ? in_c * 2 : 5;
  const auto image = [&](int32_t channels, int32_t extent) {
    return nhwc ? random_codes(random, {2, extent, extent, channels})
                : random_codes(random, {2, channels, extent, extent}, kNhwc);
  };
  Invocation call(op);
  call.add(image(in_c, in));
  if (pool) {
    const bool average = name.find("avg") != std::string_view::npos;
    call.add({kernel, kernel}).add({stride, stride}).add({pad, pad});
    if (!average) {
      call.add({1, 1}).add(int64_t{0}).add(int64_t{7}).add(int64_t{7});
      call.add(int64_t{-128}).add(int64_t{127});
    } else {
      if (letters[4] == 'b') call.add(int64_t{0});
      call.add(int64_t{0}).add(int64_t{0}).add(int64_t{0});
      if (letters[letters.size() - 2] == 's') call.add(make(DType::kU8, {8}));
    }
    return std::move(call.add(image(out_c, out)));
  }
  call.add(constant(random_codes(
      random, depthwise ? Sizes{1, kernel, kernel, out_c} : Sizes{out_c, kernel, kernel, in_c})));
  call.add(random() % 2 == 0 ? absent()
                             : constant_words(std::vector<int32_t>(static_cast<size_t>(out_c), 9)));
  call.add({stride, stride}).add({pad, pad});
  if (upward) call.add({0, 0});
  call.add({1, 1});
  if (depthwise) call.add(int64_t{2});
  call.add(int64_t{5}).add(int64_t{-6});
  call.add(constant_words(std::vector<int32_t>(static_cast<size_t>(out_c), 1 << 30)));
  call.add(constant_words(std::vector<int32_t>(static_cast<size_t>(out_c), -7)));
  call.add(int64_t{-128}).add(int64_t{127});
  while (letters[call.args.size()] == 's') call.add(make(DType::kU8, {16}));
  return std::move(call.add(image(out_c, out)));
}

Invocation older_add(Random& random) {
  const Sizes sizes = small(random, random() % 4);
  Invocation call(PteOp::cortex_m_quantized_add_12);
  for (int i = 0; i < 2; ++i) {
    call.add(random_codes(random, sizes)).add(int64_t{3}).add(int64_t{1 << 30}).add(int64_t{-1});
  }
  call.add(int64_t{4}).add(int64_t{1 << 30}).add(int64_t{-18});
  return std::move(call.add(make(DType::kI8, sizes)));
}

/// The second half of sample_executorch().
Invocation later_sample(PteOp op, Random& random) {
  switch (op) {
    case PteOp::aten_split_copy:
    case PteOp::aten_split_with_sizes_copy:
    case PteOp::aten_stack:
    case PteOp::aten_unbind_copy:
      return several(op, random);
    case PteOp::aten_squeeze_copy_dim:
    case PteOp::aten_squeeze_copy_dims:
      return squeeze(op, random);
    case PteOp::aten_upsample_nearest2d:
      return upsample(random);
    case PteOp::aten_where:
      return where(random);
    case PteOp::cortex_m_quantized_add_12:
      return older_add(random);
    case PteOp::cortex_m_quantized_batch_matmul:
    case PteOp::cortex_m_quantized_batch_matmul_8:
      return batch_matmul(op, random);
    case PteOp::cortex_m_quantized_div:
      return quotient(random);
    case PteOp::dim_order_to_copy:
      return to_copy(random);
    case PteOp::quantized_dequantize_per_channel:
    case PteOp::quantized_dequantize_per_tensor:
    case PteOp::quantized_quantize_per_channel:
    case PteOp::quantized_quantize_per_tensor:
      return edge(op, random);
    default:
      break;
  }
  const std::string_view letters = abi::info(op).arguments;
  const std::string_view name = abi::info(op).name;
  if (name.find("2d") != std::string_view::npos) return spatial(op, random);
  const bool two = letters.starts_with("TT") || name.find("Scalar_out") != std::string_view::npos;
  return two && op != PteOp::aten_pow_scalar ? binary(op, random) : unary(op, random);
}

}  // namespace

Invocation sample_executorch(PteOp op, Random& random) {
  switch (op) {
    case PteOp::aten_adaptive_avg_pool2d:
    case PteOp::aten_avg_pool2d:
    case PteOp::aten_max_pool2d:
      return image_pool(op, random);
    case PteOp::aten_addmm:
    case PteOp::aten_bmm:
    case PteOp::aten_linear:
    case PteOp::aten_mm:
      return product(op, random);
    case PteOp::aten_amax:
    case PteOp::aten_amin:
    case PteOp::aten_any:
    case PteOp::aten_argmax:
    case PteOp::aten_mean:
    case PteOp::aten_sum:
    case PteOp::aten_var:
      return reduction(op, random);
    case PteOp::aten_batch_norm:
      return batch_norm(random);
    case PteOp::aten_alias_copy:
    case PteOp::aten_clone:
    case PteOp::aten_flip:
    case PteOp::aten_permute_copy:
    case PteOp::aten_repeat:
    case PteOp::aten_select_copy:
    case PteOp::aten_t_copy:
    case PteOp::aten_transpose_copy:
    case PteOp::aten_unsqueeze_copy:
    case PteOp::aten_view_copy:
      return one_copy(op, random);
    case PteOp::aten_constant_pad_nd:
    case PteOp::aten_full:
    case PteOp::aten_full_like:
    case PteOp::dim_order_empty:
      return filled(op, random);
    case PteOp::aten_convolution:
      return convolution(random);
    case PteOp::aten_embedding:
    case PteOp::aten_index_select:
      return indexed(op, random);
    case PteOp::aten_layer_norm:
      return layer_norm(random);
    case PteOp::aten_log_softmax:
    case PteOp::aten_softmax:
      return soft(op, random);
    case PteOp::aten_scalar_tensor: {
      Invocation call(op);
      call.add(2.0);
      return std::move(call.add(make(float_or_codes(random), {})));
    }
    default:
      return later_sample(op, random);
  }
}

}  // namespace thimble::kernels::test
