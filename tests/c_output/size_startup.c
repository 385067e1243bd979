/* SPDX-License-Identifier: Apache-2.0 */
/* The minimum that a product needs around a model: the vector table and the code before main. */

#include <stdint.h>
#include <string.h>

extern uint32_t stack_top[];
extern uint8_t data_start[], data_end[], data_image[], bss_start[], bss_end[];
int main(void);
void reset_handler(void);

struct vectors {
  const void* stack;
  void (*handlers[15])(void);
};
__attribute__((used, section(".vectors"))) static const struct vectors vectors = {stack_top,
                                                                                  {reset_handler}};

void reset_handler(void) {
#if defined(__ARM_FP)
  *(volatile uint32_t*)0xE000ED88u |= 0xFu << 20; /* CPACR: enables floating point */
#endif
  (void)memcpy(data_start, data_image, (size_t)(data_end - data_start));
  (void)memset(bss_start, 0, (size_t)(bss_end - bss_start));
  (void)main();
  for (;;) {
  }
}
