// SPDX-License-Identifier: Apache-2.0
/* Configuration of FreeRTOS: two tasks with static memory, no heap, handlers with CMSIS' names. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 20000000
#define configTICK_RATE_HZ 1000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_PREEMPTION 1
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configMAX_PRIORITIES 3
#define configMINIMAL_STACK_SIZE 128
#define configMAX_TASK_NAME_LEN 8
#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 0
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configCHECK_FOR_STACK_OVERFLOW 2
#define configUSE_TIMERS 0
#define configUSE_MUTEXES 0
#define INCLUDE_vTaskDelay 1
#define INCLUDE_uxTaskGetStackHighWaterMark 1

/* The highest priority from which an interrupt may call FreeRTOS; the boards have 8 priorities. */
#define configPRIO_BITS 3
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (1 << (8 - configPRIO_BITS))
#define configKERNEL_INTERRUPT_PRIORITY (7 << (8 - configPRIO_BITS))

/* Armv8-M: the application runs in the secure state, in which the boards start. */
#define configENABLE_TRUSTZONE 0
#define configRUN_FREERTOS_SECURE_ONLY 1
#define configENABLE_MPU 0
#if defined(__ARM_FP)
#define configENABLE_FPU 1
#else
#define configENABLE_FPU 0
#endif
#if defined(__ARM_FEATURE_MVE)
#define configENABLE_MVE 1
#endif

#ifndef __ASSEMBLER__
void board_end(int failed);
#endif
#define configASSERT(condition)     \
  do {                              \
    if (!(condition)) board_end(1); \
  } while (0)

#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler

#endif
