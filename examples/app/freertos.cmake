# SPDX-License-Identifier: Apache-2.0
# FreeRTOS for the application: the scheduler, and the port for the core.
set(ports cortex-m0plus ARM_CM0 cortex-m4 ARM_CM4F cortex-m33 ARM_CM33_NTZ/non_secure cortex-m55 ARM_CM55_NTZ/non_secure)
list(FIND ports ${CORE} at)
math(EXPR at "${at} + 1")
list(GET ports ${at} port)
set(port ${FREERTOS_KERNEL_PATH}/portable/GCC/${port})
file(GLOB port_sources ${port}/port.c ${port}/portasm.c)
if(NOT port_sources OR NOT EXISTS ${FREERTOS_KERNEL_PATH}/tasks.c)
  message(FATAL_ERROR "FREERTOS_KERNEL_PATH is '${FREERTOS_KERNEL_PATH}'; a folder of FreeRTOS-Kernel was expected, with tasks.c "
                      "and ${port}/port.c")
endif()
add_library(freertos STATIC ${FREERTOS_KERNEL_PATH}/tasks.c ${FREERTOS_KERNEL_PATH}/list.c ${FREERTOS_KERNEL_PATH}/queue.c
                            ${port_sources})
target_include_directories(freertos SYSTEM PUBLIC ${FREERTOS_KERNEL_PATH}/include ${port} ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(app PRIVATE freertos)
