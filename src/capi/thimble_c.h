// SPDX-License-Identifier: Apache-2.0
#ifndef THIMBLE_C_H
#define THIMBLE_C_H
/* The compiler and the host runtime for other languages, plain C99.
 *
 *   thimble_c_compile_request request = {0};
 *   request.version = THIMBLE_C_API_VERSION;
 *   request.model.path = "net.pt2";
 *   request.target = "cortex-m55";
 *   request.calibration_path = "calibrate.npz";
 *   thimble_c_compiled* compiled;
 *   thimble_c_error* error;
 *   if (thimble_c_compile(&request, &compiled, &error) != THIMBLE_C_OK) puts(error->message);
 *
 * Functions that can fail return a code and, except for THIMBLE_C_OK, an error that the caller
 * frees. Pointers to results are valid until the object is freed. Texts are UTF-8 and end with a
 * zero. An object is used by one thread at a time; different objects by any threads.
 *
 * A structure with a member `version` may grow at its end. A program sets it to the
 * THIMBLE_C_API_VERSION of its header; the library supports all versions up to its own. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define THIMBLE_C_API_VERSION 1

#if defined(_WIN32)
#define THIMBLE_C_EXPORT __declspec(dllexport)
#else
#define THIMBLE_C_EXPORT __attribute__((visibility("default")))
#endif

/* The first three are the exit codes of the program. After an error with the message
 * "out of memory" the library can be called again. If memory runs out while a JSON text is made,
 * std::terminate may be called. */
typedef enum thimble_c_code {
  THIMBLE_C_OK = 0,
  THIMBLE_C_UNSUPPORTED = 1, /* the target cannot run the model, or it does not fit */
  THIMBLE_C_BAD_INPUT = 2,
  THIMBLE_C_CANCELLED = 3
} thimble_c_code;

/* An operator that the target does not support. */
typedef struct thimble_c_op {
  const char* op;     /* "aten.grid_sampler_2d.default" */
  const char* source; /* "warp.py:41"; "" if the export has no source lines */
  const char* text;   /* the source line */
  const char* module; /* "stn.warp"; may be "" */
  const char* reason;
} thimble_c_op;

typedef struct thimble_c_error {
  thimble_c_code code;
  const char* message;
  const char* memory;             /* the memory that is too small: "sram"; "": another reason */
  int64_t needed_bytes;           /* in this memory */
  int64_t available_bytes;        /* in this memory */
  const char* const* suggestions; /* ways to compile the model that fit */
  size_t suggestion_count;
  const thimble_c_op* ops;
  size_t op_count;
} thimble_c_error;
THIMBLE_C_EXPORT void thimble_c_error_free(thimble_c_error* error);

/* THIMBLE_C_API_VERSION of the library, and its release: "0.2.0". */
THIMBLE_C_EXPORT uint32_t thimble_c_api_version(void);
THIMBLE_C_EXPORT const char* thimble_c_release(void);

typedef enum thimble_c_type {
  THIMBLE_C_BOOL,
  THIMBLE_C_INT8,
  THIMBLE_C_UINT8,
  THIMBLE_C_INT16,
  THIMBLE_C_INT32,
  THIMBLE_C_INT64,
  THIMBLE_C_FLOAT32,
  THIMBLE_C_FLOAT64,
  THIMBLE_C_TYPE_MAX = 0x7FFFFFFF /* not a type: an invalid value can be read and refused */
} thimble_c_type;

/* An array in C order. The caller owns the memory. */
typedef struct thimble_c_array {
  const char* name; /* of the input; NULL: by position */
  thimble_c_type type;
  const int64_t* shape;
  size_t rank;
  const void* data;
} thimble_c_array;

/* A path, or bytes and a name for messages: "net.pt2". */
typedef struct thimble_c_file {
  const char* path;
  const void* bytes; /* used if `path` is NULL */
  size_t size;
  const char* name;
} thimble_c_file;

/* Ends work from another thread or from a signal handler. */
typedef struct thimble_c_cancellation thimble_c_cancellation;
/* NULL: out of memory. */
THIMBLE_C_EXPORT thimble_c_cancellation* thimble_c_cancellation_new(void);
THIMBLE_C_EXPORT void thimble_c_cancel(thimble_c_cancellation* cancellation);
THIMBLE_C_EXPORT void thimble_c_cancellation_free(thimble_c_cancellation* cancellation);

/* Called with a phase, such as "calibrating", and how much of it is done; `total` is 0 if that is
 * not known. Called from threads of the library, one at a time. */
