/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in compiler library with the vendor's two functions, for tests without the SDK.
 *
 * It reads the IR file with structs as a C compiler lays them out, independent of the writer's
 * table of offsets. It writes a C header in the published layout. The words in it are not the
 * vendor's: they are instructions of tests/axon_vendor/standin_driver.h, which computes
 *
 *   output[i] = input[i % inputs] + constant[i % constants] + number of the output
 *
 * AXON_STANDIN in the environment selects a failure: code:N, crash, hang, exit:N, silent, half,
 * version:0xN, unlike. */

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct item {
  uint32_t offset, length;
};
struct file_header {
  struct item title, version, meta, layers, constants, options;
};
struct quantization {
  uint32_t multiplier;
  uint8_t shift;
  int8_t zero_point;
};
struct meta {
  struct item name, labels;
  uint32_t layer_count;
  struct quantization input, output;
};
struct dimensions {
  uint16_t height, width, channels;
  enum { kOne = 1, kTwo = 2, kFour = 4 } byte_width;
  uint16_t batches;
};
struct split {
  uint8_t axis;
  uint16_t offset;
};
struct layer {
  uint8_t input_count;
  int16_t inputs[4];
  enum { kFullyConnected, kVariable = 8, kSoftmax = 100, kSigmoid, kTanh } operation;
  struct dimensions input_dimensions[4];
  struct split splits[4];
  struct dimensions filter, output;
  uint8_t concat_axis, stride_x, stride_y, dilation_x, dilation_y;
  int8_t input_zero_point;
  uint32_t output_multiplier;
  uint8_t output_shift;
  int8_t output_zero_point;
  uint64_t bias, multipliers, shifts;
  uint16_t shift_count;
  enum { kNone } activation;
  uint8_t pad_left, pad_right, pad_top, pad_bottom;
  uint64_t weights;
  uint32_t attribute_count;
  uint64_t attributes;
};
struct result {
  uint32_t constants, interlayer, sums, commands, cycles;
};

struct network {
  char name[128];
  struct meta meta;
  struct layer layers[64];
  const unsigned char* constants;
  uint32_t constant_bytes;
};

static unsigned char file[1 << 22];

static const char* argument(int count, char** words, char letter) {
  for (int i = 0; i < count; ++i) {
    if (words[i][0] == '-' && words[i][1] == letter) return words[i] + 2;
  }
  return NULL;
}

/* Returns -219 for anything but a whole file of the expected version. */
static int read_file(const char* path, uint32_t expected, struct network* network) {
  FILE* const in = path != NULL ? fopen(path, "rb") : NULL;
  if (in == NULL) return -218;
  const size_t size = fread(file, 1, sizeof file, in);
  fclose(in);
  struct file_header header;
  memcpy(&header, file, sizeof header);
  static const char kTitle[] = "AXON_INTERMEDIATE_REPRESENTATION_FILE";
  uint32_t version = 0;
  memcpy(&version, file + header.version.offset, sizeof version);
  if (size < sizeof header || memcmp(file + header.title.offset, kTitle, sizeof kTitle) != 0) {
    return -219;
  }
  if (version != expected) {
    printf("Error: version in binary file is 0x%08" PRIx32 " while expected 0x%08" PRIx32 "\n",
           version, expected);
    return -219;
  }
  memcpy(&network->meta, file + header.meta.offset, sizeof network->meta);
  snprintf(network->name, sizeof network->name, "%s",
           (const char*)file + network->meta.name.offset);
  const uint32_t count = network->meta.layer_count;
  if (count == 0 || count > 64 || header.layers.length != count * sizeof(struct layer) ||
      header.meta.length != sizeof(struct meta) || header.options.length != 24) {
    return -219;
  }
  memcpy(network->layers, file + header.layers.offset, count * sizeof(struct layer));
  network->constants = file + header.constants.offset;
  network->constant_bytes = header.constants.length;
  return 0;
}

static uint32_t elements(const struct dimensions* d) {
  return (uint32_t)d->height * d->width * d->channels;
}
static uint32_t stride(const struct dimensions* d) {
  return ((uint32_t)d->width * d->byte_width + 3) / 4 * 4;
}
static uint32_t row_bytes(const struct dimensions* d) {
  return (uint32_t)d->height * d->channels * stride(d);
}

static int has_reader(const struct network* network, int layer) {
  for (uint32_t i = 0; i < network->meta.layer_count; ++i) {
    for (int k = 0; k < network->layers[i].input_count; ++k) {
      if (network->layers[i].inputs[k] == layer) return 1;
    }
  }
  return 0;
}

static void upper(const char* from, char* to) {
  for (; *from != 0; ++from, ++to) {
    *to = (char)(*from >= 'a' && *from <= 'z' ? *from - 'a' + 'A' : *from);
  }
  *to = 0;
}

