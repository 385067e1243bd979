// SPDX-License-Identifier: Apache-2.0
/* Thimble in a Zephyr application: the arena's memory region, log messages, and a profile. */
#ifndef THIMBLE_ZEPHYR_H
#define THIMBLE_ZEPHYR_H

#include <zephyr/devicetree.h>
#include <zephyr/linker/devicetree_regions.h>
#include <zephyr/toolchain.h>

#include "thimble.h"

#ifdef __cplusplus
extern "C" {
#endif

/* THIMBLE_ARENA_DEFINE(memory, digits_MEMORY_BYTES) defines a model's memory for thimble_init, in
 * the region of the chosen node `thimble,arena` if the devicetree has one, else in RAM:
 *
 *   / { chosen { thimble,arena = &isram; }; };
 */
#if DT_HAS_CHOSEN(thimble_arena)
#define THIMBLE_ARENA_SECTION \
  Z_GENERIC_SECTION(LINKER_DT_NODE_REGION_NAME_TOKEN(DT_CHOSEN(thimble_arena)))
#else
#define THIMBLE_ARENA_SECTION
#endif
#define THIMBLE_ARENA_DEFINE(name, bytes) \
  static unsigned char name[bytes] __aligned(16) THIMBLE_ARENA_SECTION

/* Loads the model. Logs its sizes, or the reason of a failure. Returns 0, or the status. */
thimble_status thimble_zephyr_init(thimble_model* model, const void* pte, size_t pte_bytes,
                                   const thimble_kernels* kernels, void* memory,
                                   size_t memory_bytes);

#ifdef CONFIG_THIMBLE_PROFILING
/* Cycles of one operator, in all runs since the start of the profile. */
typedef struct thimble_profile_row {
  const char* op;
  uint64_t cycles;
} thimble_profile_row;

typedef struct thimble_profile {
  thimble_profile_row* rows;
  uint32_t count; /* of rows; a model with more operators is refused with -ENOMEM */
  uint32_t used;
  uint64_t start; /* of the running operator */
} thimble_profile;

/* Measures the operators of the model until the profile's end. Starts Zephyr's timing functions. */
int thimble_profile_start(thimble_profile* profile, thimble_model* model);
/* Prints a row per operator, and ends the measurement. */
void thimble_profile_print(thimble_profile* profile, thimble_model* model);
#endif

#ifdef __cplusplus
}
#endif
#endif
