# SPDX-License-Identifier: Apache-2.0
# Stand-in for Zephyr that runs its applications on an emulated Cortex-M33. Reads prj.conf and the modules' Kconfig, creates
# the library `app`, adds the modules, and links everything with the start-up code of examples/app.
#
#   cmake -S examples/nordic/hello_axon -DZephyr_DIR=tests/examples/zephyr -DCORE=cortex-m33
#         -DCMAKE_TOOLCHAIN_FILE=examples/app/arm-none-eabi.cmake -DSTANDIN_CONFIG=CONFIG_THIMBLE_NORDIC_AXON_MODEL=y
project(Zephyr C CXX ASM)
set(STANDIN_DIR ${CMAKE_CURRENT_LIST_DIR})
get_filename_component(BOARD_DIR ${STANDIN_DIR}/../../../examples/app ABSOLUTE)

# Sets the configuration as CMake variables, and as compile definitions of every file.
set(PYTHON_WITH_KCONFIG python3 CACHE STRING "A Python that has kconfiglib")
execute_process(COMMAND ${PYTHON_WITH_KCONFIG} ${STANDIN_DIR}/configure.py ${CMAKE_CURRENT_SOURCE_DIR}/prj.conf
                        ${CMAKE_CURRENT_BINARY_DIR} --modules ${EXTRA_ZEPHYR_MODULES} --settings ${STANDIN_CONFIG}
                COMMAND_ERROR_IS_FATAL ANY)
include(${CMAKE_CURRENT_BINARY_DIR}/config.cmake)

add_library(zephyr_interface INTERFACE)
target_include_directories(zephyr_interface INTERFACE ${STANDIN_DIR}/include)
target_compile_definitions(zephyr_interface INTERFACE ${CONFIG_DEFINITIONS})

add_library(app STATIC ${STANDIN_DIR}/kernel.c)
target_include_directories(app PRIVATE ${BOARD_DIR})
target_link_libraries(app PUBLIC zephyr_interface)
target_compile_options(app PRIVATE -Wall -Wextra -Werror)

add_executable(zephyr_elf ${BOARD_DIR}/board.c)
set_target_properties(zephyr_elf PROPERTIES OUTPUT_NAME zephyr.elf LINKER_LANGUAGE C)
target_compile_definitions(zephyr_elf PRIVATE UART_ADDRESS=${BOARD_UART})
target_link_libraries(zephyr_elf PRIVATE -Wl,--whole-archive app -Wl,--no-whole-archive)
target_link_options(zephyr_elf PRIVATE -T ${BOARD_DIR}/board.ld -Wl,--defsym=CODE_ORIGIN=${BOARD_CODE}
                    -Wl,--defsym=DATA_ORIGIN=${BOARD_DATA} -nostartfiles -Wl,--gc-sections -Wl,--no-warn-rwx-segments)

foreach(module ${EXTRA_ZEPHYR_MODULES})
  get_filename_component(module ${module} ABSOLUTE)
  file(STRINGS ${module}/zephyr/module.yml folder REGEX "^ *cmake: ")
  string(REGEX REPLACE "^ *cmake: *" "" folder "${folder}")
  get_filename_component(name ${module} NAME)
  add_subdirectory(${module}/${folder} modules/${name})
endforeach()
