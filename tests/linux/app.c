/* SPDX-License-Identifier: Apache-2.0 */
/* A Linux product: runs a .pte with libthimble, and its NPU calls on the NPU of the kernel's driver
 * if a fourth argument is given.
 *
 *   app MODEL.pte INPUT OUTPUT [npu [OLD.pte]]
 *
 * INPUT has the bytes of input 0, OUTPUT gets those of output 0. OLD.pte, a file of the same size,
 * is loaded and run at the same addresses before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thimble.h"
#include "thimble_ethos_u_linux.h"

static void* read_file(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return NULL;
  *bytes = (size_t)ftell(file);
  rewind(file);
  void* data = aligned_alloc(16, (*bytes + 31) / 16 * 16);
  if (data == NULL || fread(data, 1, *bytes, file) != *bytes) return NULL;
  fclose(file);
  return data;
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  size_t pte_bytes, input_bytes;
  void* pte = read_file(argv[1], &pte_bytes);
  void* input = read_file(argv[2], &input_bytes);
  if (pte == NULL || input == NULL) return 2;
  const thimble_kernels* kernels = thimble_all_kernels();
  thimble_ethos_u_linux* npu = NULL;
  if (argc > 4) {
    char error[256];
    npu = thimble_ethos_u_linux_open(NULL, error, sizeof error);
    if (npu == NULL) {
      fprintf(stderr, "%s\n", error);
      return 1;
    }
    thimble_ethos_u_linux_set_timeout(npu, 500);
    kernels = thimble_ethos_u_linux_kernels(npu);
    fprintf(stderr, "%s\n", thimble_ethos_u_linux_name(npu));
  }
  size_t old_bytes = 0;
  void* old = argc > 5 ? read_file(argv[5], &old_bytes) : NULL;
  if (argc > 5 && (old == NULL || old_bytes != pte_bytes)) return 3;
  void* file = aligned_alloc(16, (pte_bytes + 31) / 16 * 16);
  if (file == NULL) return 2;
  thimble_needs needs;
  thimble_model model;
  thimble_view y;
  void* memory = NULL;
  thimble_status status = thimble_size(pte, pte_bytes, kernels, &needs);
  if (status == 0)
    memory = aligned_alloc(16, (needs.arena_bytes + needs.state_bytes + 31) / 16 * 16);
  for (int load = old != NULL ? 0 : 1; load < 2 && status == 0; ++load) {
    memcpy(file, load == 0 ? old : pte, pte_bytes);
    status = thimble_init(&model, file, pte_bytes, kernels, memory,
                          needs.arena_bytes + needs.state_bytes);
    for (int run = 0; run < 2 && status == 0; ++run) { /* the second run has the same result */
      status = thimble_set_input(&model, 0, input, input_bytes);
      if (status == 0) status = thimble_run(&model);
    }
  }
  if (status == 0) status = thimble_output(&model, 0, &y);
  if (status != 0) {
    fprintf(stderr, "%s\n", thimble_status_text(status));
    if (npu != NULL) fprintf(stderr, "%s\n", thimble_ethos_u_linux_error(npu));
    return 1;
  }
  FILE* output = fopen(argv[3], "wb");
  if (output == NULL || fwrite(y.data, 1, y.bytes, output) != y.bytes) return 2;
  fclose(output);
  if (npu != NULL) thimble_ethos_u_linux_close(npu);
  free(memory);
  free(file);
  free(old);
  free(input);
  free(pte);
  return 0;
}
