/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU plugin that counts the bytes that emulated firmware reads and writes in address ranges. It
 * uses the same plugin interface as insn_count.c.
 *
 *   -plugin access_count.so,out=FILE,range=NAME:FIRST:END,range=...
 *
 * Addresses are hexadecimal; END is the address after the last byte. At the end FILE has a line for
 * each range: name, bytes read, bytes written. An access counts for the range of its first byte. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/qemu_plugin/plugin.h"

enum { RANGES_MAX = 1024 };

struct range {
  char name[64];
  uint64_t first, end, read, written;
};

static struct range ranges[RANGES_MAX];
static size_t range_count, last_hit;

static bool holds(const struct range* range, uint64_t address) {
  return range->first <= address && address < range->end;
}

static void accessed(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void* user) {
  (void)cpu;
  (void)user;
  /* Consecutive accesses are mostly in the same range. */
  size_t at = last_hit;
  if (!holds(&ranges[at], address)) {
    for (at = 0; at < range_count && !holds(&ranges[at], address); at++) {
    }
    if (at == range_count) return;
    last_hit = at;
  }
  const uint64_t bytes = UINT64_C(1) << qemu_plugin_mem_size_shift(info);
  if (qemu_plugin_mem_is_store(info)) {
    ranges[at].written += bytes;
  } else {
    ranges[at].read += bytes;
  }
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(block);
  for (size_t i = 0; i < count; i++) {
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), accessed,
                                     PLUGIN_NO_REGISTERS, PLUGIN_READS_AND_WRITES, NULL);
  }
}

static void finish(qemu_plugin_id_t id, void* user) {
  (void)id;
  (void)user;
  FILE* file = open_output("access_count");
  if (file == NULL) return;
  for (size_t i = 0; i < range_count; i++) {
    fprintf(file, "%s %" PRIu64 " %" PRIu64 "\n", ranges[i].name, ranges[i].read,
            ranges[i].written);
  }
  fclose(file);
}

static bool add_range(const char* text) {
  if (range_count == RANGES_MAX) return false;
  struct range* range = &ranges[range_count];
  const char* colon = strchr(text, ':');
  if (colon == NULL || (size_t)(colon - text) >= sizeof range->name) return false;
  memcpy(range->name, text, (size_t)(colon - text));
  char* end = NULL;
  range->first = strtoull(colon + 1, &end, 16);
  if (*end != ':') return false;
  range->end = strtoull(end + 1, &end, 16);
  range_count++;
  return *end == 0;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; i++) {
    const bool is_range = strncmp(argv[i], "range=", 6) == 0 && add_range(argv[i] + 6);
    if (!is_range && !parse_output_option(argv[i])) return refuse_argument("access_count", argv[i]);
  }
  return begin_counting(id, "access_count", translated, finish);
}
