// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_AXON_VENDOR_H
#define THIMBLE_AXON_VENDOR_H
/* The AXON NPU of a product with hardware, for files with programs of the vendor's compiler. These
 * files call the delegates ThimbleAxonProgram (the program is in the file) or AxonBackend (the
 * program is in the firmware, its name is in the file). Both use the vendor's driver, which the
 * product links.
 *
 * Programs in files only need:
 *
 *   const thimble_axon_silicon thimble_axon_chip = {.driver_version = NRF_AXON_VERSION};
 *
 * For programs in the firmware, the headers that `thimble compile` generates define the table:
 *
 *   #include "axon_subgraphs_table.h"
 *   const thimble_axon_silicon thimble_axon_chip = {THIMBLE_AXON_SUBGRAPHS, ...};
 *
 * The driver requires ten platform functions; docs/nordic-axon.md lists them. */

#include <stddef.h>
#include <stdint.h>

#include "thimble_axon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A function or table to which programs refer by name. */
typedef struct thimble_axon_symbol {
  const char* name;
  const void* address; /* null: not linked */
} thimble_axon_symbol;

/* An input or output in the NPU's memory. */
typedef struct thimble_axon_tensor {
  void* address;
  uint32_t row_stride; /* bytes from row to row */
  uint16_t n, c, h, w;
  uint8_t element_bytes;
} thimble_axon_tensor;

/* A network that is compiled into the firmware; generated code. */
typedef struct thimble_axon_subgraph {
  const char* name; /* ends in twelve digits of a hash of the network */
  const void* words;
  uint32_t word_count;
  uint32_t driver_version;
  uint32_t cycles; /* estimated cycles of one run; 0: unknown */
  uint32_t interlayer_bytes, partial_sum_bytes;
  const thimble_axon_tensor* tensors; /* inputs, then outputs, in the order of the call */
  uint8_t input_count, output_count;
} thimble_axon_subgraph;

typedef struct thimble_axon_silicon {
  const thimble_axon_subgraph* subgraphs; /* null: none */
  uint32_t subgraph_count;
  uint32_t interlayer_bytes; /* size of the driver's buffer that all subgraphs share */
  uint32_t partial_sum_bytes;
  uint32_t driver_version; /* 0x010400; 0: not checked */
  uint8_t wait_for_event;  /* 1: the core sleeps until the NPU's interrupt; 0: it polls */
  const thimble_axon* npu; /* provides the counters; null: calls are not counted */
  /* Returns a tick count of the NPU's clock, for the counters. Null: they use estimates. */
  uint32_t (*ticks)(void);
  const thimble_axon_symbol* symbols; /* null: thimble_axon_symbols is used */
  uint32_t symbol_count;
} thimble_axon_silicon;

extern const thimble_axon_silicon thimble_axon_chip;

/* Symbols to which programs of the vendor's compiler may refer: extensions (Thimble's version where
 * one exists) and tables of the vendor's driver. */
extern const thimble_axon_symbol thimble_axon_symbols[];
extern const uint32_t thimble_axon_symbol_count;

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_AXON_VENDOR_H */
