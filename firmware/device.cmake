# SPDX-License-Identifier: Apache-2.0
# Cross-compiled images as a part of the host build, without a second configuration. The functions keep
# their rows in global properties. An object is compiled once for each core that has flags of its own.
#
#   thimble_board(NAME CODE origin length DATA .. .. BIG .. .. UART kind address STACK bytes)
#   thimble_core(NAME BOARD (FLAGS ... [ISA dsp mve] | SAME_AS core))
#   thimble_firmware(APP CORES ... [KERNELS])     -> firmware/APP-CORE.elf, target image-APP-CORE

set(device_flags -mthumb -std=c++17 -fno-exceptions -fno-rtti
    -fno-unwind-tables -fno-asynchronous-unwind-tables -fno-threadsafe-statics -ffunction-sections
    -fdata-sections -ffp-contract=off -Wall -Wextra -Wconversion -Wshadow -Wdouble-promotion -Werror
    -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/runtime/include)
file(GLOB includes CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/engines/*/delegate/include)
foreach(include ${includes})
  list(APPEND device_flags -I${include})
endforeach()

function(thimble_board name)
  cmake_parse_arguments(board "" "STACK" "CODE;DATA;BIG;UART" ${ARGN})
  foreach(region CODE DATA BIG)
    list(GET board_${region} 0 ${region}_ORIGIN)
    list(GET board_${region} 1 ${region}_LENGTH)
  endforeach()
  set(STACK ${board_STACK})
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/common/link.ld.in
                 ${CMAKE_CURRENT_BINARY_DIR}/${name}.ld @ONLY)
  list(GET board_UART 0 uart)
  list(GET board_UART 1 address)
  set_property(GLOBAL PROPERTY thimble_board_${name}_defines
               -DTHIMBLE_UART_${uart} -DTHIMBLE_UART_ADDRESS=${address})
endfunction()

function(thimble_core name board)
  cmake_parse_arguments(core "" "SAME_AS" "FLAGS;ISA" ${ARGN})
  set(objects ${name})
  if(core_SAME_AS)
    set(objects ${core_SAME_AS})
  else()
    set_property(GLOBAL PROPERTY thimble_core_${name}_flags ${core_FLAGS})
    set_property(GLOBAL PROPERTY thimble_core_${name}_isa ${core_ISA})
  endif()
  set_property(GLOBAL PROPERTY thimble_core_${name}_board ${board})
  set_property(GLOBAL PROPERTY thimble_core_${name}_objects ${objects})
  set_property(GLOBAL APPEND PROPERTY thimble_cores ${name})
endfunction()

# Compiles `sources` of ROOT (default: this tree) for one core into DIR and returns the object files.
function(thimble_device_objects out core directory)
  cmake_parse_arguments(arg "" "ROOT" "OPTIONS;SOURCES" ${ARGN})
  if(NOT arg_ROOT)
    set(arg_ROOT ${CMAKE_SOURCE_DIR})
  endif()
  get_property(flags GLOBAL PROPERTY thimble_core_${core}_flags)
  set(objects)
  foreach(source ${arg_SOURCES})
    file(RELATIVE_PATH name ${arg_ROOT} ${source})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${directory}/${name}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${object}
      COMMAND ${CCACHE_PREFIX} ${ARM_CXX} ${flags} ${device_flags} ${arg_OPTIONS} -MMD -MT ${object}
              -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d VERBATIM
      COMMENT "Compiling ${name} for ${core}")
    list(APPEND objects ${object})
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

function(thimble_device_archive name)
  add_custom_command(OUTPUT ${name}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${name}
    COMMAND ${ARM_AR} qc ${name} ${ARGN}
    COMMAND ${ARM_RANLIB} ${name}
    DEPENDS ${ARGN} VERBATIM COMMENT "Archiving ${name}")
endfunction()

# Archives the code that executes the delegates of an engine on one core. For an engine outside the
# tree the archive also contains the delegates; those of the tree's engines are in the archives of the
# runtime.
function(thimble_device_engine engine core)
  get_property(root GLOBAL PROPERTY thimble_engine_${engine}_root)
  get_property(name GLOBAL PROPERTY thimble_core_${core}_objects)
  set(folders "${THIMBLE_ENGINE_MODEL}")
  set(directory ${name})
  if(NOT root STREQUAL CMAKE_SOURCE_DIR)
    string(APPEND folders "|${THIMBLE_ENGINE_SHARED}|${THIMBLE_ENGINE_DELEGATE}")
    string(MD5 directory ${root})
    set(directory outside/${directory}/${name})
  endif()
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/${directory}/lib${engine}.a)
  set_property(GLOBAL PROPERTY thimble_archive_${engine}_${core} ${archive})
  get_property(known GLOBAL PROPERTY thimble_device_engine_archives)
  if(archive IN_LIST known)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY thimble_device_engine_archives ${archive})
  thimble_engine_sources(sources ${engine} "${folders}")
  thimble_device_objects(objects ${name} ${directory} ROOT ${root} OPTIONS -O2 -I${root} SOURCES ${sources})
  thimble_device_archive(${archive} ${objects})
endfunction()

# Archives the runtime (with and without the trace hook) and the kernels of one core. Only sources that
# include the loaded model (runtime/exec/model.h) differ with the hook; the others are compiled once.
function(thimble_device_core core)
  file(GLOB_RECURSE runtime CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/*.cpp)
  # Delegates of the tree's engines, and the code that they share with the compiler.
  thimble_read_engines(engines ${CMAKE_SOURCE_DIR})
  foreach(engine ${engines})
    thimble_engine_sources(sources ${engine} "${THIMBLE_ENGINE_SHARED}|${THIMBLE_ENGINE_DELEGATE}")
    list(APPEND runtime ${sources})
  endforeach()
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/*.cpp)
  set(here ${CMAKE_CURRENT_BINARY_DIR}/${core})
  thimble_device_objects(objects ${core} ${core} OPTIONS -Os SOURCES ${runtime})
  thimble_device_archive(${here}/libruntime.a ${objects})
  set(traced ${runtime})
  list(FILTER traced INCLUDE REGEX "/runtime/(core|exec)/")
  thimble_device_objects(untraced ${core} ${core}/product OPTIONS -Os -DTHIMBLE_TRACE=0 SOURCES ${traced})
  list(TRANSFORM objects REPLACE "/${core}/(runtime/(core|exec)/)" "/${core}/product/\\1")
  thimble_device_archive(${here}/libruntime_product.a ${objects})
  thimble_device_objects(objects ${core} ${core} OPTIONS -O2 SOURCES ${kernels})
  thimble_device_archive(${here}/libkernels.a ${objects})
endfunction()

# Links APP for each core of CORES. KERNELS: with all kernels. PRODUCT: with the runtime of a product.
# ENGINE: with the code that executes the engine's delegates. SOURCES: further sources. LINK: further
# linker flags. OUTPUT: another folder for the image. The target image-APP-CORE builds the image.
function(thimble_firmware app)
  cmake_parse_arguments(arg "KERNELS;PRODUCT" "ENGINE;OUTPUT;ROOT" "CORES;LINK;SOURCES" ${ARGN})
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  file(GLOB app_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/apps/${app}/*.cpp)
  file(GLOB common CONFIGURE_DEPENDS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/common/*.cpp)
  foreach(core ${arg_CORES})
    get_property(board GLOBAL PROPERTY thimble_core_${core}_board)
    get_property(defines GLOBAL PROPERTY thimble_board_${board}_defines)
    get_property(built_as GLOBAL PROPERTY thimble_core_${core}_objects)
    get_property(flags GLOBAL PROPERTY thimble_core_${built_as}_flags)
    set(directory ${built_as}/${board})
    thimble_device_objects(objects ${built_as} ${directory} OPTIONS -Os ${defines}
                           SOURCES ${app_sources} ${common})
    # Sources of an engine outside the tree have include paths relative to its own root.
    set(own)
    set(shared ${arg_SOURCES})
    if(arg_ROOT AND NOT arg_ROOT STREQUAL CMAKE_SOURCE_DIR)
      set(own ${arg_SOURCES})
      list(FILTER own INCLUDE REGEX "^${arg_ROOT}/")
      list(FILTER shared EXCLUDE REGEX "^${arg_ROOT}/")
      string(MD5 place ${arg_ROOT})
      thimble_device_objects(own ${built_as} outside/${place}/${directory} ROOT ${arg_ROOT}
                             OPTIONS -Os ${defines} -I${arg_ROOT} SOURCES ${own})
    endif()
    thimble_device_objects(more ${built_as} ${directory} OPTIONS -Os ${defines} SOURCES ${shared})
    list(APPEND objects ${more} ${own})
    set(archives ${CMAKE_CURRENT_BINARY_DIR}/${built_as}/libruntime.a)
    if(arg_PRODUCT)
      set(archives ${CMAKE_CURRENT_BINARY_DIR}/${built_as}/libruntime_product.a)
    endif()
    if(arg_KERNELS)
      list(APPEND archives ${CMAKE_CURRENT_BINARY_DIR}/${built_as}/libkernels.a)
    endif()
    if(arg_ENGINE)
      thimble_device_engine(${arg_ENGINE} ${core})
      get_property(archive GLOBAL PROPERTY thimble_archive_${arg_ENGINE}_${core})
      list(APPEND archives ${archive})
    endif()
    set(image ${arg_OUTPUT}/${app}-${core}.elf)
    file(MAKE_DIRECTORY ${arg_OUTPUT})
    set(script ${CMAKE_CURRENT_BINARY_DIR}/${board}.ld)
    add_custom_command(OUTPUT ${image}
      COMMAND ${ARM_CXX} ${flags} -mthumb -nostdlib -nostartfiles -static -Wl,--gc-sections
              -Wl,--fatal-warnings -Wl,--no-warn-rwx-segments -T ${script} ${arg_LINK} ${objects}
              -Wl,--start-group ${archives} -lm -lc -lgcc -Wl,--end-group -o ${image}
      DEPENDS ${objects} ${archives} ${script} VERBATIM COMMENT "Linking ${app}-${core}.elf")
    set_property(GLOBAL APPEND PROPERTY thimble_images ${image})
    if(app MATCHES "^runner" AND arg_OUTPUT STREQUAL CMAKE_CURRENT_BINARY_DIR)
      set_property(GLOBAL APPEND PROPERTY thimble_runner_images ${image})
    endif()
    if(arg_OUTPUT STREQUAL CMAKE_CURRENT_BINARY_DIR)
      add_custom_target(image-${app}-${core} DEPENDS ${image})
    endif()
  endforeach()
endfunction()

# Adds a runner to OUTPUT for each engine of ROOTS whose row lists cores (cmake/engine_rows.cmake). It has
# the sources of the engine's firmware/ and the code that executes the engine's delegates.
function(thimble_engine_runners output)
  thimble_read_engines(engines ${ARGN})
  foreach(engine ${engines})
    get_property(cores GLOBAL PROPERTY thimble_engine_${engine}_RUNNER)
    get_property(link GLOBAL PROPERTY thimble_engine_${engine}_RUNNER_LINK)
    get_property(root GLOBAL PROPERTY thimble_engine_${engine}_root)
    foreach(core ${cores})
      get_property(built_as GLOBAL PROPERTY thimble_core_${core}_objects)
      if(NOT built_as)
        message(FATAL_ERROR "${root}: RUNNER ${core}: no such core in firmware/cores.cmake")
      endif()
    endforeach()
    if(cores)
      thimble_engine_sources(sources ${engine} firmware)
      string(REPLACE "_" "-" app ${engine})
      thimble_firmware(runner-${app} CORES ${cores} KERNELS ENGINE ${engine} OUTPUT ${output} LINK ${link} ROOT ${root}
                       SOURCES ${sources} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/apps/runner/main.cpp
                               ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/apps/runner/empty_kernels.cpp)
    endif()
  endforeach()
endfunction()
