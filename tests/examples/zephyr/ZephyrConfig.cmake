# Stands in for Zephyr, so that its applications run on an emulated Cortex-M33: reads prj.conf as Kconfig would end up with
# it, makes the library `app`, adds the modules, and links all of it with the start-up code of examples/app.
#
#   cmake -S examples/nordic/hello_axon -DZephyr_DIR=tests/examples/zephyr -DCORE=cortex-m33
#         -DCMAKE_TOOLCHAIN_FILE=examples/app/arm-none-eabi.cmake
project(Zephyr C CXX ASM)
set(STANDIN_DIR ${CMAKE_CURRENT_LIST_DIR})
get_filename_component(BOARD_DIR ${STANDIN_DIR}/../../../examples/app ABSOLUTE)

file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/prj.conf rows REGEX "^CONFIG_[A-Z0-9_]+=")
foreach(row ${rows})
  string(REGEX MATCH "^(CONFIG_[A-Z0-9_]+)=(.*)$" row "${row}")
  set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

add_library(zephyr_interface INTERFACE)
target_include_directories(zephyr_interface INTERFACE ${STANDIN_DIR}/include)

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
  get_filename_component(name ${module} ABSOLUTE)
  file(STRINGS ${module}/zephyr/module.yml cmake REGEX "^ *cmake: ")
  string(REGEX REPLACE "^ *cmake: *" "" cmake "${cmake}")
  add_subdirectory(${module}/${cmake} module_${cmake})
endforeach()