/* Contents of the generated header. */
struct plan {
  char upper[128];
  int outputs[64];
  uint32_t output_at[64];
  uint32_t output_count, interlayer, variable_bytes, input_bytes, words;
  const struct layer* first; /* first layer that reads the network's input */
  int extension;             /* index of a layer that the core computes, or -1 */
};

static int make_plan(const struct network* network, struct plan* plan) {
  memset(plan, 0, sizeof *plan);
  plan->extension = -1;
  upper(network->name, plan->upper);
  for (uint32_t i = 0; i < network->meta.layer_count; ++i) {
    const struct layer* const layer = &network->layers[i];
    if (layer->operation == kVariable) plan->variable_bytes += row_bytes(&layer->output);
    if (layer->operation == kTanh || layer->operation == kSigmoid) plan->extension = (int)i;
    for (int k = 0; k < layer->input_count; ++k) {
      if (layer->inputs[k] == -1 && plan->first == NULL) plan->first = layer;
    }
    if (!has_reader(network, (int)i)) plan->outputs[plan->output_count++] = (int)i;
  }
  if (plan->first == NULL || plan->output_count == 0) return -235;
  plan->input_bytes = elements(&plan->first->input_dimensions[0]);
  plan->interlayer = (plan->input_bytes + 3) / 4 * 4;
  for (uint32_t i = 0; i < plan->output_count; ++i) {
    plan->output_at[i] = plan->interlayer;
    plan->interlayer += row_bytes(&network->layers[plan->outputs[i]].output);
  }
  if (plan->extension >= 0) plan->interlayer += 64; /* two rows of values for the extension */
  plan->words = 10 * plan->output_count + (plan->extension >= 0 ? 10 : 0) + 2;
  return 0;
}

#define WORD "(NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE)"

static void write_constants(FILE* out, const struct network* network) {
  const uint32_t bytes = network->constant_bytes;
  fprintf(out, "const static struct {\n\tint8_t l00_weights[%" PRIu32 "];\n", bytes);
  fprintf(out, "\tint32_t l00_biasp[2];\n\n} axon_model_const_%s = {\n\t.l00_weights = {",
          network->name);
  for (uint32_t i = 0; i < bytes; ++i) fprintf(out, "%d,", (int8_t)network->constants[i]);
  fprintf(out, "},\n\t.l00_biasp = {-70000,5,},\n};\n\n");
}

static void write_words(FILE* out, const struct network* network, const struct plan* plan) {
  const char* const name = network->name;
  if (plan->extension >= 0) {
    const int sigmoid = network->layers[plan->extension].operation == kSigmoid;
    const char* const function = sigmoid ? "sigmoid" : "tanh";
    fprintf(out,
            "extern nrf_axon_result_e nrf_axon_nn_op_extension_%s_v2(void* , uint16_t , "
            "void* );\n\n",
            function);
  }
  fprintf(out, "const NRF_AXON_PLATFORM_BITWIDTH_UNSIGNED_TYPE cmd_buffer_%s[%" PRIu32 "] = {\n",
          name, plan->words);
  fprintf(out, "// segment 0,length %" PRIu32 ",made up\n0x5d000001,%" PRIu32 ",\n", plan->words,
          plan->words);
  for (uint32_t i = 0; i < plan->output_count; ++i) {
    const struct dimensions* const d = &network->layers[plan->outputs[i]].output;
    fprintf(out, "0x5d000010," WORD "nrf_axon_interlayer_buffer,%" PRIu32 ",", plan->input_bytes);
    fprintf(out, WORD "(axon_model_const_%s.l00_weights + 0x1),%" PRIu32 ",", name,
            network->constant_bytes - 1);
    fprintf(out, WORD "((uint8_t*)(nrf_axon_interlayer_buffer)+0x%" PRIx32 "),",
            plan->output_at[i]);
    fprintf(out, "%u,%u,%" PRIu32 ",%" PRIu32 ",\n", d->height * d->channels,
            d->width * (unsigned)d->byte_width, stride(d), i);
  }
  if (plan->extension >= 0) {
    const int sigmoid = network->layers[plan->extension].operation == kSigmoid;
    fprintf(out, "0x5d000020," WORD "nrf_axon_nn_op_extension_%s_v2,0x00000006,",
            sigmoid ? "sigmoid" : "tanh");
    fprintf(out, WORD "((uint8_t*)(nrf_axon_interlayer_buffer)+0x%" PRIx32 "),",
            plan->interlayer - 64);
    fprintf(out, WORD "((uint8_t*)(nrf_axon_interlayer_buffer)+0x%" PRIx32 "),",
            plan->interlayer - 32);
    fprintf(out,
            "0x40000000,0x00040001,0x80160001,0x00000001," WORD
            "((uint8_t*)(nrf_axon_interlayer_buffer)+0x%" PRIx32 "),\n",
            plan->output_at[0]);
  }
  fprintf(out, "};\n");
}

