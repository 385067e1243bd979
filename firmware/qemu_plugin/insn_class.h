/* Classifies a Thumb instruction by its encoding (Armv8-M Architecture Reference Manual, C2.2 "T32
 * instruction set encoding"). The classes are those that cycle estimates need
 * (src/hostrun/cycles.def). */
#ifndef THIMBLE_INSN_CLASS_H
#define THIMBLE_INSN_CLASS_H

#include <stdbool.h>

enum insn_class {
  CLASS_SIMPLE, /* arithmetic, logic, moves, compares */
  CLASS_LOAD,   /* one register */
  CLASS_STORE,
  CLASS_PAIR,     /* LDRD, STRD */
  CLASS_MULTIPLE, /* LDM, STM, PUSH, POP, and VLDM, VSTM, VPUSH, VPOP */
  CLASS_MULTIPLY, /* with or without accumulation, 64-bit result, or SIMD of 16-bit halves */
  CLASS_DIVIDE,
  CLASS_BRANCH, /* taken or not; includes calls and returns */
  CLASS_LOOP,   /* WLS, DLS, LE, and those that set the vector length */
  CLASS_VECTOR_MEMORY,
  CLASS_VECTOR,
  CLASS_FLOAT,
  CLASSES
};
static const char* const class_names[CLASSES] = {"simple",   "load",          "store",  "pair",
                                                 "multiple", "multiply",      "divide", "branch",
                                                 "loop",     "vector_memory", "vector", "float"};

/* True if the instruction has 32 bits, by its first halfword (section F3.1). The size that QEMU 7.2
 * reports is no evidence: at the end of a page it includes the next instruction. */
static bool is_wide(unsigned int first) {
  return (first & 0xE000) == 0xE000 && (first & 0x1800) != 0;
}

static enum insn_class class_of_narrow(unsigned int code) {
  static const bool kLoads[] = {false, false, false, true, true, true, true, true};
  if ((code & 0xFFC0) == 0x4340) return CLASS_MULTIPLY;
  if ((code & 0xFF00) == 0x4700) return CLASS_BRANCH;
  if ((code & 0xF500) == 0xB100) return CLASS_BRANCH; /* CBZ, CBNZ */
  if ((code & 0xFE00) == 0xB400 || (code & 0xFE00) == 0xBC00) return CLASS_MULTIPLE;
  switch (code >> 12) {
    case 0x4:
      return (code & 0x0800) != 0 ? CLASS_LOAD : CLASS_SIMPLE;
    case 0x5:
      return kLoads[code >> 9 & 7] ? CLASS_LOAD : CLASS_STORE;
    case 0x6:
    case 0x7:
    case 0x8:
    case 0x9:
      return (code & 0x0800) != 0 ? CLASS_LOAD : CLASS_STORE;
    case 0xC:
      return CLASS_MULTIPLE;
    case 0xD:
    case 0xE:
      return CLASS_BRANCH;
    default:
      return CLASS_SIMPLE;
  }
}

/* Coprocessor encodings: floating-point and vector instructions. */
static enum insn_class class_of_coprocessor(unsigned int first, unsigned int second) {
  const bool is_float = (second & 0x0E00) == 0x0A00 && (first & 0x1000) == 0;
  const bool is_transfer = (first & 0x0E00) == 0x0C00;
  if (!is_transfer) return is_float ? CLASS_FLOAT : CLASS_VECTOR;
  if (!is_float) return CLASS_VECTOR_MEMORY;
  if ((first & 0x0FE0) == 0x0C40) return CLASS_FLOAT; /* VMOV between core and two registers */
  const bool one = (first & 0x0F20) == 0x0D00;        /* offset without write-back */
  if (!one) return CLASS_MULTIPLE;
  return (first & 0x0010) != 0 ? CLASS_LOAD : CLASS_STORE;
}

static enum insn_class class_of_wide(unsigned int first, unsigned int second) {
  if ((first & 0xEC00) == 0xEC00) return class_of_coprocessor(first, second);
  if ((first & 0xFE40) == 0xE800) return CLASS_MULTIPLE;
  if ((first & 0xFE40) == 0xE840) {
    /* TBB and TBH are encoded among LDRD and STRD. */
    return (first & 0xFFF0) == 0xE8D0 && (second & 0x00E0) == 0 ? CLASS_BRANCH : CLASS_PAIR;
  }
  if ((first & 0xFE00) == 0xF800) return (first & 0x0010) != 0 ? CLASS_LOAD : CLASS_STORE;
  if ((first & 0xFF80) == 0xFB00) return CLASS_MULTIPLY;
  if ((first & 0xFF80) == 0xFB80) {
    const unsigned int op = first >> 4 & 7;
    return op == 1 || op == 3 ? CLASS_DIVIDE : CLASS_MULTIPLY;
  }
  if ((first & 0xF800) == 0xF000 && (second & 0x8000) != 0) {
    if ((first & 0xFF80) == 0xF000 && (second & 0xD001) == 0xC001) return CLASS_LOOP;
    return CLASS_BRANCH;
  }
  return CLASS_SIMPLE;
}

#endif