typedef void (*thimble_c_progress)(void* context, const char* phase, int64_t done, int64_t total);

typedef struct thimble_c_compile_request {
  uint32_t version;           /* THIMBLE_C_API_VERSION */
  thimble_c_file model;       /* written by torch.export.save */
  const char* target;         /* a part, as listed by thimble_c_targets() */
  const char* const* options; /* of `thimble compile`: "--io=int8" */
  size_t option_count;
  const char* calibration_path;       /* a .npz or .npy, "random", or NULL */
  const thimble_c_array* calibration; /* samples in memory instead; copied; may be NULL */
  size_t calibration_count;
  thimble_c_progress progress; /* may be NULL */
  void* progress_context;
  const thimble_c_cancellation* cancellation; /* may be NULL */
} thimble_c_compile_request;

typedef struct thimble_c_compiled thimble_c_compiled;
THIMBLE_C_EXPORT thimble_c_code thimble_c_compile(const thimble_c_compile_request* request,
                                                  thimble_c_compiled** compiled,
                                                  thimble_c_error** error);
/* The bytes of the .pte. */
THIMBLE_C_EXPORT const void* thimble_c_bytes(const thimble_c_compiled* compiled, size_t* size);
/* Returns what `thimble compile --json` prints. */
THIMBLE_C_EXPORT const char* thimble_c_report_json(const thimble_c_compiled* compiled);
/* Writes the .pte, and the files that the options request, in its folder. */
THIMBLE_C_EXPORT thimble_c_code thimble_c_save(thimble_c_compiled* compiled, const char* path,
                                               thimble_c_error** error);
/* Compares the model with its float model over samples: what `thimble compare --json` prints. */
THIMBLE_C_EXPORT thimble_c_code thimble_c_compare(const thimble_c_compiled* compiled,
                                                  const thimble_c_array* samples, size_t count,
                                                  char** json, thimble_c_error** error);
THIMBLE_C_EXPORT void thimble_c_compiled_free(thimble_c_compiled* compiled);

/* Runs a .pte. Options are those of `thimble run`: "--on=qemu". */
typedef struct thimble_c_interpreter thimble_c_interpreter;
THIMBLE_C_EXPORT thimble_c_code thimble_c_open(const thimble_c_file* program,
                                               const char* const* options, size_t option_count,
                                               thimble_c_interpreter** interpreter,
                                               thimble_c_error** error);
/* The number and the descriptions of inputs and outputs; `data` is NULL. NULL: no such index. */
THIMBLE_C_EXPORT size_t thimble_c_input_count(const thimble_c_interpreter* interpreter);
THIMBLE_C_EXPORT size_t thimble_c_output_count(const thimble_c_interpreter* interpreter);
THIMBLE_C_EXPORT const thimble_c_array* thimble_c_input(const thimble_c_interpreter* interpreter,
                                                        size_t index);
/* After a run, `data` is the result, until the next run. */
THIMBLE_C_EXPORT const thimble_c_array* thimble_c_output(const thimble_c_interpreter* interpreter,
                                                         size_t index);
/* Runs one call, or a call for each sample along the first axis. The next run continues with the
 * state of this one. After an error the state is undefined until thimble_c_reset(). */
THIMBLE_C_EXPORT thimble_c_code thimble_c_run(thimble_c_interpreter* interpreter,
                                              const thimble_c_array* inputs, size_t count,
                                              thimble_c_error** error);
/* Sets the state to its initial values. */
THIMBLE_C_EXPORT thimble_c_code thimble_c_reset(thimble_c_interpreter* interpreter,
                                                thimble_c_error** error);
THIMBLE_C_EXPORT void thimble_c_interpreter_free(thimble_c_interpreter* interpreter);

/* Results are what the program prints with --json. `*json` is freed by thimble_c_text_free(). */
THIMBLE_C_EXPORT thimble_c_code thimble_c_targets(const char* name, char** json,
                                                  thimble_c_error** error);
THIMBLE_C_EXPORT thimble_c_code thimble_c_inspect(const thimble_c_file* file, char** json,
                                                  thimble_c_error** error);
THIMBLE_C_EXPORT thimble_c_code thimble_c_fit(const thimble_c_file* models, size_t model_count,
                                              const char* const* options, size_t option_count,
                                              char** json, thimble_c_error** error);
THIMBLE_C_EXPORT void thimble_c_text_free(char* text);

#ifdef __cplusplus
}
#endif
#endif
