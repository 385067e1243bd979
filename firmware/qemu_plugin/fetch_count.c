/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU plugin that counts how emulated firmware reads its instructions, and how many of the reads
 * instruction caches of several sizes hold. It uses the same plugin interface as insn_count.c.
 *
 *   -plugin fetch_count.so,out=FILE
 *
 * A read is a taken branch to another line of 8 bytes, or the step to the next line. A cache keeps
 * the lines that were used last: it holds a line if fewer other lines than it has were used since.
 * With a prefetch that is fast enough, only branches read, except those to the line or to the next
 * one, and the cache keeps only lines that branches read. At the end FILE has these lines:
 *
 *   instructions 5012345
 *   bytes 10031122           of the executed instructions
 *   jumps 402311             branches to another line
 *   reads 1604211
 *   misses 16 1203321        reads that a cache of 16 bytes does not hold; a line for each size
 *   jump_misses 16 20331     the same of branches, with a prefetch */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/qemu_plugin/plugin.h"

enum { LINE_BYTES = 8, LINES_MAX = 1024, SIZES = 11, SMALLEST_BYTES = 16 };

struct block {
  uint64_t address, end, instructions;
};

/* Lines, the one that was used last first, and the reads that caches of each size do not hold. */
struct lines {
  uint64_t used[LINES_MAX];
  size_t count;
  uint64_t misses[SIZES];
};

static uint64_t instructions, bytes, jumps, reads;
static struct lines all, targets;
static uint64_t previous_end, previous_line;

/* The first size is a memory without cache. */
static size_t size_bytes(size_t size) {
  return size == 0 ? 0 : (size_t)SMALLEST_BYTES << (size - 1);
}

/* Moves the line to the front, and counts the caches that do not hold it. */
static void read_line(struct lines* lines, uint64_t line) {
  size_t at = 0;
  while (at < lines->count && lines->used[at] != line) at++;
  const bool is_known = at < lines->count;
  const size_t distance = is_known ? at : LINES_MAX;
  if (!is_known) {
    if (lines->count < LINES_MAX) lines->count++;
    at = lines->count - 1; /* the line that was not used for the longest time is removed */
  }
  memmove(&lines->used[1], &lines->used[0], at * sizeof lines->used[0]);
  lines->used[0] = line;
  for (size_t i = 0; i < SIZES; i++) {
    if (distance >= size_bytes(i) / LINE_BYTES) lines->misses[i]++;
  }
}

static void executed(unsigned int cpu, void* user) {
  (void)cpu;
  const struct block* block = user;
  instructions += block->instructions;
  bytes += block->end - block->address;
  uint64_t line = block->address / LINE_BYTES;
  if (line != previous_line) {
    reads++;
    read_line(&all, line);
    if (block->address != previous_end) {
      jumps++;
      if (line != previous_line + 1) read_line(&targets, line);
    }
  }
  const uint64_t last = (block->end - 1) / LINE_BYTES;
  while (line != last) {
    reads++;
    read_line(&all, ++line);
  }
  previous_line = last;
  previous_end = block->end;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* translation) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(translation);
  struct qemu_plugin_insn* first = qemu_plugin_tb_get_insn(translation, 0);
  struct qemu_plugin_insn* last = qemu_plugin_tb_get_insn(translation, count - 1);
  struct block* block = malloc(sizeof *block); /* kept until the end */
  if (block == NULL) abort();
  block->address = qemu_plugin_insn_vaddr(first);
  block->end = qemu_plugin_insn_vaddr(last) + qemu_plugin_insn_size(last);
  block->instructions = count;
  qemu_plugin_register_vcpu_insn_exec_cb(first, executed, PLUGIN_NO_REGISTERS, block);
}

static void finish(qemu_plugin_id_t id, void* user) {
  (void)id;
  (void)user;
  FILE* file = open_output("fetch_count");
  if (file == NULL) return;
  fprintf(file,
          "instructions %" PRIu64 "\nbytes %" PRIu64 "\njumps %" PRIu64 "\nreads %" PRIu64 "\n",
          instructions, bytes, jumps, reads);
  for (size_t i = 0; i < SIZES; i++) {
    fprintf(file, "misses %zu %" PRIu64 "\njump_misses %zu %" PRIu64 "\n", size_bytes(i),
            all.misses[i], size_bytes(i), targets.misses[i]);
  }
  fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; i++) {
    if (!parse_output_option(argv[i])) return refuse_argument("fetch_count", argv[i]);
  }
  return begin_counting(id, "fetch_count", translated, finish);
}
