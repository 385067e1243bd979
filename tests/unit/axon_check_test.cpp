// SPDX-License-Identifier: Apache-2.0
// Layer lists that check() refuses: one case per rule, each a change of a list that it accepts.

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "axon_sample.h"

namespace thimble::axon_test {
namespace {

using axon::Activation;
using axon::Axis;
using axon::Status;

struct Case {
  const char* name;
  Status expected;
  std::function<void(List&)> change;
};

LayerRecord& at(List& list, SampleLayer layer) {
  return list.layers[layer];
}

/// Turns the convolution of the sample, 3x3 of 2 channels, into a pointwise layer.
void make_pointwise(LayerRecord& conv) {
  conv.operation = Operation::kPointwise;
  conv.kernel_h = conv.kernel_w = 1;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 0;
  conv.weight_bytes /= 9;
}

const Case kCases[] = {
    {"nothing", Status::kOk, [](List&) {}},
    // The header.
    {"a name of capitals", Status::kBadHeader, [](List& l) { l.header.name[0] = 'L'; }},
    {"a name that starts with a digit", Status::kBadHeader,
     [](List& l) { l.header.name[0] = '1'; }},
    {"no name", Status::kBadHeader, [](List& l) { std::memset(l.header.name, 0, 64); }},
    {"a name without an end", Status::kBadHeader,
     [](List& l) { std::memset(l.header.name, 'a', 64); }},
    {"bytes behind the name", Status::kBadHeader, [](List& l) { l.header.name[63] = 'a'; }},
    {"interlayer memory of odd size", Status::kBadHeader,
     [](List& l) { l.header.interlayer_bytes += 4; }},
    {"interlayer memory without end", Status::kBadHeader,
     [](List& l) { l.header.interlayer_bytes = 0xFFFFFFF0; }},
    {"a reserved byte", Status::kBadHeader, [](List& l) { l.header.reserved1 = 1; }},
    {"no layers", Status::kBadHeader, [](List& l) { l.layers.clear(); }},
    {"no outputs", Status::kBadHeader, [](List& l) { l.outputs.clear(); }},
    {"21 outputs", Status::kBadHeader,
     [](List& l) {
       while (l.outputs.size() < 21) l.outputs.push_back(l.outputs[1]);
     }},
    {"20 outputs", Status::kOk,
     [](List& l) {
       while (l.outputs.size() < 20) l.outputs.push_back(l.outputs[1]);
     }},
    {"9 inputs", Status::kBadHeader,
     [](List& l) {
       while (l.inputs.size() < 9) l.external({}, 1, 0);
     }},
    {"8 inputs", Status::kOk,
     [](List& l) {
       while (l.inputs.size() < 8) l.external({}, 1, 0);
     }},
    {"65 variables", Status::kBadHeader, [](List& l) { l.variables.resize(65, l.variables[0]); }},
    // Inputs and outputs.
    {"an input from the interlayer memory", Status::kBadIo,
     [](List& l) { l.inputs[0].source = Source::kInterlayer; }},
    {"an output to the caller", Status::kBadIo,
     [](List& l) { l.outputs[1].source = Source::kExternal; }},
    {"an output in the constants", Status::kBadIo,
     [](List& l) { l.outputs[1].source = Source::kConstant; }},
    {"an input with another number", Status::kBadIo, [](List& l) { l.inputs[0].index = 1; }},
    {"an input of three bytes", Status::kBadIo, [](List& l) { l.inputs[0].element_bytes = 3; }},
    {"an input without elements", Status::kBadIo, [](List& l) { l.inputs[0].h = 0; }},
    {"an input with gaps", Status::kBadIo, [](List& l) { l.inputs[0].row_stride += 1; }},
    {"an input beyond all memory", Status::kBadIo,
     [](List& l) { l.inputs[0].h = l.inputs[0].c = 0xFFFF; }},
    {"an output past its memory", Status::kBadIo,
     [](List& l) { l.outputs[1].offset = l.header.interlayer_bytes; }},
    {"an output of a layer that is not", Status::kBadIo,
     [](List& l) { l.outputs[1].producer = kSampleLayers; }},
    {"an input of a layer", Status::kBadIo, [](List& l) { l.inputs[0].producer = 0; }},
    {"a first reserved byte of an input", Status::kBadIo,
     [](List& l) { l.inputs[0].reserved0 = 1; }},
    {"a last reserved byte of an output", Status::kBadIo,
     [](List& l) { l.outputs[1].reserved1[6] = 1; }},
    {"a zero point past int8", Status::kBadIo, [](List& l) { l.outputs[1].zero_point = 128; }},
    // Variables.
    {"a variable outside of its memory", Status::kBadVariable,
     [](List& l) { l.variables[0].offset = 16; }},
    {"a variable at an odd place", Status::kBadVariable,
     [](List& l) { l.variables[0].offset = 2; }},
    {"a variable of four-byte elements", Status::kBadVariable,
     [](List& l) { l.variables[0].element_bytes = 4; }},
    {"a first content past int8", Status::kBadVariable,
     [](List& l) { l.variables[0].initial = 200; }},
    {"a variable without bytes", Status::kBadVariable, [](List& l) { l.variables[0].bytes = 0; }},
    {"a variable that no input brings", Status::kBadVariable,
     [](List& l) { l.inputs.erase(l.inputs.begin() + 1); }},
    {"a variable that goes out twice", Status::kBadVariable,
     [](List& l) { l.outputs.push_back(l.outputs[0]); }},
    {"a variable that stays inside", Status::kOk,
     [](List& l) { l.outputs.erase(l.outputs.begin()); }},
    {"two variables in one place", Status::kBadVariable,
     [](List& l) {
       l.variable({1, 1, 1, 4}, 1, 0);
       l.variables[1].offset = 4;
     }},
    // Operands.
    {"an operand of an input that is not", Status::kBadOperand,
     [](List& l) { at(l, kSampleConv).inputs[0].index = 2; }},
    {"an operand past its input", Status::kBadOperand,
     [](List& l) { at(l, kSampleConv).inputs[0].offset = 1; }},
    {"an operand past the interlayer memory", Status::kBadOperand,
     [](List& l) { at(l, kSampleConv).output.offset = l.header.interlayer_bytes - 16; }},
    {"rows closer than their elements", Status::kBadOperand,
     [](List& l) { at(l, kSampleConv).inputs[0].row_stride = 6; }},
    {"a result at an odd place", Status::kBadOperand,
     [](List& l) { at(l, kSampleConv).output.offset += 2; }},
    {"a result with odd rows", Status::kBadOperand,
     [](List& l) { at(l, kSampleConv).output.row_stride = 7; }},
    {"a result in the constants", Status::kBadOperand,
     [](List& l) { at(l, kSampleConv).output.source = Source::kConstant; }},
    {"a result to the caller", Status::kBadOperand,
     [](List& l) { at(l, kSampleConv).output.source = Source::kExternal; }},
    {"no source", Status::kBadOperand,
     [](List& l) { at(l, kSampleConv).inputs[0].source = Source::kNone; }},
    {"a variable that is not", Status::kBadOperand,
     [](List& l) { at(l, kSampleAdd).inputs[1].index = 1; }},
    {"a variable read as int16", Status::kBadOperand,
     [](List& l) { at(l, kSampleAdd).inputs[1].element_bytes = 2; }},
    {"an operand that a later layer makes", Status::kBadOperand,
     [](List& l) { at(l, kSampleMax).inputs[0].producer = kSampleMax; }},
    {"a constant past the constants", Status::kBadOperand,
     [](List& l) { at(l, kSampleMultiply).inputs[1].offset = 1 << 20; }},
    {"int16 weights' input", Status::kBadOperand,
     [](List& l) {
       Operand& in = at(l, kSampleFc).inputs[0];
       in.element_bytes = 2;
       in.row_stride = 4;
       in.c = 3;
     }},
    {"an operand behind the last", Status::kBadOperand,
     [](List& l) { at(l, kSampleConv).inputs[1].w = 1; }},
    {"sigmoid of int8", Status::kBadOperand,
     [](List& l) { at(l, kSampleTanh).inputs[0].element_bytes = 1; }},
    {"softmax of int16", Status::kBadOperand,
     [](List& l) { at(l, kSampleSoftmax).inputs[0].element_bytes = 2; }},
    {"a copy that changes the element", Status::kBadOperand,
     [](List& l) {
       Operand& out = at(l, kSamplePad).output;
       out.element_bytes = 2;
       out.c = 1;
     }},
    // Layers.
    {"no such operation", Status::kBadOperation,
     [](List& l) { at(l, kSampleConv).operation = static_cast<Operation>(12); }},
    {"no such activation", Status::kBadLayer,
     [](List& l) { at(l, kSampleConv).activation = static_cast<Activation>(4); }},
    {"two inputs of a convolution", Status::kBadLayer,
     [](List& l) {
       at(l, kSampleConv).input_count = 2;
       at(l, kSampleConv).inputs[1] = at(l, kSampleConv).inputs[0];
     }},
    {"one input of an addition", Status::kBadLayer,
     [](List& l) {
       at(l, kSampleAdd).input_count = 1;
       at(l, kSampleAdd).inputs[1] = {};
     }},
    {"another output height", Status::kBadLayer, [](List& l) { at(l, kSampleConv).output.h = 5; }},
    {"a kernel of no rows", Status::kBadLayer, [](List& l) { at(l, kSampleConv).kernel_h = 0; }},
    {"a stride of zero", Status::kBadLayer, [](List& l) { at(l, kSampleConv).stride_x = 0; }},
    {"a kernel larger than the picture", Status::kBadLayer,
     [](List& l) { at(l, kSampleConv).kernel_h = 9; }},
    {"fewer weights", Status::kBadLayer, [](List& l) { --at(l, kSampleConv).weight_bytes; }},
    {"weights past the constants", Status::kBadLayer,
     [](List& l) { at(l, kSampleConv).weights = 1 << 20; }},
    {"bias at an odd place", Status::kBadLayer, [](List& l) { at(l, kSampleConv).bias += 2; }},
    {"no bias", Status::kOk, [](List& l) { at(l, kSampleConv).bias = axon::kAbsent; }},
    {"other channels of a depthwise", Status::kBadLayer,
     [](List& l) { at(l, kSampleDepthwise).inputs[0].c = 2; }},
    {"a pointwise of 3x3", Status::kBadLayer,
     [](List& l) { at(l, kSampleConv).operation = Operation::kPointwise; }},
    {"a pointwise", Status::kOk, [](List& l) { make_pointwise(at(l, kSampleConv)); }},
    {"another output height of a pointwise", Status::kBadLayer,
     [](List& l) {
       make_pointwise(at(l, kSampleConv));
       at(l, kSampleConv).output.h = 5;
     }},
    {"padding of an average pool", Status::kBadLayer,
     [](List& l) {
       LayerRecord& a = at(l, kSampleAverage);
       a.pad_top = 1;
       a.kernel_h = 4;
     }},
    {"padding as large as the kernel", Status::kBadLayer,
     [](List& l) {
       LayerRecord& m = at(l, kSampleMax);
       m.pad_top = 2;
       m.output.h = 4;
     }},
    {"a max pool that scales", Status::kBadLayer,
     [](List& l) { at(l, kSampleMax).scale_shift_count = 1; }},
    {"operands that do not broadcast", Status::kBadLayer,
     [](List& l) { at(l, kSampleAdd).inputs[1].w = 4; }},
    {"a concat along another axis", Status::kBadLayer,
     [](List& l) { at(l, kSampleConcat).axis = Axis::kHeight; }},
    {"an axis that is none", Status::kBadLayer,
     [](List& l) { at(l, kSampleConcat).axis = static_cast<Axis>(3); }},
    {"a slice without attributes", Status::kBadLayer,
     [](List& l) { at(l, kSampleSlice).attribute_count = 6; }},
    {"a slice past its end", Status::kBadLayer,
     [](List& l) {
       at(l, kSampleSlice).attributes = l.ints({1, 0, 0, 4, 3, 2, 1, 1, 1});
     }},
    {"a slice from before its start", Status::kBadLayer,
     [](List& l) {
       at(l, kSampleSlice).attributes = l.ints({-1, 0, 0, 3, 3, 2, 1, 1, 1});
     }},
    {"a slice that stands still", Status::kBadLayer,
     [](List& l) {
       at(l, kSampleSlice).attributes = l.ints({1, 0, 0, 3, 3, 2, 0, 1, 1});
     }},
    {"a pad that does not add up", Status::kBadLayer,
     [](List& l) { at(l, kSamplePad).pad_top = 1; }},
    {"an assignment to no variable", Status::kBadLayer,
     [](List& l) { at(l, kSampleAssign).output = at(l, kSampleTanh).output; }},
    {"blocks that do not add up", Status::kBadLayer,
     [](List& l) {
       at(l, kSampleBlocks).attributes = l.ints({2, 3, 0, 0, 0, 1});
     }},
    {"blocks of nothing", Status::kBadLayer,
     [](List& l) {
       at(l, kSampleBlocks).attributes = l.ints({0, 3, 0, 0, 1, 1});
     }},
    {"a resize of channels", Status::kBadLayer, [](List& l) { at(l, kSampleResize).output.c = 1; }},
    {"a reshape to more elements", Status::kBadLayer,
     [](List& l) { at(l, kSampleReshape).output.w = 20; }},
    {"tanh with a zero point", Status::kBadLayer,
     [](List& l) { at(l, kSampleTanh).output.zero_point = 1; }},
    {"a reserved byte of a layer", Status::kBadLayer,
     [](List& l) { at(l, kSampleConv).reserved0[1] = 1; }},
    // Scales.
    {"a shift of 31", Status::kBadScale,
     [](List& l) { scale(l, at(l, kSampleAverage), {200}, {31}); }},
    {"zero point * 2^shift past 32 bits", Status::kBadScale,
     [](List& l) {
       LayerRecord& c = at(l, kSampleConv);
       scale(l, c, {3, 4}, {29});
     }},
    {"zero point * 2^shift just inside", Status::kOk,
     [](List& l) {
       LayerRecord& c = at(l, kSampleConv);
       scale(l, c, {3, 4}, {28});
       c.scale_shift_count = 1;
     }},
    {"two scales of three channels", Status::kBadScale,
     [](List& l) { at(l, kSampleConv).scale_shift_count = 2; }},
    {"multipliers past the constants", Status::kBadScale,
     [](List& l) { at(l, kSampleConv).multipliers = 1 << 20; }},
    {"multipliers at an odd place", Status::kBadScale,
     [](List& l) { at(l, kSampleConv).multipliers += 1; }},
    {"shifts past the constants", Status::kBadScale,
     [](List& l) { at(l, kSampleConv).shifts = 1 << 20; }},
    {"an addition that leaks", Status::kBadScale,
     [](List& l) { at(l, kSampleAdd).activation = Activation::kLeakyRelu; }},
    {"an addition past 32 bits", Status::kBadScale,
     [](List& l) {
       scale(l, at(l, kSampleAdd), {1 << 23, 1 << 23}, {20});
     }},
    {"an addition just inside", Status::kOk,
     [](List& l) {
       scale(l, at(l, kSampleAdd), {1 << 23, (1 << 23) - 1}, {20});
     }},
    {"a concat that scales", Status::kBadScale,
     [](List& l) { at(l, kSampleConcat).scale_shift_count = 1; }},
    // Overlaps.
    {"a convolution over its input", Status::kBadOverlap,
     [](List& l) {
       at(l, kSampleDepthwise).output.offset = at(l, kSampleDepthwise).inputs[0].offset + 12;
     }},
    {"a concat beside its piece", Status::kBadOverlap,
     [](List& l) { at(l, kSampleConcat).inputs[1].offset -= 4; }},
    {"a slice one row off", Status::kBadOverlap,
     [](List& l) { at(l, kSampleSlice).output.offset -= 4; }},
    {"a reshape half in place", Status::kBadOverlap,
     [](List& l) { at(l, kSampleReshape).output.offset += 4; }},
    {"a product half in place", Status::kBadOverlap,
     [](List& l) { at(l, kSampleMultiply).output.offset += 4; }},
};

TEST(AxonCheck, EachInvalidListReturnsItsStatus) {
  for (const Case& each : kCases) {
    List list = sample_list();
    each.change(list);
    const Status status = check_bytes(list.build());
    EXPECT_EQ(status, each.expected) << each.name << ": " << axon::status_text(status);
  }
}

/// Rules about the container as a whole.
TEST(AxonCheck, RefusesInvalidContainerFraming) {
  const std::vector<uint8_t> good = sample_list().build();
  const auto with = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> bytes = good;
    bytes[at] = value;
    return check_bytes(bytes);
  };
  EXPECT_EQ(check_bytes(good), Status::kOk);
  EXPECT_EQ(with(0, 'X'), Status::kNoContainer);
  EXPECT_EQ(with(4, 2), Status::kBadVersion);
  EXPECT_EQ(with(6, 64), Status::kBadHeader);
  EXPECT_EQ(with(32, 144), Status::kBadHeader);  // the input section is at a wrong offset
  EXPECT_EQ(with(48, 1), Status::kBadHeader);    // cycles differ from the sum of the layers
  std::vector<uint8_t> longer = good;
  longer.resize(longer.size() + 32);
  EXPECT_EQ(check_bytes(longer), Status::kOk) << "a container may stand in more bytes";
  for (size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_EQ(check_bytes({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)}),
              Status::kTruncated);
  }
  const AlignedBytes shifted(good.size() + 16);
  std::memcpy(shifted.data() + 8, good.data(), good.size());
  EXPECT_EQ(axon::check(shifted.data() + 8, static_cast<uint32_t>(good.size())),
            Status::kMisaligned);
}

