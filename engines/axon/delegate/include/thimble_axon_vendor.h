#ifndef THIMBLE_AXON_VENDOR_H
#define THIMBLE_AXON_VENDOR_H
/* The AXON of a product with silicon, for files with programs of the vendor's compiler: calls of
 * the delegates ThimbleAxonProgram (the file holds the program) and AxonBackend (the firmware does;
 * the file has its name). Both go through the vendor's driver, which the product links.
 *
 *   const thimble_axon_silicon thimble_axon_chip = {.driver_version = NRF_AXON_VERSION};
 *
 * is enough for programs in files. For those in the firmware, the headers that `thimble compile`
 * has generated fill the table:
 *
 *   #include "axon_subgraphs_table.h"
 *   const thimble_axon_silicon thimble_axon_chip = {THIMBLE_AXON_SUBGRAPHS, ...};
 *
 * The driver needs ten functions of the platform: docs/nordic-axon.md lists them. */

#include <stddef.h>
#include <stdint.h>

#include "thimble_axon.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A function or table that programs refer to by name. */
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

/* A network that is compiled into the firmware: generated. */
typedef struct thimble_axon_subgraph {
  const char* name; /* ends in twelve digits of a hash of the network */
  const void* words;
  uint32_t word_count;
  uint32_t driver_version;
  uint32_t cycles; /* estimated, of one run; 0: not known */
  uint32_t interlayer_bytes, partial_sum_bytes;
  const thimble_axon_tensor* tensors; /* inputs, then outputs, in the order of the call */
  uint8_t input_count, output_count;
} thimble_axon_subgraph;

typedef struct thimble_axon_silicon {
  const thimble_axon_subgraph* subgraphs; /* null: none */
  uint32_t subgraph_count;
  uint32_t interlayer_bytes; /* of the driver's buffer that subgraphs share */
  uint32_t partial_sum_bytes;
  uint32_t driver_version; /* 0x010400; 0: not checked */
  uint8_t wait_for_event;  /* the core sleeps until the NPU's interrupt; 0: it polls */
  const thimble_axon* npu; /* whose counters count; null: nothing is counted */
  /* A counter of the NPU's clock, for the counters; null: they get estimates. */
  uint32_t (*ticks)(void);
  const thimble_axon_symbol* symbols; /* instead of thimble_axon_symbols; null: those */
  uint32_t symbol_count;
} thimble_axon_silicon;

extern const thimble_axon_silicon thimble_axon_chip;

/* What programs of the vendor's compiler may refer to: its extensions, ours where we have one, and
 * tables of its driver. */
extern const thimble_axon_symbol thimble_axon_symbols[];
extern const uint32_t thimble_axon_symbol_count;

#ifdef __cplusplus
}
#endif
#endif /* THIMBLE_AXON_VENDOR_H */
