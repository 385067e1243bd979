# SPDX-License-Identifier: Apache-2.0
# GCC for one core of one emulated board. -DCORE=cortex-m0plus | cortex-m4 | cortex-m33 | cortex-m55
#
# With -DKERNEL_CODE=ram, board_kernel_code.ld places the code of kernels at BOARD_KERNELS: in the ITCM of mps3-an547, whose
# vectors are there too and whose SRAM has the other code; on the other boards in RAM.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CORE)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)

set(float -mfloat-abi=hard)
if(CORE STREQUAL "cortex-m0plus") # mps2-an385, whose Cortex-M3 executes the same instructions
  set(BOARD_CODE 0x00000000)
  set(BOARD_DATA 0x20000000)
  set(BOARD_UART 0x40004000)
  set(float)
elseif(CORE STREQUAL "cortex-m4") # mps2-an386
  set(BOARD_CODE 0x00000000)
  set(BOARD_DATA 0x20000000)
  set(BOARD_UART 0x40004000)
elseif(CORE STREQUAL "cortex-m33") # mps2-an505
  set(BOARD_CODE 0x10000000)
  set(BOARD_DATA 0x38000000)
  set(BOARD_UART 0x50200000)
elseif(CORE STREQUAL "cortex-m55") # mps3-an547
  set(BOARD_CODE 0x00000000)
  set(BOARD_DATA 0x20000000)
  set(BOARD_UART 0x59303000)
else()
  message(FATAL_ERROR "CORE is '${CORE}'; cortex-m0plus, cortex-m4, cortex-m33 or cortex-m55 was expected")
endif()
if(CORE STREQUAL "cortex-m55")
  set(BOARD_KERNELS 0x00000400)
  set(BOARD_KERNEL_CODE 0x01000000)
else()
  math(EXPR BOARD_KERNELS "${BOARD_DATA} + 128 * 1024" OUTPUT_FORMAT HEXADECIMAL)
  math(EXPR BOARD_KERNEL_CODE "${BOARD_CODE} + 1024" OUTPUT_FORMAT HEXADECIMAL)
endif()
set(flags "-mcpu=${CORE} -mthumb ${float} -Os -g -ffunction-sections -fdata-sections")
set(CMAKE_C_FLAGS_INIT "${flags}")
set(CMAKE_CXX_FLAGS_INIT "${flags}")
set(CMAKE_ASM_FLAGS_INIT "${flags}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "--specs=nano.specs --specs=nosys.specs")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
