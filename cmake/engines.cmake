# SPDX-License-Identifier: Apache-2.0
# Engines in the host build: a library for each subfolder, and the lists of engines that the program
# reads. The lists are written at configuration, from the rows of this tree and of
# THIMBLE_EXTRA_TARGETS (cmake/engine_rows.cmake).
include(${CMAKE_CURRENT_LIST_DIR}/engine_rows.cmake)
set(THIMBLE_EXTRA_TARGETS "" CACHE STRING "Folders outside the tree with further engines and parts")
foreach(root ${THIMBLE_EXTRA_TARGETS})
  if(NOT IS_ABSOLUTE ${root} OR NOT IS_DIRECTORY ${root})
    message(FATAL_ERROR "THIMBLE_EXTRA_TARGETS: ${root}: the absolute path of a folder expected")
  endif()
endforeach()
set(THIMBLE_ENGINE_ROOTS ${CMAKE_SOURCE_DIR} ${THIMBLE_EXTRA_TARGETS})

# Example of a folder for THIMBLE_EXTRA_TARGETS, copied out of the tree for the tests.
if(THIMBLE_TESTS)
  set(THIMBLE_EXAMPLE_TARGET ${CMAKE_BINARY_DIR}/outside/abacus)
  file(GLOB_RECURSE example CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/extra_target/abacus/*)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${example})
  file(REMOVE_RECURSE ${THIMBLE_EXAMPLE_TARGET})
  file(COPY ${CMAKE_SOURCE_DIR}/tests/extra_target/abacus DESTINATION ${CMAKE_BINARY_DIR}/outside)
endif()

# Adds sources of an engine to `target`. Sources outside the tree get the include folder of their root.
function(thimble_add_engine_sources target engine folders)
  cmake_parse_arguments(arg "" "" "FLAGS" ${ARGN})
  thimble_engine_sources(sources ${engine} "${folders}")
  get_property(optimized GLOBAL PROPERTY thimble_engine_${engine}_OPTIMIZED)
  if(optimized AND NOT folders STREQUAL optimized)
    get_property(folder GLOBAL PROPERTY thimble_engine_${engine}_folder)
    list(FILTER sources EXCLUDE REGEX "^${folder}/${optimized}/")
  endif()
  target_sources(${target} PRIVATE ${sources})
  get_property(root GLOBAL PROPERTY thimble_engine_${engine}_root)
  if(NOT root STREQUAL CMAKE_SOURCE_DIR AND sources)
    set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY INCLUDE_DIRECTORIES ${root})
  endif()
endfunction()

# Adds thimble_<engine>_<name>, a library of the engine's subfolders `folders`. DEVICE: device code.
function(thimble_engine_library engine name folders)
  cmake_parse_arguments(arg "DEVICE" "" "DEPS" ${ARGN})
  set(library thimble_${engine}_${name})
  if(TARGET ${library})
    return()
  endif()
  thimble_engine_sources(sources ${engine} "${folders}")
  if(NOT sources)
    add_library(${library} INTERFACE)
    target_link_libraries(${library} INTERFACE thimble_options ${arg_DEPS})
    return()
  endif()
  add_library(${library} STATIC)
  thimble_add_engine_sources(${library} ${engine} "${folders}")
  target_link_libraries(${library} PUBLIC thimble_options ${arg_DEPS})
  if(NOT arg_DEVICE)
    thimble_unity(${library})
  elseif(NOT MSVC)
    target_compile_options(${library} PRIVATE -fno-exceptions -fno-rtti)
    thimble_optimize(${library})
  endif()
endfunction()

# Creates the libraries of the engines of ROOTS that the compiler, the host runtime and tests link.
function(thimble_engine_libraries)
  thimble_read_engines(engines ${ARGN})
  foreach(engine ${engines})
    get_property(folder GLOBAL PROPERTY thimble_engine_${engine}_folder)
    if(EXISTS ${folder}/delegate/include)
      target_include_directories(thimble_options INTERFACE ${folder}/delegate/include)
    endif()
    thimble_engine_library(${engine} container "${THIMBLE_ENGINE_SHARED}" DEVICE DEPS thimble_abi)
    thimble_engine_library(${engine} model "${THIMBLE_ENGINE_MODEL}" DEVICE DEPS thimble_${engine}_container)
    thimble_engine_library(${engine} text text DEPS thimble_base thimble_${engine}_container)
    thimble_engine_library(${engine} formats formats DEPS thimble_formats thimble_${engine}_container)
    thimble_engine_library(${engine} delegate "${THIMBLE_ENGINE_DELEGATE}" DEVICE
                           DEPS thimble_runtime thimble_${engine}_container)
    thimble_engine_library(${engine} linux_driver "${THIMBLE_ENGINE_LINUX}" DEPS thimble_${engine}_delegate)
    if(EXISTS ${folder}/linux_driver/include AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
      target_include_directories(thimble_${engine}_linux_driver PRIVATE ${folder}/linux_driver/include)
    endif()
  endforeach()
endfunction()

# Writes OUT: a function `result` of `namespace` that lists functions of type `type`.
function(thimble_write_rows out namespace own_header result type includes rows)
  file(CONFIGURE OUTPUT ${out} CONTENT [[
#include "@own_header@"

@includes@
namespace @namespace@ {

std::span<@type@* const> @result@() {
  static constexpr @type@* kRows[] = {
@rows@      nullptr};
  return std::span<@type@* const>(kRows, std::size(kRows) - 1);
}

}  // namespace @namespace@
]] @ONLY)
endfunction()

# Adds to `target` the list of the functions that the headers named by column `key` of the rows declare.
# FUNCTION: the function's C++ name, in which ENGINE stands for the engine's name.
function(thimble_add_row_list target key namespace own_header result type function engines)
  set(includes)
  set(rows)
  foreach(engine ${engines})
    get_property(header GLOBAL PROPERTY thimble_engine_${engine}_${key})
    if(header)
      string(REPLACE ENGINE ${engine} name ${function})
      string(APPEND includes "#include \"${header}\"\n")
      string(APPEND rows "      &${name},\n")
    endif()
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_registry/${result}.cpp)
  thimble_write_rows(${out} ${namespace} ${own_header} ${result} ${type} "${includes}" "${rows}")
  target_sources(${target} PRIVATE ${out})
  # Each list is a translation unit of its own, so that a program with other engines can replace it.
  set_property(SOURCE ${out} TARGET_DIRECTORY ${target} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
  set(roots ${THIMBLE_EXTRA_TARGETS} ${THIMBLE_EXAMPLE_TARGET})
  set_property(SOURCE ${out} TARGET_DIRECTORY ${target} PROPERTY INCLUDE_DIRECTORIES ${roots})
endfunction()

# Adds to `target` the compilers of the engines of ROOTS, their lists and the parts of targets/.
function(thimble_engine_registry target)
  cmake_parse_arguments(arg "" "" "ROOTS" ${ARGN})
  thimble_read_engines(engines ${arg_ROOTS})
  thimble_add_row_list(${target} CORES thimble::engine engine/registry.h core_rows CoreList ENGINE::cores "${engines}")
  thimble_add_row_list(${target} NPUS thimble::engine engine/registry.h npu_rows NpuList ENGINE::npus "${engines}")
  set(parts)
  set(names)
  foreach(root ${arg_ROOTS})
    file(GLOB own CONFIGURE_DEPENDS ${root}/targets/*.toml)
    list(APPEND parts ${own})
  endforeach()
  foreach(part ${parts})
    get_filename_component(name ${part} NAME_WE)
    if(name IN_LIST names)
      message(FATAL_ERROR "${part}: a part ${name} exists already")
    endif()
    list(APPEND names ${name})
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${target}_registry/parts_text.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DPARTS=${parts}" -P ${CMAKE_SOURCE_DIR}/cmake/parts_text.cmake
    DEPENDS ${parts} ${CMAKE_SOURCE_DIR}/cmake/parts_text.cmake VERBATIM
    COMMENT "Embedding the parts of ${target}")
  target_sources(${target} PRIVATE ${out})
  set_property(SOURCE ${out} TARGET_DIRECTORY ${target} PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Adds to `target` the list of the rows of KIND of the engines of ROOTS: DEVICES or CLI.
function(thimble_engine_list target kind)
  cmake_parse_arguments(arg "" "" "ROOTS" ${ARGN})
  thimble_read_engines(engines ${arg_ROOTS})
  set(DEVICES thimble::hostrun hostrun/device.h device_rows DeviceList ENGINE_devices)
  set(CLI thimble::tools tools/engine_cli.h engine_cli_rows EngineCliMaker ENGINE_cli)
  thimble_add_row_list(${target} ${kind} ${${kind}} "${engines}")
endfunction()

# Adds to `target` the sources in subfolder `folder` of the engines of ROOTS, and links the libraries
# thimble_<engine>_<name> for each name of LIBRARIES.
function(thimble_add_engines target folder)
  cmake_parse_arguments(arg "" "" "ROOTS;LIBRARIES" ${ARGN})
  thimble_read_engines(engines ${arg_ROOTS})
  foreach(engine ${engines})
    thimble_add_engine_sources(${target} ${engine} ${folder})
    list(TRANSFORM arg_LIBRARIES PREPEND thimble_${engine}_ OUTPUT_VARIABLE libraries)
    get_property(optimized GLOBAL PROPERTY thimble_engine_${engine}_OPTIMIZED)
    if(optimized MATCHES "^${folder}/")
      thimble_engine_library(${engine} optimized ${optimized} DEPS thimble_ir thimble_${engine}_container)
      thimble_optimize(thimble_${engine}_optimized)
      list(APPEND libraries thimble_${engine}_optimized)
    endif()
    target_link_libraries(${target} PUBLIC ${libraries})
  endforeach()
endfunction()
