// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_QEMU_PLUGIN_H
#define THIMBLE_QEMU_PLUGIN_H
/* Common code of the plugins in this folder: declarations of the part of QEMU's plugin interface
 * (TCG, plugin API 1) that they use, as documented by QEMU, and the output file. Each plugin is one
 * source file that includes this one. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum plugin_registers { PLUGIN_NO_REGISTERS };
enum plugin_inline_operation { PLUGIN_INLINE_ADD_U64 };
enum plugin_direction { PLUGIN_READS_AND_WRITES = 3 };
typedef void (*on_translation)(qemu_plugin_id_t, struct qemu_plugin_tb*);
typedef void (*on_execution)(unsigned int cpu, void* user);
typedef void (*on_access)(unsigned int cpu, qemu_plugin_meminfo_t, uint64_t address, void* user);
typedef void (*on_end)(qemu_plugin_id_t, void* user);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, on_translation);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
extern struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
extern const void* qemu_plugin_insn_data(const struct qemu_plugin_insn*);
extern size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn*);
extern void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn*, on_execution,
                                                   enum plugin_registers, void* user);
extern void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn*,
                                                       enum plugin_inline_operation, void* counter,
                                                       uint64_t add);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn*, on_access,
                                             enum plugin_registers, enum plugin_direction,
                                             void* user);
extern unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t);
extern bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, on_end, void* user);

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info* info, int argc,
                               char** argv);

static char output_name[4096];

/* Returns true if the argument is out=FILE, and stores the name. */
static bool parse_output_option(const char* argument) {
  if (strncmp(argument, "out=", 4) != 0 || strlen(argument + 4) >= sizeof output_name) return false;
  strcpy(output_name, argument + 4);
  return true;
}

/* Opens the output file. Returns NULL and prints a message if that fails. */
static FILE* open_output(const char* plugin) {
  FILE* file = fopen(output_name, "w");
  if (file == NULL) fprintf(stderr, "%s: cannot write %s\n", plugin, output_name);
  return file;
}

static int refuse_argument(const char* plugin, const char* argument) {
  fprintf(stderr, "%s: unknown argument %s\n", plugin, argument);
  return -1;
}

/* Starts counting. Returns the result of qemu_plugin_install. */
static int begin_counting(qemu_plugin_id_t id, const char* plugin, on_translation translated,
                          on_end finish) {
  if (output_name[0] == 0) {
    fprintf(stderr, "%s: needs out=FILE\n", plugin);
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, finish, NULL);
  return 0;
}

#endif /* THIMBLE_QEMU_PLUGIN_H */