static void write_dimensions(FILE* out, const char* field, const struct dimensions* d) {
  fprintf(out,
          "    .%s = {\n      .height = %u,\n      .width = %u,\n      .channel_cnt = %u,\n"
          "      .byte_width = %u,\n    },\n",
          field, d->height, d->width, d->channels, (unsigned)d->byte_width);
}

static void write_variables(FILE* out, const struct network* network, const struct plan* plan) {
  if (plan->variable_bytes == 0) return;
  const char* const name = network->name;
  uint32_t at = 0;
  fprintf(out, "const nrf_axon_nn_model_persistent_var_s axon_model_%s_persistent_var_list[] = {\n",
          name);
  for (uint32_t i = 0; i < network->meta.layer_count; ++i) {
    const struct layer* const layer = &network->layers[i];
    if (layer->operation != kVariable) continue;
    fprintf(out,
            "  {// %" PRIu32
            "\n    .buf_ptr = (int8_t *)((uint8_t*)(axon_model_%s_persistent_"
            "vars)+0x%" PRIx32 "),\n",
            i, name, at);
    fprintf(out,
            "    .buf_size = %" PRIu32
            ",// in bytes\n    .initial_value = %d,\n"
            "    .byte_width = %u,\n  },\n",
            row_bytes(&layer->output), layer->output_zero_point,
            (unsigned)layer->output.byte_width);
    at += row_bytes(&layer->output);
  }
  fprintf(out, "};\n");
}

static void write_extra_outputs(FILE* out, const struct network* network, const struct plan* plan) {
  if (plan->output_count < 2) return;
  fprintf(out, "const nrf_axon_compiled_model_output_s %s_extra_outputs[] = {\n", network->name);
  for (uint32_t i = 1; i < plan->output_count; ++i) {
    const struct dimensions* const d = &network->layers[plan->outputs[i]].output;
    fprintf(out,
            "  {\n    .ptr = (int8_t*)((uint8_t*)(nrf_axon_interlayer_buffer)+0x%" PRIx32 "),\n",
            plan->output_at[i]);
    write_dimensions(out, "dimensions", d);
    fprintf(out,
            "    .dequant_mult = 1,\n    .dequant_round = 0,\n    .dequant_zp = 0,\n"
            "    .stride = %" PRIu32 ",\n  },\n",
            stride(d));
  }
  fprintf(out, "};\n");
}

static void write_model(FILE* out, const struct network* network, const struct plan* plan) {
  const char* const name = network->name;
  const struct dimensions* const in = &plan->first->input_dimensions[0];
  const struct dimensions* const d = &network->layers[plan->outputs[0]].output;
  fprintf(out, "const nrf_axon_nn_compiled_model_s model_%s = {\n", name);
  fprintf(out,
          "    .compiler_version = 0x00010400,\n    .model_name = \"%s\",\n"
          "    .labels = NULL,\n    .inputs = {\n      {// 0\n"
          "    .ptr = (int8_t*)nrf_axon_interlayer_buffer,\n",
          name);
  write_dimensions(out, "dimensions", in);
  fprintf(out,
          "    .quant_mult = %" PRIu32
          ",\n    .stride = %u,\n    .quant_round = %u,\n"
          "    .quant_zp = %d,\n    .is_external = true,\n      }, // 0\n    }, // inputs\n",
          network->meta.input.multiplier, in->width * (unsigned)in->byte_width,
          network->meta.input.shift, network->meta.input.zero_point);
  fprintf(out,
          "    .input_cnt = 1,\n    .external_input_ndx = 0,\n"
          "    .output_ptr = (int8_t*)((uint8_t*)(nrf_axon_interlayer_buffer)+0x%" PRIx32 "),\n",
          plan->output_at[0]);
  fprintf(out,
          "#if NRF_AXON_MODEL_ALLOCATE_PACKED_OUTPUT_BUFFER\n    .packed_output_buf = "
          "(int8_t*)axon_model_%s_packed_output_buf,\n#else\n    .packed_output_buf = NULL,\n"
          "#endif\n\n",
          name);
  fprintf(out,
          "    .interlayer_buffer_needed = NRF_AXON_MODEL_%s_MAX_IL_BUFFER_USED,\n"
          "    .psum_buffer_needed = NRF_AXON_MODEL_%s_MAX_PSUM_BUFFER_USED,\n"
          "    .cmd_buffer_ptr = cmd_buffer_%s,\n"
          "    .model_const_ptr = &axon_model_const_%s,\n"
          "    .model_const_size = sizeof(axon_model_const_%s),\n"
          "    .cmd_buffer_len = %" PRIu32 ",\n    .persistent_vars = {\n",
          plan->upper, plan->upper, name, name, name, plan->words);
  uint32_t variables = 0;
  for (uint32_t i = 0; i < network->meta.layer_count; ++i) {
    variables += network->layers[i].operation == kVariable ? 1 : 0;
  }
  if (variables > 0) {
    fprintf(out,
            "      .buf_ptr = (int8_t *)axon_model_%s_persistent_vars,\n"
            "      .buf_size = sizeof(axon_model_%s_persistent_vars),\n"
            "      .vars = axon_model_%s_persistent_var_list,\n",
            name, name, name);
  }
  fprintf(out, "      .count = %" PRIu32 ",\n    },\n\n", variables);
  write_dimensions(out, "output_dimensions", d);
  fprintf(out,
          "    .output_dequant_mult = 1,\n    .output_dequant_round = 0,\n"
          "    .output_dequant_zp = 0,\n    .output_stride = %" PRIu32
          ",\n"
          "    .is_layer_model = false,\n    .extra_output_cnt = %" PRIu32 ",\n",
          stride(d), plan->output_count - 1);
  if (plan->output_count > 1) {
    fprintf(out, "    .extra_outputs = %s_extra_outputs,\n", name);
  } else {
    fprintf(out, "    .extra_outputs = NULL,\n");
  }
  fprintf(out, "    .min_driver_version_required = 0x00010200,\n};\n");
}

