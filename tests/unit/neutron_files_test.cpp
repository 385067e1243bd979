// SPDX-License-Identifier: Apache-2.0
// Kernel lists in whole files, run by the integer model with the driver interface: outputs, the
// time of weight transfers, counters and refusals.

#include <gtest/gtest.h>
#include <cstring>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "abi/status.h"
#include "engines/neutron/container/driver.h"
#include "engines/neutron/delegate/backend.h"
#include "engines/neutron/hostrun/neutron.h"
#include "hostrun/host.h"
#include "hostrun/kernel_source.h"
#include "hostrun/npu_profile.h"
#include "neutron_list_file.h"
#include "neutron_sample.h"
#include "runtime_support.h"

namespace thimble::neutron_test {
namespace {

// `Status` is the status of the list's check.
using DeviceStatus = abi::Status;
using formats::neutron::MemoryOrder;
using runtime_test::LoadedModel;
using runtime_test::plan_of;
using runtime_test::tensor_of;
using runtime_test::written;

struct Npu {
  Npu() {
    EXPECT_EQ(neutronInit(), NEUTRON_NO_ERROR);
    npu.error = &error;
    npu.networks = &network;
    npu.network_count = 1;
    table.delegates = &delegates;
  }
  Npu(const Npu&) = delete;
  ~Npu() { EXPECT_EQ(neutronDeinit(), NEUTRON_NO_ERROR); }
  [[nodiscard]] const thimble_kernels* kernels() const {
    return reinterpret_cast<const thimble_kernels*>(&table);
  }
  int32_t error = 0;
  thimble_neutron_network network = {};
  thimble_neutron npu = {};
  runtime::DelegateBackend row = runtime::neutron::backend(&npu);
  runtime::DelegateBackends delegates = runtime::delegates_of(&row, 1);
  kernels::KernelTable table = kernels::all_kernels();
};

thimble_status run(LoadedModel& loaded, const std::vector<Bytes>& inputs) {
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const auto status = thimble_set_input(&loaded.model, i, inputs[i].data(), inputs[i].size());
    if (status != 0) return status;
  }
  return thimble_run(&loaded.model);
}
Bytes output(const LoadedModel& loaded, uint32_t index) {
  thimble_view view = {};
  EXPECT_EQ(thimble_output(&loaded.model, index, &view), 0);
  const auto* const data = static_cast<const uint8_t*>(view.data);
  return {data, data + view.bytes};
}

TEST(NeutronFiles, OutputsEqualModel) {
  const List list = sample_list();
  for (const bool planned : {false, true}) {
    Npu npu;
    CallFile file = file_of(list);
    file.planned = planned;
    LoadedModel loaded(written(file.program()), npu.kernels());
    ASSERT_EQ(loaded.status, 0) << npu.error;
    EXPECT_EQ(loaded.needs.arena_bytes, 384U + file.scratch_bytes);
    for (uint8_t step = 0; step < 5; ++step) {
      std::vector<Bytes> inputs = sample_inputs(list);
      for (Bytes& input : inputs) input[0] = step;
      ASSERT_EQ(run(loaded, inputs), 0);
      const auto wanted = run_bytes(list.program(), list.weights, inputs);
      for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(output(loaded, i), wanted.outputs[i]);
    }
    EXPECT_EQ(npu.network.calls, 5U);
    EXPECT_EQ(npu.network.cycles, 5U * 4321);
  }
}

TEST(NeutronFiles, ProfileEqualsModel) {
  static Bytes seen;
  Npu npu;
  npu.npu.profiled = [](const thimble_neutron*, const void*, const void* records, uint32_t bytes) {
    const auto* const data = static_cast<const uint8_t*>(records);
    seen.assign(data, data + bytes);
  };
  const List list = sample_list();
  LoadedModel loaded(written(file_of(list).program()), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  ASSERT_EQ(run(loaded, sample_inputs(list)), 0);
  EXPECT_EQ(seen, run_bytes(list.program(), list.weights, sample_inputs(list)).profile);
  EXPECT_EQ(seen.size(), 16U * (sample::kKernels + 1));
}

// --- Weights transferred by a DMA ----------------------------------------------------------------

/// Two channels. A copy is completed by the wait for it, not before.
struct Dma {
  struct Channel {
    void* to = nullptr;
    const void* from = nullptr;
    uint32_t bytes = 0;
  };
  std::array<Channel, 2> channels;
  std::string log;
  std::function<void(uint32_t channel)> at_wait = [](uint32_t) {};
};
Dma dma;

void start(void* to, void* from, uint32_t bytes, uint32_t channel) {
  ASSERT_LT(channel, 2U);
  EXPECT_EQ(dma.channels[channel].bytes, 0U) << "the channel is still at work";
  dma.channels[channel] = {to, from, bytes};
  std::memset(to, 0xBB, bytes);  // a read before the wait gets wrong values
  dma.log += fmt::format("copy{} ", channel);
}
void finish(uint32_t channel) {
  Dma::Channel& at = dma.channels[channel];
  EXPECT_NE(at.bytes, 0U) << "nothing was started";
  dma.at_wait(channel);
  std::memcpy(at.to, at.from, at.bytes);
  at = {};
  dma.log += fmt::format("wait{} ", channel);
}

constexpr uint32_t kStages = 4;

/// A chain of depthwise convolutions, whose weights are transferred to two slots in turn.
List chain() {
  List list;
  const Dims image = {1, 2, 2, 8};
  View from = dense_view(Memory::kInput, list.input(32), 0, image);
  for (uint32_t i = 0; i < kStages; ++i) {
    View to = dense_view(Memory::kOutput, list.output(32), 0, image);
    KernelRecord& record = list.kernel(Kernel::kConv2DDepthwise, {from}, to);
    record.kernel_h = record.kernel_w = 1;
    record.multiplier[2] = 1 << 30;
    record.shift[2] = 1;  // a factor of 1
    while (list.weights.size() % 16 != 0) list.weights.push_back(0);
    record.weights = list.codes(std::vector<int8_t>(8, static_cast<int8_t>(i % 2 == 0 ? 2 : -1)));
    record.prefetch_from = record.weights;
    record.prefetch_bytes = 8;
    record.prefetch_to = 16 * (i % 2);
    from = to;
  }
  list.header.prefetch_bytes = 32;
  return list;
}

TEST(NeutronFiles, WeightTransfersOverlapKernels) {
  Npu npu;
  npu.npu.memory = {start, finish};
  const List list = chain();
  ASSERT_EQ(check_list(list), Status::kOk);
  LoadedModel loaded(written(file_of(list).program()), npu.kernels());
  ASSERT_EQ(loaded.status, 0) << npu.error;
  Bytes x(32);
  for (uint32_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i - 7);
  dma = {};
  std::memset(loaded.memory->data(), 0, loaded.needs.arena_bytes);  // to detect written outputs
  // At the wait for the weights of kernel k, kernel k - 1 has written its output: it ran during the
  // transfer.
  uint32_t waited = 0;
  dma.at_wait = [&](uint32_t) {
    for (uint32_t k = 0; k < kStages; ++k) {
      const Bytes made = output(loaded, k);
      const bool any = std::any_of(made.begin(), made.end(), [](uint8_t b) { return b != 0; });
      EXPECT_EQ(any, k < waited) << "kernel " << k << ", wait " << waited;
    }
    ++waited;
  };
  ASSERT_EQ(run(loaded, {x}), 0);
  EXPECT_EQ(waited, kStages);
  EXPECT_EQ(dma.log, "copy0 wait0 copy1 wait1 copy0 wait0 copy1 wait1 ");
  // The outputs are the input times 2, -2, -4 and 4.
  const std::array<int, kStages> factors = {2, -2, -4, 4};
  for (uint32_t k = 0; k < kStages; ++k) {
    const Bytes made = output(loaded, k);
    for (uint32_t i = 0; i < made.size(); ++i) {
      EXPECT_EQ(static_cast<int8_t>(made[i]), factors[k] * static_cast<int8_t>(x[i])) << k;
    }
  }
}

// --- Memory placement and orders -----------------------------------------------------------------

/// Returns a list with a lookup table on an image [1, C, 2, 3], channels-last.
List image_list(uint32_t channels) {
  List list;
  const uint32_t bytes = 6 * channels;
  const Dims dims = {1, 2, 3, channels};
  std::vector<int8_t> table(256);
  for (int i = 0; i < 256; ++i) table[static_cast<size_t>(i)] = static_cast<int8_t>(i * 7);
  KernelRecord& record =
      list.kernel(Kernel::kTable, {dense_view(Memory::kInput, list.input(bytes), 0, dims)},
                  dense_view(Memory::kOutput, list.output(bytes), 0, dims));
  record.table = list.codes(table);
  list.inputs[0] = list.outputs[0] = {4, 1, 0, {1, channels, 2, 3, 1, 1}, 0.5F, -3, bytes};
  return list;
}

TEST(NeutronFiles, ImagesInBothOrders) {
  for (const uint32_t channels : {1U, 5U}) {
    const List list = image_list(channels);
    for (const bool in_last : {false, true}) {
      for (const bool out_last : {false, true}) {
        Npu npu;
        CallFile file = file_of(list);
        file.inputs[0].last = in_last;
        file.outputs[0].last = out_last;
        auto host = hostrun::HostModel::load(written(file.program()), "image");
        ASSERT_TRUE(host.ok()) << host.error().message;
        // Tensors are logical: the file's memory orders do not matter.
        ir::Tensor x;
        x.shape = host->interface().inputs[0].shape;
        x.dtype = host->interface().inputs[0].dtype;
        for (uint32_t i = 0; i < 6 * channels; ++i)
          x.bytes.push_back(static_cast<std::byte>(i * 3));
        const auto y = host->run({&x, 1});
        ASSERT_TRUE(y.ok()) << y.error().message;
        for (size_t i = 0; i < x.bytes.size(); ++i) {
          const auto code = static_cast<int8_t>(x.bytes[i]);
          EXPECT_EQ((*y)[0].bytes[i], static_cast<std::byte>((code + 128) * 7))
              << channels << in_last << out_last;
        }
      }
    }
  }
}

/// A tensor may be planned inside the program's scratch, but not over the address tables.
TEST(NeutronFiles, TensorsMayBePlannedInScratch) {
  const auto status_at = [](uint32_t offset, bool input) {
    List list = image_list(4);
    list.header.scratch_bytes = 64;
    CallFile file = file_of(list);
    file.planned = true;
    pte::Program program = file.program();
    // Scratch starts after the output, at 32: 48 bytes of addresses, then 64 bytes.
    tensor_of(program, input ? 0 : 1).allocation = pte::Allocation{1, 32 + offset};
    const Npu npu;
    return LoadedModel(written(program), npu.kernels()).size_status;
  };
  constexpr auto kCorrupt = static_cast<int32_t>(DeviceStatus::kCorrupt);
  for (const bool input : {false, true}) {
    EXPECT_EQ(status_at(0, input), kCorrupt);
    EXPECT_EQ(status_at(32, input), kCorrupt);
    EXPECT_EQ(status_at(48, input), 0);
    EXPECT_EQ(status_at(48 + 40, input), 0);
  }
  List list = chain();
  list.header.scratch_bytes = 16;
  CallFile file = file_of(list);
  file.planned = true;
  pte::Program program = file.program();
  const uint32_t prefetch = 4 * 32 + 64 + 16;  // outputs, addresses, scratch
  for (const uint32_t offset : {prefetch - 16, prefetch}) {
    tensor_of(program, 1).allocation->offset = offset;
    const Npu npu;
    EXPECT_EQ(LoadedModel(written(program), npu.kernels()).size_status, kCorrupt) << offset;
  }
}

// --- Refusals ------------------------------------------------------------------------------------

struct Case {
  const char* name;
  DeviceStatus expected;
  std::function<void(List&)> change = [](List&) {};
  std::function<void(CallFile&)> edit = [](CallFile&) {};
};
const Case kCases[] = {
    {"nothing", DeviceStatus::kOk},
    {"a shape of as many bytes", DeviceStatus::kBadShape, [](List&) {},
     [](CallFile& file) {
       file.inputs[0].sizes = {1, 5, 3, 2};
     }},
    {"a shape of more dimensions", DeviceStatus::kBadShape, [](List&) {},
     [](CallFile& file) {
       file.outputs[0].sizes = {1, 5, 2, 3, 1};
     }},
    {"another order than the list has", DeviceStatus::kBadPayload, [](List&) {},
     [](CallFile& file) { file.payload.input_formats[0] = MemoryOrder::kRowMajor; }},
    {"a record that is none", DeviceStatus::kBadPayload,
     [](List& list) { list.inputs[0].reserved = 1; }},
    {"no kernels", DeviceStatus::kBadPayload, [](List& list) { list.kernels.clear(); }},
};

TEST(NeutronFiles, EachInvalidFileReturnsItsStatus) {
  for (const Case& each : kCases) {
    List list = image_list(5);
    each.change(list);
    CallFile file = file_of(list);
    each.edit(file);
    const Npu npu;
    const LoadedModel loaded(written(file.program()), npu.kernels());
    EXPECT_EQ(loaded.size_status, static_cast<int32_t>(each.expected)) << each.name;
    EXPECT_EQ(loaded.status != 0, loaded.size_status != 0) << each.name;
  }
}

/// For a kernel that the model refuses, the driver's code gives the kernel and the reason.
TEST(NeutronFiles, ModelErrorsNameKernelAndReason) {
  List list = image_list(5);
  list.kernels[0].operands[0].offset = 1;
  const Bytes bad = list.program();
  CallFile file = file_of(list);
  {
    const Npu npu;
    const LoadedModel loaded(written(file.program()), npu.kernels());
    EXPECT_EQ(loaded.size_status, 0);
    EXPECT_EQ(loaded.status, static_cast<int32_t>(DeviceStatus::kDriverError));
    EXPECT_EQ(NEUTRON_ERROR_COMPONENT(npu.error), uint32_t{NEUTRON_OF_DRIVER});
    EXPECT_EQ(NEUTRON_ERROR_CATEGORY(npu.error), uint32_t{NEUTRON_MODEL_PROGRAM});
    EXPECT_EQ(NEUTRON_ERROR_CODE(npu.error), static_cast<uint32_t>(Status::kBadView));
  }
  const auto category = [](int32_t error) { return NEUTRON_ERROR_CATEGORY(error); };
  file = file_of(image_list(5));
  {
    Npu npu;
    EXPECT_EQ(neutronDeinit(), NEUTRON_NO_ERROR);
    const LoadedModel loaded(written(file.program()), npu.kernels());
    EXPECT_EQ(loaded.status, static_cast<int32_t>(DeviceStatus::kDriverError));
    EXPECT_EQ(category(npu.error), uint32_t{NEUTRON_MODEL_NOT_READY});
  }
  Npu npu;
  LoadedModel loaded(written(file.program()), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(neutronSuspend(), NEUTRON_NO_ERROR);
  EXPECT_EQ(run(loaded, {Bytes(30)}), static_cast<int32_t>(DeviceStatus::kDriverError));
  EXPECT_EQ(category(npu.error), uint32_t{NEUTRON_MODEL_NOT_READY});
  EXPECT_EQ(neutronResume(), NEUTRON_NO_ERROR);
  EXPECT_EQ(run(loaded, {Bytes(30)}), 0);
  thimble_neutron_forget(&npu.npu);
  EXPECT_EQ(run(loaded, {Bytes(30)}), static_cast<int32_t>(DeviceStatus::kDriverError));
  EXPECT_EQ(category(npu.error), uint32_t{NEUTRON_MODEL_HANDLE});
  NeutronModelHandle none = nullptr;
  NeutronModelConfig config = {};
  EXPECT_EQ(category(neutronModelPrepare(&config, &none)), uint32_t{NEUTRON_MODEL_MEMORY});
}

/// The host's messages name the invalid kernel, a wrong content hash, and foreign microcode.
TEST(NeutronFiles, HostMessagesNameKernelHashAndMicrocode) {
  const auto message = [](const pte::Program& program) {
    const auto model = hostrun::HostModel::load(written(program), "m.pte");
    return model.ok() ? std::string("ok") : model.error().message;
  };
  const List good = sample_list();
  EXPECT_EQ(message(file_of(good).program()), "ok");
  List list = good;
  list.kernels[sample::kMaxPool].kernel_h = 0;
  EXPECT_EQ(message(file_of(list).program()).substr(0, 54),
            "m.pte: delegate 0, ThimbleNeutronModel: kernel 14: win")
      << message(file_of(list).program());
  pte::Program program = file_of(good).program();
  program.delegate_blobs[0].bytes[300] ^= std::byte{1};
  EXPECT_NE(message(program).find("m.pte: delegate 0, ThimbleNeutronModel: "), std::string::npos);
  program.delegate_blobs[0].bytes.resize(20);
  EXPECT_EQ(message(program),
            "m.pte: delegate 0, ThimbleNeutronModel: Neutron payload, byte 20: ends here, expected"
            " at least 76 bytes");
  CallFile vendor;
  vendor.inputs = {{{1, 4}}};
  vendor.outputs = {{{1, 4}}};
  vendor.payload.input_formats = vendor.payload.output_formats = {MemoryOrder::kRowMajor};
  vendor.payload.input_map = vendor.payload.output_map = {0};
  vendor.payload.arg_count = 1;
  vendor.payload.program = microcode(1, 1, 1, 0);
  EXPECT_EQ(message(vendor.program()).substr(0, 67),
            "m.pte: delegate 0, NeutronBackend: microcode runs only on the NPU. ");
}

TEST(NeutronFiles, HostReportsEstimatedKernels) {
  const auto profiles = hostrun::profiles_of(file_of(sample_list()).program(), "m.pte");
  ASSERT_TRUE(profiles.ok()) << profiles.error().message;
  ASSERT_EQ(profiles->size(), 1U);
  const hostrun::NpuProfile& profile = (*profiles)[0];
  EXPECT_EQ(profile.cycles, 4321);
  ASSERT_EQ(profile.operations.size(), size_t{sample::kKernels});
  EXPECT_EQ(profile.operations[0].name, "Conv2DStandard 1x4x4x8");
  EXPECT_EQ(profile.operations[0].macs, 3456U);
  EXPECT_EQ(profile.operations[sample::kTable].name, "Table LOGISTIC 1x4x4x8");
  double at = 0;
  for (const hostrun::NpuOperation& operation : profile.operations) {
    EXPECT_EQ(operation.start, at);
    at = operation.end;
  }
  EXPECT_EQ(at, 100 * 29 + 28 * 29 / 2) << "each kernel's own estimate";
}

TEST(NeutronFiles, GeneratedKernelTableContainsDelegate) {
  const auto interface = hostrun::read_interface(file_of(image_list(2)).program(), "m.pte");
  ASSERT_TRUE(interface.ok());
  const auto text = hostrun::kernel_source(*interface, abi::Isa::kDsp, "m.pte");
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_NE(text->find("#include \"engines/neutron/delegate/backend.h\"\n"), std::string::npos);
  EXPECT_NE(text->find("{\"ThimbleNeutronModel\", &thimble_neutron_npu, runtime::neutron::open, "
                       "runtime::neutron::check,\n     runtime::neutron::run, "
                       "runtime::neutron::call_scratch, runtime::neutron::persistent_bytes},\n"),
            std::string::npos)
      << *text;
}

/// Randomly changed lists in files, with a matching hash, give an error status or a run that
/// writes only to the model's memory.
TEST(NeutronFiles, RandomlyChangedFilesAreSafe) {
  constexpr int kChanges = 3000;
  const List list = sample_list();
  const CallFile file = file_of(list);
  std::mt19937 random(17);
  int ran = 0;
  for (int i = 0; i < kChanges; ++i) {
    CallFile changed = file;
    Bytes program(list.program());
    const size_t at = sizeof(neutron::Header) + random() % (program.size() - 64);
    program[at] ^= static_cast<uint8_t>(1U << random() % 8);
    rehash(program, list.weights);
    program.resize(changed.payload.program.size());
    changed.payload.program = file_bytes(program);
    const thimble::Bytes bytes = written(changed.program());
    Npu npu;
    SCOPED_TRACE(testing::Message() << "change " << i);
    ran += runtime_test::damaged_file_runs(bytes, npu.kernels()) ? 1 : 0;
  }
  EXPECT_GT(ran, kChanges / 100);
  EXPECT_LT(ran, kChanges);
}

}  // namespace
}  // namespace thimble::neutron_test
