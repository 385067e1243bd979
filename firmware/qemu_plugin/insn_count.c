/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the instructions and basic blocks that emulated firmware executes: a QEMU plugin (TCG,
 * plugin API 1, QEMU 4.2 and later; built against 7.2).
 *
 *   -plugin insn_count.so,out=FILE
 *
 * Each executed instruction adds one, so the count is exact even if a translated block is left
 * early. Firmware marks scopes with instructions that move a register to itself (common/marks.h).
 * The plugin recognizes them by their encoding, so that it needs no addresses. Marks are not
 * counted. At the end FILE has one line per kind of scope, and for `op` one per position within
 * the run; then the blocks, and how often each block followed another one:
 *
 *   total 0 1 5012345        kind, index, times entered, instructions inside (sum of all times)
 *   load 0 1 30123
 *   run 0 4 7200000
 *   op 0 4 8032
 *   block 17 1a04 f8510b04   number, address, instructions in order of memory (all hexadecimal
 *                            but the number)
 *   edge op 0 16 17 4096     kind and index of the innermost scope of block 17, block 16 before
 *                            it, times; block 0 is the start of a scope
 *
 * An instruction that an IT block skips counts as executed, as in the trace of a real core. */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "firmware/qemu_plugin/plugin.h"

enum kind { KIND_NONE, KIND_LOAD, KIND_SET_INPUT, KIND_RUN, KIND_OP, KIND_SCOPE, KIND_END };
static const char* const kind_names[] = {"outside", "load", "set_input", "run", "op", "scope"};

enum { OPS_MAX = 4096, DEPTH_MAX = 16 };

struct total {
  uint64_t times, instructions;
};

static uint64_t executed;
static struct total totals[KIND_END];
static struct total ops[OPS_MAX];
static uint32_t op_index, op_count;
static struct {
  enum kind kind;
  uint64_t start;
} open_scopes[DEPTH_MAX];
static int depth;
static bool unbalanced;

/* --- blocks and edges. A block is a sequence of instructions without a mark inside that QEMU
 * translated at once. QEMU may translate the same instructions several times. */

struct block {
  uint32_t number;
  uint64_t address;
  size_t bytes;
  unsigned char* code;
  uint64_t* last_count; /* the counter of the edge that was taken last, from last_from in */
  uint32_t last_from, last_scope;
};
struct edge {
  uint32_t scope, from, to;
  uint64_t count;
};

static struct block** blocks;
static size_t block_count, block_room;
static struct edge** edges; /* hash table with open addressing */
static size_t edge_count, edge_room;
static uint32_t previous_block, current_scope;

static void* checked(void* memory) {
  if (memory == NULL) {
    fprintf(stderr, "insn_count: out of memory\n");
    abort();
  }
  return memory;
}

static size_t slot_of(uint32_t scope, uint32_t from, uint32_t to) {
  uint64_t hash = scope * UINT64_C(0x9e3779b97f4a7c15) + from * UINT64_C(0xc2b2ae3d27d4eb4f) +
                  to * UINT64_C(0x165667b19e3779f9);
  hash ^= hash >> 29;
  size_t slot = (size_t)hash & (edge_room - 1);
  while (edges[slot] != NULL &&
         (edges[slot]->scope != scope || edges[slot]->from != from || edges[slot]->to != to)) {
    slot = (slot + 1) & (edge_room - 1);
  }
  return slot;
}

static void grow_edges(void) {
  struct edge** const old = edges;
  const size_t old_room = edge_room;
  edge_room = old_room == 0 ? 4096 : 2 * old_room;
  edges = checked(calloc(edge_room, sizeof *edges));
  for (size_t i = 0; i < old_room; i++) {
    if (old[i] != NULL) edges[slot_of(old[i]->scope, old[i]->from, old[i]->to)] = old[i];
  }
  free(old);
}

static struct edge* edge_at(uint32_t scope, uint32_t from, uint32_t to) {
  if (2 * edge_count >= edge_room) grow_edges();
  const size_t slot = slot_of(scope, from, to);
  if (edges[slot] == NULL) {
    edges[slot] = checked(malloc(sizeof **edges));
    *edges[slot] = (struct edge){scope, from, to, 0};
    edge_count++;
  }
  return edges[slot];
}

static void entered(unsigned int cpu, void* user) {
  (void)cpu;
  struct block* const block = user;
  if (block->last_count == NULL || block->last_from != previous_block ||
      block->last_scope != current_scope) {
    block->last_from = previous_block;
    block->last_scope = current_scope;
    block->last_count = &edge_at(current_scope, previous_block, block->number)->count;
  }
  ++*block->last_count;
  previous_block = block->number;
}

/* Returns the block with these instructions; translations of the same ones share a number. */
static struct block* make_block(uint64_t address, unsigned char* code, size_t bytes) {
  if (block_count == block_room) {
    block_room = block_room == 0 ? 1024 : 2 * block_room;
    blocks = checked(realloc(blocks, block_room * sizeof(struct block*)));
  }
  for (size_t i = 0; i < block_count; i++) {
    struct block* const other = blocks[i];
    if (other->address != address || other->bytes != bytes) continue;
    if (memcmp(other->code, code, bytes) != 0) continue;
    free(code);
    return other;
  }
  struct block* const block = checked(calloc(1, sizeof *block));
  block->number = (uint32_t)block_count + 1;
  block->address = address;
  block->bytes = bytes;
  block->code = code;
  blocks[block_count++] = block;
  return block;
}