static int write_header(const char* prefix, const struct network* network, const char* mode) {
  char path[1024];
  struct plan plan;
  const int planned = make_plan(network, &plan);
  if (planned != 0) return planned;
  snprintf(path, sizeof path, "%s_.h", prefix);
  FILE* const out = fopen(path, "w");
  if (out == NULL) return -218;
  fprintf(out,
          "/* Written by a stand-in. Model Name: %s */\n#ifdef __cplusplus\nextern \"C\" {\n"
          "#endif\n\n",
          network->name);
  fprintf(out,
          "#define NRF_AXON_MODEL_%s_MAX_IL_BUFFER_USED %" PRIu32
          "\n"
          "#define NRF_AXON_MODEL_%s_MAX_PSUM_BUFFER_USED 0\n"
          "static_assert(NRF_AXON_MODEL_%s_MAX_IL_BUFFER_USED <= "
          "(NRF_AXON_INTERLAYER_BUFFER_SIZE), \"TOO SMALL\\n\");\n",
          plan.upper, plan.interlayer, plan.upper, plan.upper);
  write_constants(out, network);
  if (plan.variable_bytes > 0) {
    fprintf(out, "int32_t axon_model_%s_persistent_vars[%" PRIu32 "];\n\n", network->name,
            plan.variable_bytes / 4);
  }
  if (strcmp(mode, "half") == 0) return fclose(out);
  write_words(out, network, &plan);
  write_variables(out, network, &plan);
  write_extra_outputs(out, network, &plan);
  if (strcmp(mode, "unlike") == 0) {
    ((struct network*)network)->layers[plan.outputs[0]].output.width += 1;
  }
  write_model(out, network, &plan);
  fprintf(out, "#ifdef __cplusplus\n}\n#endif\n");
  return fclose(out);
}

static struct network network;

int nrf_axon_compile_model(int count, char** words, struct result* result) {
  const char* const set = getenv("AXON_STANDIN");
  const char* const mode = set != NULL ? set : "";
  uint32_t version = 0x010301;
  printf("stand-in compiler\ncompiling layer 0...");
  fflush(stdout);
  if (strncmp(mode, "code:", 5) == 0) return atoi(mode + 5);
  if (strncmp(mode, "exit:", 5) == 0) exit(atoi(mode + 5));
  if (strncmp(mode, "version:", 8) == 0) version = (uint32_t)strtoul(mode + 8, NULL, 0);
  if (strcmp(mode, "crash") == 0) {
    signal(SIGSEGV, SIG_DFL);  // the address sanitizer handles it otherwise
    raise(SIGSEGV);
  }
  if (strcmp(mode, "hang") == 0) {
    for (;;) sleep(1);
  }
  const int read = read_file(argument(count, words, 'b'), version, &network);
  if (read != 0) return read;
  printf("done.\n");
  memset(result, 0, sizeof *result);
  result->constants = network.constant_bytes;
  result->commands = 8;
  if (strcmp(mode, "silent") == 0) return 0;
  return write_header(argument(count, words, 'f'), &network, mode);
}

int nrf_axon_infer_test_vectors(int count, char** words, struct result* result) {
  const char* const path = argument(count, words, 'l');
  FILE* const out = path != NULL ? fopen(path, "w") : NULL;
  if (out == NULL) return -218;
  fprintf(out, "1,-2,3,\n");
  result->cycles = 141;
  return fclose(out);
}
