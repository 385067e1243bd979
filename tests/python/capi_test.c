/* SPDX-License-Identifier: Apache-2.0 */
/* The C API from a program in C99.
 *
 * usage: capi_test MODEL.pt2 CALIBRATE.npz FOLDER
 *
 * MODEL.pt2 is digits_cnn: one input float32[1,1,8,8], one output float32[1,10]. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/capi/thimble_c.h"

static int failures = 0;

#define EXPECT(condition)                                              \
  do {                                                                 \
    if (!(condition)) {                                                \
      printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                      \
    }                                                                  \
  } while (0)

static int calls = 0;

static void count_calls(void* context, const char* phase, int64_t done, int64_t total) {
  EXPECT(*(int*)context == 42);
  EXPECT(strlen(phase) < 100);
  EXPECT(done >= 0 && total >= 0);
  ++calls;
}

static thimble_c_compile_request request_of(const char* model, const char* data) {
  thimble_c_compile_request request;
  memset(&request, 0, sizeof request);
  request.version = THIMBLE_C_API_VERSION;
  request.model.path = model;
  request.target = "cortex-m55";
  request.calibration_path = data;
  return request;
}

static void compile_and_run(const char* model, const char* data, const char* folder) {
  static int context = 42;
  thimble_c_compile_request request = request_of(model, data);
  thimble_c_compiled* compiled = NULL;
  thimble_c_error* error = NULL;
  const char* options[] = {"--names"};
  request.options = options;
  request.option_count = 1;
  request.progress = count_calls;
  request.progress_context = &context;
  if (thimble_c_compile(&request, &compiled, &error) != THIMBLE_C_OK) {
    printf("%s\n", error->message);
    exit(1);
  }
  EXPECT(calls > 0);
  size_t size = 0;
  const void* bytes = thimble_c_bytes(compiled, &size);
  EXPECT(size > 100 && memcmp((const char*)bytes + 4, "ET12", 4) == 0);
  EXPECT(strstr(thimble_c_report_json(compiled), "\"arena_bytes\"") != NULL);

  char path[4096];
  snprintf(path, sizeof path, "%s/capi.pte", folder);
  EXPECT(thimble_c_save(compiled, path, &error) == THIMBLE_C_OK);
  EXPECT(thimble_c_save(compiled, "/nowhere/x.pte", &error) == THIMBLE_C_BAD_INPUT);
  EXPECT(strstr(error->message, "/nowhere") != NULL);
  thimble_c_error_free(error);

  thimble_c_file program;
  memset(&program, 0, sizeof program);
  program.bytes = bytes;
  program.size = size;
  program.name = "capi.pte";
  thimble_c_interpreter* interpreter = NULL;
  EXPECT(thimble_c_open(&program, NULL, 0, &interpreter, &error) == THIMBLE_C_OK);
  EXPECT(thimble_c_input_count(interpreter) == 1 && thimble_c_output_count(interpreter) == 1);
  const thimble_c_array* port = thimble_c_input(interpreter, 0);
  EXPECT(port->type == THIMBLE_C_FLOAT32 && port->rank == 4 && port->shape[3] == 8);
  EXPECT(thimble_c_input(interpreter, 1) == NULL);

  float x[64];
  for (int i = 0; i < 64; ++i) x[i] = (float)(i % 17);
  static const int64_t shape[] = {1, 1, 8, 8};
  thimble_c_array input = {NULL, THIMBLE_C_FLOAT32, shape, 4, NULL};
  input.data = x;
  EXPECT(thimble_c_run(interpreter, &input, 1, &error) == THIMBLE_C_OK);
  const thimble_c_array* output = thimble_c_output(interpreter, 0);
  EXPECT(output->rank == 2 && output->shape[1] == 10);
  float first[10];
  memcpy(first, output->data, sizeof first);
  EXPECT(thimble_c_reset(interpreter, &error) == THIMBLE_C_OK);
  EXPECT(thimble_c_run(interpreter, &input, 1, &error) == THIMBLE_C_OK);
  EXPECT(memcmp(first, thimble_c_output(interpreter, 0)->data, sizeof first) == 0);
  EXPECT(thimble_c_run(interpreter, NULL, 0, &error) == THIMBLE_C_BAD_INPUT);
  thimble_c_error_free(error);
  EXPECT(thimble_c_run(interpreter, NULL, 1, &error) == THIMBLE_C_BAD_INPUT);
  thimble_c_error_free(error);
  thimble_c_interpreter_free(interpreter);

  char* json = NULL;
  input.data = x;
  EXPECT(thimble_c_compare(compiled, &input, 1, &json, &error) == THIMBLE_C_OK);
  EXPECT(strstr(json, "sqnr_db") != NULL);
  thimble_c_text_free(json);
  EXPECT(thimble_c_save(compiled, NULL, &error) == THIMBLE_C_BAD_INPUT);
  thimble_c_error_free(error);
  thimble_c_compiled_free(compiled);
}

static void errors(const char* model, const char* data) {
  thimble_c_compile_request request = request_of(model, data);
  thimble_c_compiled* compiled = NULL;
  thimble_c_error* error = NULL;

  request.version = THIMBLE_C_API_VERSION + 1;
  EXPECT(thimble_c_compile(&request, &compiled, &error) == THIMBLE_C_BAD_INPUT);
  thimble_c_error_free(error);
  request.version = THIMBLE_C_API_VERSION;

  const char* small[] = {"--memory=sram=1000"};
  request.options = small;
  request.option_count = 1;
  EXPECT(thimble_c_compile(&request, &compiled, &error) == THIMBLE_C_UNSUPPORTED);
  EXPECT(strcmp(error->memory, "sram") == 0 && error->available_bytes == 1000);
  EXPECT(error->needed_bytes > 1000);
  thimble_c_error_free(error);

  const char* unknown[] = {"--activation=int16"};
  request.options = unknown;
  EXPECT(thimble_c_compile(&request, &compiled, &error) == THIMBLE_C_BAD_INPUT);
  EXPECT(strstr(error->message, "--activations") != NULL);
  thimble_c_error_free(error);
  EXPECT(thimble_c_compile(&request, &compiled, NULL) == THIMBLE_C_BAD_INPUT);

  const char* missing[] = {NULL};
  request.options = missing;
  EXPECT(thimble_c_compile(&request, &compiled, &error) == THIMBLE_C_BAD_INPUT);
  EXPECT(strstr(error->message, "option 0: found NULL") != NULL);
  thimble_c_error_free(error);

  request.options = NULL;
  EXPECT(thimble_c_compile(&request, &compiled, &error) == THIMBLE_C_BAD_INPUT);
  EXPECT(strcmp(error->message, "1 options, found NULL") == 0);
  thimble_c_error_free(error);
  const char* help[] = {"--help"};
  request.options = help;
  EXPECT(thimble_c_compile(&request, &compiled, &error) == THIMBLE_C_BAD_INPUT);
  EXPECT(strcmp(error->message, "--help is an option of the program only") == 0);
  thimble_c_error_free(error);
  request.option_count = 0;
  thimble_c_array no_shape = {"x", THIMBLE_C_FLOAT32, NULL, 2, NULL};
  request.calibration = &no_shape;
  request.calibration_count = 1;
  EXPECT(thimble_c_compile(&request, &compiled, &error) == THIMBLE_C_BAD_INPUT);
  EXPECT(strcmp(error->message, "x: no shape") == 0);
  thimble_c_error_free(error);
  request.calibration = NULL;
  request.calibration_count = 0;

  thimble_c_file file = {0};
  thimble_c_interpreter* interpreter = NULL;
  file.bytes = "";
  file.name = "..";
  EXPECT(thimble_c_open(&file, NULL, 0, &interpreter, &error) == THIMBLE_C_BAD_INPUT);
  EXPECT(strcmp(error->message, "found \"..\", expected the name of a file") == 0);
  thimble_c_error_free(error);
  file.name = "a.pte";
  const char* state[] = {"--save-state=x"};
  EXPECT(thimble_c_open(&file, state, 1, &interpreter, &error) == THIMBLE_C_BAD_INPUT);
  EXPECT(strstr(error->message, "--save-state: ") == error->message);
  thimble_c_error_free(error);

  thimble_c_cancellation* cancellation = thimble_c_cancellation_new();
  thimble_c_cancel(cancellation);
  request.option_count = 0;
  request.cancellation = cancellation;
  EXPECT(thimble_c_compile(&request, &compiled, &error) == THIMBLE_C_CANCELLED);
  thimble_c_error_free(error);
  thimble_c_cancellation_free(cancellation);
}

static void queries(const char* model) {
  char* json = NULL;
  thimble_c_error* error = NULL;
  EXPECT(thimble_c_targets("cortex-m55", &json, &error) == THIMBLE_C_OK);
  EXPECT(strstr(json, "Helium") != NULL);
  thimble_c_text_free(json);
  EXPECT(thimble_c_targets("nothing", &json, &error) == THIMBLE_C_BAD_INPUT);
  thimble_c_error_free(error);
  thimble_c_file file;
  memset(&file, 0, sizeof file);
  file.path = model;
  EXPECT(thimble_c_inspect(&file, &json, &error) == THIMBLE_C_OK);
  EXPECT(strstr(json, "aten.conv2d") != NULL);
  thimble_c_text_free(json);
  const char* options[] = {"--part=stm32f7*"};
  EXPECT(thimble_c_fit(&file, 1, options, 1, &json, &error) == THIMBLE_C_OK);
  EXPECT(strstr(json, "\"parts\"") != NULL);
  thimble_c_text_free(json);
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  EXPECT(thimble_c_api_version() == THIMBLE_C_API_VERSION);
  EXPECT(strchr(thimble_c_release(), '.') != NULL);
  compile_and_run(argv[1], argv[2], argv[3]);
  errors(argv[1], argv[2]);
  queries(argv[1]);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
