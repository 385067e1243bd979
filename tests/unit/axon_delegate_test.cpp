// SPDX-License-Identifier: Apache-2.0
// The delegate ThimbleAxonModel in whole files: results, counters, state, and refusals.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <random>

#include "abi/status.h"
#include "axon_program.h"
#include "engines/axon/delegate/backend.h"
#include "engines/axon/hostrun/axon.h"
#include "formats/pte/write.h"
#include "hostrun/host.h"
#include "hostrun/kernel_source.h"

namespace thimble::axon_test {
namespace {

namespace pte = formats::pte;
using abi::Status;
using runtime_test::LoadedModel;
using runtime_test::plan_of;
using runtime_test::tensor_of;
using runtime_test::written;

/// The model that the delegate calls, with `rows` counter rows.
struct Npu {
  explicit Npu(uint32_t rows = 2) {
    npu.run = thimble_axon_model_run;
    npu.load = thimble_axon_model_load;
    npu.counters = counters.data();
    npu.counter_count = rows;
    table.delegates = &delegates;
  }
  Npu(const Npu&) = delete;
  [[nodiscard]] const thimble_kernels* kernels() const {
    return reinterpret_cast<const thimble_kernels*>(&table);
  }
  std::array<thimble_axon_counter, 4> counters = {};
  thimble_axon npu = {};
  runtime::DelegateBackend row = runtime::axon::backend(&npu);
  runtime::DelegateBackends delegates = runtime::delegates_of(&row, 1);
  kernels::KernelTable table = kernels::all_kernels();
};

Tensor image_input(int32_t from) {
  Tensor tensor = {{1, 2, 6, 7}, 1, 4, {}};
  for (int32_t i = 0; i < 84; ++i) tensor.values.push_back((from + i * 29) % 256 - 128);
  return tensor;
}

std::vector<int32_t> output(const LoadedModel& loaded, uint32_t index) {
  thimble_view view = {};
  EXPECT_EQ(thimble_output(&loaded.model, index, &view), 0);
  const auto* const data = static_cast<const int8_t*>(view.data);
  return {data, data + view.bytes};
}

thimble_status run(LoadedModel& loaded, const Tensor& in) {
  const std::vector<uint8_t> bytes = bytes_of(in);
  const thimble_status status = thimble_set_input(&loaded.model, 0, bytes.data(), bytes.size());
  return status != 0 ? status : thimble_run(&loaded.model);
}

/// Outputs of the list alone for an image and a state, in the order of the program's outputs.
std::vector<Tensor> expected(const std::vector<uint8_t>& list, const Tensor& in,
                             const Tensor& state) {
  std::vector<Tensor> results = execute(list, {in, state});
  return {results[1], results[2], results[0]};
}

Tensor first_state() {
  return {{1, 1, 1, 5}, 1, -3, std::vector<int32_t>(5, kFirstState)};
}

TEST(AxonDelegate, OutputsEqualModelForEveryStep) {
  const std::vector<uint8_t> list = sample_list().build();
  const Npu npu;
  LoadedModel loaded(written(axon_program(list)), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(loaded.needs.saved_bytes, 5U);
  Tensor state = first_state();
  std::vector<Tensor> after_ten;
  std::array<uint8_t, 5> saved = {};
  for (int32_t step = 0; step < 100; ++step) {
    ASSERT_EQ(run(loaded, image_input(step)), 0);
    const auto wanted = expected(list, image_input(step), state);
    for (uint32_t i = 0; i < 3; ++i) ASSERT_EQ(output(loaded, i), wanted[i].values) << step;
    state = wanted[2];
    if (step != 10) continue;
    ASSERT_EQ(thimble_save(&loaded.model, saved.data(), saved.size()), 0);
    after_ten = {state};
  }
  EXPECT_NE(state.values, first_state().values);
  // Restores the state after the tenth step, then resets to the initial state.
  ASSERT_EQ(thimble_restore(&loaded.model, saved.data(), saved.size()), 0);
  ASSERT_EQ(run(loaded, image_input(5)), 0);
  EXPECT_EQ(output(loaded, 2), expected(list, image_input(5), after_ten[0])[2].values);
  ASSERT_EQ(thimble_reset(&loaded.model), 0);
  ASSERT_EQ(run(loaded, image_input(0)), 0);
  EXPECT_EQ(output(loaded, 2), expected(list, image_input(0), first_state())[2].values);
}

/// Scratch is placed after the arena, as for files without planned scratch.
TEST(AxonDelegate, ScratchIsPlacedAfterArenaWithoutPlan) {
  const std::vector<uint8_t> list = sample_list().build();
  pte::Program program = axon_program(list);
  std::erase_if(program.named_data, [](const auto& e) { return e.key == abi::kDelegatesKey; });
  plan_of(program).memory_sizes[1] = kScratchOffset;
  const Npu npu;
  LoadedModel loaded(written(program), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  ASSERT_EQ(run(loaded, image_input(3)), 0);
  EXPECT_EQ(output(loaded, 0), expected(list, image_input(3), first_state())[0].values);
}

/// An output that is planned at the offset where the list writes it is not copied.
TEST(AxonDelegate, OutputPlannedAtLayerResultIsNotCopied) {
  List made = sample_list();
  const uint32_t place = made.outputs[2].offset;
  const std::vector<uint8_t> list = made.build();
  pte::Program program = axon_program(list);
  tensor_of(program, kSmall).allocation->offset = kScratchOffset + place;
  const Npu npu;
  LoadedModel loaded(written(program), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  ASSERT_EQ(run(loaded, image_input(3)), 0);
  EXPECT_EQ(output(loaded, 1), expected(list, image_input(3), first_state())[1].values);
}

/// The state is planned at the variable's offset. Its row has five bytes; the row pitch is eight.
TEST(AxonDelegate, StatePlannedAtItsVariable) {
  const std::vector<uint8_t> list = sample_list().build();
  pte::Program program = axon_program(list);
  axon::Header header;
  std::memcpy(&header, list.data(), sizeof header);
  const uint32_t place = kScratchOffset + header.interlayer_bytes;
  tensor_of(program, kState).allocation->offset = place;
  const size_t record = sizeof(abi::StateHeader) + offsetof(abi::StateRecord, arena_offset);
  std::memcpy(&program.named_data[1].bytes[record], &place, sizeof place);
  const Npu npu;
  LoadedModel loaded(written(program), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  ASSERT_EQ(run(loaded, image_input(3)), 0);
  EXPECT_EQ(output(loaded, 2), expected(list, image_input(3), first_state())[2].values);
}

/// A program with two lists, one of which is called twice.
pte::Program two_lists() {
  List other = sample_list();
  std::strncpy(other.header.name, "other_1", sizeof other.header.name);
  other.layers[0].cycles = 1000;
  pte::Program program = axon_program(sample_list().build());
  pte::ExecutionPlan& plan = plan_of(program);
  program.delegate_blobs.push_back({pte::BlobLocation::kSegment, 16, as_file_bytes(other.build())});
  plan.delegates.push_back({axon::kDelegateId, 1, {}});
  const auto args = std::get<pte::DelegateCall>(plan.chains[0].instructions[0]).args;
  plan.chains[0].instructions.push_back(pte::DelegateCall{1, args});
  plan.chains[0].instructions.push_back(pte::DelegateCall{0, args});
  program.named_data[0].bytes.resize(2 * sizeof(abi::DelegateRecord));
  std::memcpy(&program.named_data[0].bytes[sizeof(abi::DelegateRecord)],
              program.named_data[0].bytes.data(), sizeof(abi::DelegateRecord));
  return program;
}

TEST(AxonDelegate, CountersByList) {
  const Npu npu;
  LoadedModel loaded(written(two_lists()), npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  const uint64_t cycles = 10 * kSampleLayers;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(run(loaded, image_input(i)), 0);
  const thimble_axon_counter* const first = thimble_axon_find(&npu.npu, "list_0123456789ab");
  const thimble_axon_counter* const other = thimble_axon_find(&npu.npu, "other_1");
  ASSERT_TRUE(first != nullptr && other != nullptr);
  EXPECT_EQ(first->calls, 6U);
  EXPECT_EQ(first->cycles, 6 * cycles);
  EXPECT_EQ(other->calls, 3U);
  EXPECT_EQ(other->cycles, 3 * (cycles + 990));
  EXPECT_EQ(thimble_axon_total(&npu.npu).calls, 9U);
  EXPECT_EQ(thimble_axon_total(&npu.npu).cycles, first->cycles + other->cycles);
  std::string seen;
  thimble_axon_dump(
      &npu.npu,
      [](void* user, const thimble_axon_counter* counter) {
        *static_cast<std::string*>(user) += counter->name + fmt::format(" {} ", counter->calls);
      },
      &seen);
  EXPECT_EQ(seen, "list_0123456789ab 6 other_1 3 ");
  EXPECT_EQ(thimble_axon_find(&npu.npu, "other_"), nullptr);
  EXPECT_EQ(thimble_axon_find(&npu.npu, "other_12"), nullptr);
  thimble_axon_reset(&npu.npu, "other_1");
  EXPECT_EQ(other->calls, 0U);
  EXPECT_EQ(first->calls, 6U);
  thimble_axon_reset(&npu.npu, nullptr);
  EXPECT_EQ(thimble_axon_total(&npu.npu).calls, 0U);
  ASSERT_EQ(run(loaded, image_input(0)), 0);
  EXPECT_EQ(other->calls, 1U);
  thimble_axon_forget(&npu.npu);
  EXPECT_EQ(thimble_axon_find(&npu.npu, "other_1"), nullptr);
}

TEST(AxonDelegate, MoreListsThanCounterRows) {
  const Bytes file = written(two_lists());
  const Npu one(1);
  const LoadedModel refused(file, one.kernels());
  EXPECT_EQ(refused.size_status, 0) << "size takes no rows";
  EXPECT_EQ(refused.status, static_cast<int32_t>(Status::kBadArgument));
  Npu none;
  none.npu.counters = nullptr;
  none.npu.counter_count = 0;
  LoadedModel loaded(file, none.kernels());
  ASSERT_EQ(loaded.status, 0);
  EXPECT_EQ(run(loaded, image_input(0)), 0);
}

/// A driver that measures cycles, then one that fails. Only completed runs are counted.
TEST(AxonDelegate, DriverCyclesAreCountedOnSuccessOnly) {
  const Bytes file = written(axon_program(sample_list().build()));
  Npu npu;
  npu.npu.run = [](const thimble_axon*, thimble_axon_job* job) {
    EXPECT_STREQ(job->name, "list_0123456789ab");
    EXPECT_EQ(job->cycles, 10 * uint32_t{kSampleLayers});
    axon::Header header;
    std::memcpy(&header, job->container, sizeof header);
    EXPECT_EQ(job->content_hash, header.content_hash);
    EXPECT_EQ(job->container_bytes, header.bytes);
    EXPECT_EQ(static_cast<uint8_t*>(job->persistent) - static_cast<uint8_t*>(job->interlayer),
              static_cast<std::ptrdiff_t>(header.interlayer_bytes));
    job->cycles = 123;
    return 0;
  };
  LoadedModel loaded(file, npu.kernels());
  ASSERT_EQ(loaded.status, 0);
  ASSERT_EQ(run(loaded, image_input(0)), 0);
  EXPECT_EQ(thimble_axon_total(&npu.npu).cycles, 123U);
  npu.npu.run = [](const thimble_axon*, thimble_axon_job*) {
    return static_cast<int32_t>(Status::kNpuTimeout);
  };
  EXPECT_EQ(run(loaded, image_input(0)), static_cast<int32_t>(Status::kNpuTimeout));
  EXPECT_EQ(thimble_axon_total(&npu.npu).calls, 1U);
}

struct Case {
  const char* name;
  Status expected;
  std::function<void(pte::Program&, Npu&)> change;
};

std::vector<int32_t>& args_of(pte::Program& program) {
  return std::get<pte::DelegateCall>(plan_of(program).chains[0].instructions[0]).args;
}
void change_list(pte::Program& program, const std::function<void(List&)>& change) {
  List list = sample_list();
  change(list);
  program.delegate_blobs[0].bytes = as_file_bytes(list.build());
}

const Case kCases[] = {
    {"nothing", Status::kOk, [](auto&, auto&) {}},
    {"no driver", Status::kMissingDelegate, [](auto&, Npu& npu) { npu.npu.run = nullptr; }},
    {"a delegate without a device", Status::kMissingDelegate,
     [](auto&, Npu& npu) { npu.row.device = nullptr; }},
    {"another delegate's name", Status::kMissingDelegate,
     [](auto& p, auto&) { plan_of(p).delegates[0].id = "ThimbleAxonModel2"; }},
    {"no list", Status::kBadPayload, [](auto& p, auto&) { p.delegate_blobs[0].bytes.clear(); }},
    {"half a list", Status::kBadPayload,
     [](auto& p, auto&) { p.delegate_blobs[0].bytes.resize(700); }},
    {"another magic", Status::kBadPayload,
     [](auto& p, auto&) { p.delegate_blobs[0].bytes[0] = std::byte{'X'}; }},
    {"a layer that the model refuses", Status::kBadPayload,
     [](auto& p, auto&) { change_list(p, [](List& l) { l.layers[3].input_count = 0; }); }},
    {"the same for a driver that does not look", Status::kOk,
     [](auto& p, Npu& npu) {
       change_list(p, [](List& l) { l.layers[3].input_count = 0; });
       npu.npu.load = nullptr;
     }},
    {"a driver that refuses", Status::kNpuVersion,
     [](auto&, Npu& npu) {
       npu.npu.load = [](const thimble_axon*, const void*, uint32_t) {
         return static_cast<int32_t>(Status::kNpuVersion);
       };
     }},
    {"an argument less", Status::kBadPayload, [](auto& p, auto&) { args_of(p).pop_back(); }},
    {"an argument more", Status::kBadPayload, [](auto& p, auto&) { args_of(p).push_back(kSmall); }},
    {"floats", Status::kBadDType,
     [](auto& p, auto&) {
       tensor_of(p, kShares).scalar_type = pte::ScalarType::kFloat;
       tensor_of(p, kShares).sizes = {1, 1};
     }},
    {"int16", Status::kBadDType,
     [](auto& p, auto&) {
       tensor_of(p, kShares).scalar_type = pte::ScalarType::kShort;
       tensor_of(p, kShares).sizes = {1, 2};
     }},
    {"another size", Status::kBadShape,
     [](auto& p, auto&) {
       tensor_of(p, kShares).sizes = {1, 3};
     }},
    {"channels last", Status::kBadDimOrder,
     [](auto& p, auto&) {
       tensor_of(p, kImage).dim_order = {0, 2, 3, 1};
     }},
    {"channels last of one pixel", Status::kOk,
     [](auto& p, auto&) {
       tensor_of(p, kShares).sizes = {1, 4, 1, 1};
       tensor_of(p, kShares).dim_order = {0, 2, 3, 1};
     }},
    {"an output that begins before scratch ends", Status::kCorrupt,
     [](auto& p, auto&) { tensor_of(p, kShares).allocation->offset = kScratchOffset + 704; }},
    {"an output that reaches into scratch", Status::kCorrupt,
     [](auto& p, auto&) { tensor_of(p, kSmall).allocation->offset = kScratchOffset - 16; }},
    {"an input in scratch", Status::kCorrupt,
     [](auto& p, auto&) {
       tensor_of(p, kImage).allocation = pte::Allocation{1, kScratchOffset};
     }},
    {"an input right before scratch", Status::kOk,
     [](auto& p, auto&) {
       plan_of(p).memory_sizes[1] += 96;
       abi::DelegateRecord record = {};
       record.scratch_offset = kScratchOffset + 96;
       std::memcpy(p.named_data[0].bytes.data(), &record, sizeof record);
       tensor_of(p, kImage).allocation = pte::Allocation{1, kScratchOffset + 12};
     }},
    {"scratch past the arena", Status::kCorrupt,
     [](auto& p, auto&) { plan_of(p).memory_sizes[1] -= 16; }},
    {"an output that is a constant", Status::kCorrupt,
     [](auto& p, auto&) {
       p.constants.push_back(Bytes(4));
       tensor_of(p, kShares).allocation.reset();
       tensor_of(p, kShares).data_buffer_idx = 1;
     }},
};

TEST(AxonDelegate, EachInvalidFileReturnsItsStatus) {
  for (const Case& each : kCases) {
    pte::Program program = axon_program(sample_list().build());
    Npu npu;
    each.change(program, npu);
    const LoadedModel loaded(written(program), npu.kernels());
    EXPECT_EQ(loaded.size_status, static_cast<int32_t>(each.expected)) << each.name;
    EXPECT_EQ(loaded.status != 0, loaded.size_status != 0) << each.name;
  }
}

/// Randomly changed lists in files give an error status, or a run that writes only to the model's
/// memory.
TEST(AxonDelegate, RandomlyChangedFilesAreSafe) {
  constexpr int kChanges = 3000;
  const std::vector<uint8_t> good = sample_list().build();
  const pte::Program program = axon_program(good);
  const Bytes file = written(program);
  const auto* const begin = reinterpret_cast<const uint8_t*>(file.data());
  const auto at = std::search(begin, begin + file.size(), good.begin(), good.end()) - begin;
  std::mt19937 random(7);
  int ran = 0;
  for (int i = 0; i < kChanges; ++i) {
    Bytes bytes = file;
    const size_t change = random() % 10 == 0 ? random() % file.size()
                                             : static_cast<size_t>(at) + random() % good.size();
    bytes[change] ^= static_cast<std::byte>(1U << random() % 8);
    const Npu npu;
    SCOPED_TRACE(testing::Message() << "change " << i);
    LoadedModel loaded(bytes, npu.kernels());
    if (loaded.status != 0 || loaded.needs.arena_bytes > size_t{1} << 20) continue;
    ran += run_with_input_buffers(loaded) == 0 ? 1 : 0;
  }
  EXPECT_GT(ran, kChanges / 100);
  EXPECT_LT(ran, kChanges);
}

/// The host's messages name the invalid layer and a wrong content hash.
TEST(AxonDelegate, HostMessagesNameLayerAndHash) {
  const auto message = [](const std::function<void(pte::Program&)>& change) {
    pte::Program program = axon_program(sample_list().build());
    change(program);
    const auto model = hostrun::HostModel::load(written(program), "m.pte");
    return model.ok() ? std::string("ok") : model.error().message;
  };
  EXPECT_EQ(message([](auto&) {}), "ok");
  EXPECT_EQ(
      message([](auto& p) { change_list(p, [](List& l) { l.layers[kSampleMax].kernel_h = 0; }); }),
      "m.pte: delegate 0, ThimbleAxonModel: layer 2: shapes, kernel, constants or attributes"
      " do not fit the operation");
  const std::string hash =
      message([](auto& p) { p.delegate_blobs[0].bytes.back() ^= std::byte{1}; });
  EXPECT_NE(hash.find("list_0123456789ab: content hash"), std::string::npos) << hash;
}

TEST(AxonDelegate, GeneratedKernelTableContainsDelegate) {
  const pte::Program program = axon_program(sample_list().build());
  const auto interface = hostrun::read_interface(program, "m.pte");
  ASSERT_TRUE(interface.ok());
  const auto text = hostrun::kernel_source(*interface, abi::Isa::kDsp, "m.pte");
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_NE(text->find("#include \"engines/axon/delegate/backend.h\"\n"), std::string::npos);
  EXPECT_NE(text->find("{\"ThimbleAxonModel\", &thimble_axon_npu, runtime::axon::open, "
                       "runtime::axon::check,\n     runtime::axon::run},\n"),
            std::string::npos)
      << *text;
}

}  // namespace
}  // namespace thimble::axon_test