TEST(AxonCheck, ReportsIndexOfInvalidLayer) {
  List list = sample_list();
  at(list, kSampleSoftmax).output.zero_point = 0;
  const std::vector<uint8_t> bytes = list.build();
  const AlignedBytes data{ByteView(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size())};
  uint32_t layer = 0;
  EXPECT_EQ(axon::check(data.data(), static_cast<uint32_t>(bytes.size()), layer),
            Status::kBadLayer);
  EXPECT_EQ(layer, kSampleSoftmax);
}

TEST(AxonCheck, ContentHashCoversEveryByte) {
  std::vector<uint8_t> bytes = sample_list().build();
  const auto size = static_cast<uint32_t>(bytes.size());
  uint64_t stored;
  std::memcpy(&stored, &bytes[56], sizeof stored);
  EXPECT_EQ(axon::content_hash(bytes.data(), size), stored);
  for (size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] ^= 1;
    const bool own = at >= 56 && at < 64;
    EXPECT_EQ(axon::content_hash(bytes.data(), size) == stored, own) << at;
    bytes[at] ^= 1;
  }
  // Known values of FNV-1a for the empty string and for "a".
  EXPECT_EQ(axon::content_hash(bytes.data(), 0), 0xCBF29CE484222325U);
  const uint8_t letter = 'a';
  EXPECT_EQ(axon::content_hash(&letter, 1), 0xAF63DC4C8601EC8CU);
}

}  // namespace
}  // namespace thimble::axon_test
