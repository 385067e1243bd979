/* SPDX-License-Identifier: Apache-2.0 */
/* Loading, running, states, refusals and the profile, as ztest cases. */
#include <zephyr/ztest.h>

#include "digits.h"
#include "model.h"
#include "stream.h"

THIMBLE_ARENA_DEFINE(memory, digits_MEMORY_BYTES);
THIMBLE_ARENA_DEFINE(stream_memory, stream_MEMORY_BYTES);
static thimble_model model, stream;
static uint8_t input[256] __aligned(4), stream_input[280] __aligned(4);

static void load(void) {
  zassert_ok(thimble_zephyr_init(&model, digits_pte, digits_pte_bytes, digits_kernels(), memory,
                                 sizeof memory));
}

static uint32_t run_digits(uint8_t value) {
  thimble_view y;
  zassert_ok(set_bytes(&model, value, input, sizeof input));
  zassert_ok(thimble_run(&model));
  zassert_ok(thimble_output(&model, 0, &y));
  return hash_of(y.data, y.bytes);
}

static uint32_t run_stream(uint8_t value) {
  thimble_view y;
  zassert_ok(set_bytes(&stream, value, stream_input, sizeof stream_input));
  zassert_ok(thimble_run(&stream));
  zassert_ok(thimble_output(&stream, 0, &y));
  return hash_of(y.data, y.bytes);
}

ZTEST(thimble_runtime, test_sizes_are_those_of_the_header) {
  thimble_needs needs;
  zassert_ok(thimble_size(digits_pte, digits_pte_bytes, digits_kernels(), &needs));
  zassert_equal(needs.arena_bytes, digits_ARENA_BYTES);
  zassert_equal(needs.state_bytes, digits_STATE_BYTES);
  zassert_equal(digits_pte_bytes, digits_PTE_BYTES);
}

ZTEST(thimble_runtime, test_a_run_depends_on_its_input_only) {
  load();
  uint32_t first = run_digits(1);
  zassert_not_equal(run_digits(60), first);
  zassert_equal(run_digits(1), first);
  load();
  zassert_equal(run_digits(1), first);
}

ZTEST(thimble_runtime, test_states_are_kept_and_reset) {
  zassert_ok(thimble_zephyr_init(&stream, stream_pte, stream_pte_bytes, stream_kernels(),
                                 stream_memory, sizeof stream_memory));
  uint32_t first = run_stream(62), second = run_stream(62);
  zassert_not_equal(first, second);
  zassert_ok(thimble_reset(&stream));
  zassert_equal(run_stream(62), first);
  zassert_equal(run_stream(62), second);
}

ZTEST(thimble_runtime, test_two_models_do_not_disturb_each_other) {
  load();
  uint32_t digits = run_digits(1);
  zassert_ok(thimble_zephyr_init(&stream, stream_pte, stream_pte_bytes, stream_kernels(),
                                 stream_memory, sizeof stream_memory));
  uint32_t first = run_stream(62);
  zassert_equal(run_digits(1), digits);
  zassert_ok(thimble_reset(&stream));
  zassert_equal(run_stream(62), first);
}

ZTEST(thimble_runtime, test_refusals) {
  zassert_not_ok(thimble_zephyr_init(&model, digits_pte, digits_pte_bytes, digits_kernels(), memory,
                                     sizeof memory - 16));
  zassert_not_ok(
      thimble_zephyr_init(&model, digits_pte, 100, digits_kernels(), memory, sizeof memory));
  zassert_not_ok(thimble_zephyr_init(&model, digits_pte, digits_pte_bytes, digits_kernels(),
                                     memory + 1, sizeof memory - 1));
  /* A table of the kernels of another model. */
  zassert_not_ok(thimble_zephyr_init(&model, digits_pte, digits_pte_bytes, stream_kernels(), memory,
                                     sizeof memory));
}

ZTEST(thimble_runtime, test_profile) {
  static thimble_profile_row rows[16];
  thimble_profile profile = {rows, ARRAY_SIZE(rows), 0, 0};
  thimble_profile small = {rows, 1, 0, 0};
  load();
  zassert_equal(thimble_profile_start(&small, &model), -ENOMEM);
  zassert_ok(thimble_profile_start(&profile, &model));
  uint32_t with_profile = run_digits(1);
  thimble_profile_print(&profile, &model);
  uint64_t sum = 0;
  zassert_true(profile.used > 1);
  for (uint32_t i = 0; i < profile.used; ++i) sum += rows[i].cycles;
  zassert_true(sum > 0);
  zassert_equal(run_digits(1), with_profile);
  uint64_t after = 0;
  for (uint32_t i = 0; i < profile.used; ++i) after += rows[i].cycles;
  zassert_equal(after, sum, "measured after the end");
}

ZTEST_SUITE(thimble_runtime, NULL, NULL, NULL, NULL, NULL);
