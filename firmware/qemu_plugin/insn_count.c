/* Counts the instructions that emulated firmware executes: a QEMU plugin (TCG, plugin API 1, QEMU
 * 4.2 and later; built against 7.2).
 *
 *   -plugin insn_count.so,out=FILE
 *
 * Each executed instruction adds one, so the count is exact even if a translated block is left
 * early. Firmware marks regions with instructions that move a register to itself (common/marks.h).
 * The plugin recognizes them by their encoding, so that it needs no addresses. Marks are not
 * counted. At the end FILE has one line per kind of region, and for `op` one per position within
 * the run:
 *
 *   classes simple load ...  names of the columns after the sum
 *   total 0 1 5012345 ...    kind, index, times entered, instructions inside (sum of all times),
 *   load 0 1 30123 ...       and the number of instructions of each class (insn_class.h)
 *   run 0 4 7200000 ...
 *   op 0 4 8032 ...
 *
 * An instruction that an IT block skips counts as executed, as in the trace of a real core. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "firmware/qemu_plugin/insn_class.h"
#include "firmware/qemu_plugin/plugin.h"

enum kind { KIND_NONE, KIND_LOAD, KIND_SET_INPUT, KIND_RUN, KIND_OP, KIND_REGION, KIND_END };
static const char* const kind_names[] = {"", "load", "set_input", "run", "op", "region"};

enum { OPS_MAX = 4096, DEPTH_MAX = 16 };

struct total {
  uint64_t times;
  uint64_t instructions[CLASSES];
};

static uint64_t executed[CLASSES];
static struct total totals[KIND_END];
static struct total ops[OPS_MAX];
static uint32_t op_index, op_count;
static struct {
  enum kind kind;
  uint64_t start[CLASSES];
} open_regions[DEPTH_MAX];
static int depth;
static bool unbalanced;

static void add(struct total* total, const uint64_t* start) {
  total->times++;
  for (int i = 0; i < CLASSES; i++) total->instructions[i] += executed[i] - start[i];
}

static void open_region(enum kind kind) {
  if (depth == DEPTH_MAX) {
    unbalanced = true;
    return;
  }
  if (kind == KIND_RUN) op_index = 0;
  open_regions[depth].kind = kind;
  memcpy(open_regions[depth].start, executed, sizeof executed);
  depth++;
}

static void close_region(void) {
  if (depth == 0) {
    unbalanced = true;
    return;
  }
  depth--;
  const uint64_t* start = open_regions[depth].start;
  if (open_regions[depth].kind != KIND_OP) {
    add(&totals[open_regions[depth].kind], start);
  } else if (op_index < OPS_MAX) {
    add(&ops[op_index++], start);
    if (op_index > op_count) op_count = op_index;
  }
}

static void marked(unsigned int cpu, void* user) {
  (void)cpu;
  const enum kind kind = (enum kind)(uintptr_t)user;
  if (kind == KIND_END) {
    close_region();
  } else {
    open_region(kind);
  }
}

/* The halfword at offset `at` of an instruction; 0 after its end. */
static unsigned int halfword(const struct qemu_plugin_insn* insn, size_t at) {
  if (qemu_plugin_insn_size(insn) < at + 2) return 0;
  const unsigned char* bytes = qemu_plugin_insn_data(insn);
  return bytes[at] | (unsigned int)bytes[at + 1] << 8;
}

/* `mov rN, rN` is 0x4600 + 9 * N for the low registers. */
static enum kind kind_of(const struct qemu_plugin_insn* insn) {
  if (is_wide(halfword(insn, 0))) return KIND_NONE;
  const unsigned int code = halfword(insn, 0);
  for (int kind = KIND_LOAD; kind <= KIND_END; kind++) {
    if (code == 0x4600u + 9u * (unsigned int)kind) return (enum kind)kind;
  }
  return KIND_NONE;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(block);
  for (size_t i = 0; i < count; i++) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(block, i);
    const enum kind kind = kind_of(insn);
    if (kind == KIND_NONE) {
      const enum insn_class class = is_wide(halfword(insn, 0))
                                        ? class_of_wide(halfword(insn, 0), halfword(insn, 2))
                                        : class_of_narrow(halfword(insn, 0));
      qemu_plugin_register_vcpu_insn_exec_inline(insn, PLUGIN_INLINE_ADD_U64, &executed[class], 1);
    } else {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, PLUGIN_NO_REGISTERS,
                                             (void*)(uintptr_t)kind);
    }
  }
}

static void print(FILE* file, const char* name, uint32_t index, const struct total* total) {
  uint64_t sum = 0;
  for (int i = 0; i < CLASSES; i++) sum += total->instructions[i];
  fprintf(file, "%s %" PRIu32 " %" PRIu64 " %" PRIu64, name, index, total->times, sum);
  for (int i = 0; i < CLASSES; i++) fprintf(file, " %" PRIu64, total->instructions[i]);
  fprintf(file, "\n");
}

static void finish(qemu_plugin_id_t id, void* user) {
  (void)id;
  (void)user;
  FILE* file = open_output("insn_count");
  if (file == NULL) return;
  fprintf(file, "classes");
  for (int i = 0; i < CLASSES; i++) fprintf(file, " %s", class_names[i]);
  fprintf(file, "\n");
  struct total all = {1, {0}};
  memcpy(all.instructions, executed, sizeof executed);
  print(file, "total", 0, &all);
  for (int kind = KIND_LOAD; kind < KIND_END; kind++) {
    if (totals[kind].times != 0) print(file, kind_names[kind], 0, &totals[kind]);
  }
  for (uint32_t i = 0; i < op_count; i++) print(file, "op", i, &ops[i]);
  if (unbalanced || depth != 0) fprintf(file, "unbalanced\n");
  fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; i++) {
    if (!parse_output_option(argv[i])) return refuse_argument("insn_count", argv[i]);
  }
  return begin_counting(id, "insn_count", translated, finish);
}