/* --- scopes */

static void add(struct total* total, uint64_t start) {
  total->times++;
  total->instructions += executed - start;
}

/* Sets the scope that following blocks belong to. */
static void set_scope(void) {
  const enum kind kind = depth == 0 ? KIND_NONE : open_scopes[depth - 1].kind;
  current_scope = (uint32_t)kind << 16 | (kind == KIND_OP ? op_index & 0xffff : 0);
  previous_block = 0;
}

static void open_scope(enum kind kind) {
  if (depth == DEPTH_MAX) {
    unbalanced = true;
    return;
  }
  if (kind == KIND_RUN) op_index = 0;
  open_scopes[depth].kind = kind;
  open_scopes[depth].start = executed;
  depth++;
  set_scope();
}

static void close_scope(void) {
  if (depth == 0) {
    unbalanced = true;
    return;
  }
  depth--;
  const uint64_t start = open_scopes[depth].start;
  if (open_scopes[depth].kind != KIND_OP) {
    add(&totals[open_scopes[depth].kind], start);
  } else if (op_index < OPS_MAX) {
    add(&ops[op_index++], start);
    if (op_index > op_count) op_count = op_index;
  } else {
    unbalanced = true; /* more operators than a program may have */
  }
  set_scope();
}

static void marked(unsigned int cpu, void* user) {
  (void)cpu;
  const enum kind kind = (enum kind)(uintptr_t)user;
  if (kind == KIND_END) {
    close_scope();
  } else {
    open_scope(kind);
  }
}

/* Bytes of an instruction. QEMU's data of the last one before the end of a page also has the next
 * two bytes, which it reads to find out whether the next instruction crosses the page. */
static size_t bytes_of(const struct qemu_plugin_insn* insn) {
  const unsigned char* const data = qemu_plugin_insn_data(insn);
  const size_t bytes = data[1] >> 3 >= 0x1d ? 4 : 2;
  return bytes <= qemu_plugin_insn_size(insn) ? bytes : qemu_plugin_insn_size(insn);
}

/* `mov rN, rN` is 0x4600 + 9 * N for the low registers. */
static enum kind kind_of(const struct qemu_plugin_insn* insn) {
  if (bytes_of(insn) != 2) return KIND_NONE;
  const unsigned char* bytes = qemu_plugin_insn_data(insn);
  const unsigned int code = bytes[0] | (unsigned int)bytes[1] << 8;
  for (int kind = KIND_LOAD; kind <= KIND_END; kind++) {
    if (code == 0x4600u + 9u * (unsigned int)kind) return (enum kind)kind;
  }
  return KIND_NONE;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(tb);
  for (size_t first = 0; first < count;) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, first);
    const enum kind kind = kind_of(insn);
    if (kind != KIND_NONE) {
      qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, PLUGIN_NO_REGISTERS,
                                             (void*)(uintptr_t)kind);
      first++;
      continue;
    }
    /* The block ends before the next mark. */
    unsigned char* const code = checked(malloc(4 * count));
    size_t bytes = 0, end = first;
    for (; end < count; end++) {
      struct qemu_plugin_insn* each = qemu_plugin_tb_get_insn(tb, end);
      if (kind_of(each) != KIND_NONE) break;
      memcpy(code + bytes, qemu_plugin_insn_data(each), bytes_of(each));
      bytes += bytes_of(each);
      qemu_plugin_register_vcpu_insn_exec_inline(each, PLUGIN_INLINE_ADD_U64, &executed, 1);
    }
    struct block* const block = make_block(qemu_plugin_insn_vaddr(insn), code, bytes);
    qemu_plugin_register_vcpu_insn_exec_cb(insn, entered, PLUGIN_NO_REGISTERS, block);
    first = end;
  }
}

static void print(FILE* file, const char* name, uint32_t index, const struct total* total) {
  fprintf(file, "%s %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", name, index, total->times,
          total->instructions);
}

static void print_blocks(FILE* file) {
  for (size_t i = 0; i < block_count; i++) {
    fprintf(file, "block %" PRIu32 " %" PRIx64 " ", blocks[i]->number, blocks[i]->address);
    for (size_t k = 0; k < blocks[i]->bytes; k++) fprintf(file, "%02x", blocks[i]->code[k]);
    fprintf(file, "\n");
  }
  for (size_t i = 0; i < edge_room; i++) {
    const struct edge* edge = edges[i];
    if (edge == NULL) continue;
    fprintf(file, "edge %s %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 "\n",
            kind_names[edge->scope >> 16], edge->scope & 0xffff, edge->from, edge->to, edge->count);
  }
}

static void finish(qemu_plugin_id_t id, void* user) {
  (void)id;
  (void)user;
  FILE* file = open_output("insn_count");
  if (file == NULL) return;
  const struct total all = {1, executed};
  print(file, "total", 0, &all);
  for (int kind = KIND_LOAD; kind < KIND_END; kind++) {
    if (totals[kind].times != 0) print(file, kind_names[kind], 0, &totals[kind]);
  }
  for (uint32_t i = 0; i < op_count; i++) print(file, "op", i, &ops[i]);
  if (unbalanced || depth != 0) fprintf(file, "unbalanced\n");
  print_blocks(file);
  fprintf(file, "end\n"); /* without it the file is not complete */
  fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; i++) {
    if (!parse_output_option(argv[i])) return refuse_argument("insn_count", argv[i]);
  }
  return begin_counting(id, "insn_count", translated, finish);
}
