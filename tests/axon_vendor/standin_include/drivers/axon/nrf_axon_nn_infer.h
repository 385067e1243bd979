// SPDX-License-Identifier: Apache-2.0
#pragma once
/* The types of generated definitions and the fields that they set, for tests without the vendor's
 * header. Thimble's code uses none of them. */
#include <stdbool.h>
#include <stdint.h>

#include "drivers/axon/nrf_axon_driver.h"

typedef struct {
  uint16_t height, width, channel_cnt;
  uint8_t byte_width;
} nrf_axon_standin_dimensions;

typedef struct {
  int8_t* ptr;
  nrf_axon_standin_dimensions dimensions;
  uint32_t quant_mult;
  uint16_t stride;
  uint8_t quant_round;
  int8_t quant_zp;
  bool is_external;
} nrf_axon_standin_input;

typedef struct {
  int8_t* buf_ptr;
  uint32_t buf_size;
  int32_t initial_value;
  uint8_t byte_width;
} nrf_axon_nn_model_persistent_var_s;

typedef struct {
  int8_t* ptr;
  nrf_axon_standin_dimensions dimensions;
  uint32_t dequant_mult;
  uint8_t dequant_round;
  int8_t dequant_zp;
  uint16_t stride;
} nrf_axon_compiled_model_output_s;

typedef struct {
  uint32_t compiler_version;
  const char* model_name;
  const char** labels;
  nrf_axon_standin_input inputs[2];
  uint8_t input_cnt;
  int8_t external_input_ndx;
  int8_t *output_ptr, *packed_output_buf;
  uint32_t interlayer_buffer_needed, psum_buffer_needed;
  const NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE* cmd_buffer_ptr;
  const void* model_const_ptr;
  uint32_t model_const_size, cmd_buffer_len;
  struct {
    int8_t* buf_ptr;
    uint32_t buf_size;
    const nrf_axon_nn_model_persistent_var_s* vars;
    uint16_t count;
  } persistent_vars;
  nrf_axon_standin_dimensions output_dimensions;
  uint32_t output_dequant_mult;
  uint8_t output_dequant_round;
  int8_t output_dequant_zp;
  uint16_t output_stride;
  bool is_layer_model;
  uint16_t extra_output_cnt;
  const nrf_axon_compiled_model_output_s* extra_outputs;
  uint32_t min_driver_version_required;
} nrf_axon_nn_compiled_model_s;
