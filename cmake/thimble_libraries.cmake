# SPDX-License-Identifier: Apache-2.0
# Libraries of the device code for an application, compiled with its toolchain and flags. They are static and not part of
# `all`, so that only what is used is compiled, and only called functions are linked.
#
#   thimble::runtime                loads and runs a `.pte`
#   thimble::kernels                kernels of the core that the compiler's flags select
#   thimble::delegate_<engine>      the delegate of an NPU, for each folder of engines/ that has one
#   thimble::model_<engine>         executes the delegate's payload on the core, in place of the NPU
#   thimble::vendor_driver_<engine>        the delegate calls the vendor's driver, which the application links
#   thimble::vendor_driver_model_<engine>  the vendor's driver interface, implemented by the simulator
#
# thimble_device is all of them but the models of NPUs whose driver a product links in their place.
#
# THIMBLE_DEVICE_LIBRARY=FILE... is linked in their place: archives of an earlier build with the same core and flags.
include_guard(GLOBAL)
set(THIMBLE_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR} CACHE INTERNAL "")

# Requires C++17, except in builds that set the standard with flags of their own and hide the features of later ones (Zephyr).
function(thimble_cxx17 name visibility)
  if("cxx_std_17" IN_LIST CMAKE_CXX_COMPILE_FEATURES)
    target_compile_features(${name} ${visibility} cxx_std_17)
  endif()
endfunction()

# Adds the library NAME with the alias thimble::ALIAS.
function(thimble_add_device_library name alias)
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${ARGN})
  add_library(thimble::${alias} ALIAS ${name})
  thimble_set_device_options(${name})
endfunction()

function(thimble_set_device_options name)
  thimble_cxx17(${name} PUBLIC)
  # The sources have no warnings with the flags of firmware/device.cmake; flags of an application may warn about more.
  # Assembly of the kernels needs the register that clang keeps as frame pointer, and its functions are not known to an
  # optimization of the whole program.
  set_target_properties(${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
  target_compile_options(${name} PRIVATE -fno-lto -fomit-frame-pointer -fno-exceptions -fno-rtti -fno-threadsafe-statics -ffp-contract=off
                                         -ffunction-sections -fdata-sections -w)
  # GCC finds no registers for the assembly without optimization.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  get_directory_property(options COMPILE_OPTIONS)
  if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}} ${options}" MATCHES "-O[1-3sgzf]")
    target_compile_options(${name} PRIVATE -O1)
  endif()
  target_compile_definitions(${name} PRIVATE THIMBLE_TRACE=0)
  set_property(GLOBAL APPEND PROPERTY thimble_device_targets ${name})
endfunction()

# Adds the interface library NAME with the alias thimble::ALIAS: the objects of its sources, and thimble_device.
function(thimble_add_device_objects name alias includes)
  add_library(${name}_objects OBJECT EXCLUDE_FROM_ALL ${ARGN})
  thimble_set_device_options(${name}_objects)
  target_include_directories(${name}_objects SYSTEM PRIVATE ${includes})
  add_library(${name} INTERFACE)
  target_sources(${name} INTERFACE $<TARGET_OBJECTS:${name}_objects>)
  target_link_libraries(${name} INTERFACE thimble_device)
  add_library(thimble::${alias} ALIAS ${name})
endfunction()

# Sets `out` to the targets that compile device code, for a build system that adds flags to them.
function(thimble_device_targets out)
  get_property(targets GLOBAL PROPERTY thimble_device_targets)
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# Creates the libraries at the first call.
function(thimble_device_libraries)
  if(TARGET thimble_device)
    return()
  endif()
  # A toolchain file may set CMAKE_CXX_COMPILER in a project without C++.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CXX" IN_LIST languages)
    message(FATAL_ERROR "Thimble's libraries are C++: project(... LANGUAGES C CXX); the application may be C alone")
  endif()
  # Engines outside of the tree (docs/adding-a-target.md) are those with which the program was built.
  include(${THIMBLE_CMAKE_DIR}/engine_rows.cmake)
  thimble_read_engines(engines ${THIMBLE_DEVICE_DIR} ${THIMBLE_EXTRA_TARGETS})
  set(includes ${THIMBLE_DEVICE_DIR} ${THIMBLE_DEVICE_DIR}/runtime/include ${THIMBLE_EXTRA_TARGETS})
  foreach(engine ${engines})
    get_property(folder GLOBAL PROPERTY thimble_engine_${engine}_folder)
    if(EXISTS ${folder}/delegate/include)
      list(APPEND includes ${folder}/delegate/include)
    endif()
  endforeach()
  add_library(thimble_device INTERFACE)
  target_include_directories(thimble_device SYSTEM INTERFACE ${includes})

  # Compilers define no macro for the Cortex-M7, whose loops differ (kernels/dsp/dual_issue.h).
  get_directory_property(options COMPILE_OPTIONS)
  set(flags "${CMAKE_CXX_FLAGS} ${options}")
  if(flags MATCHES "-mcpu=cortex-m7" AND NOT flags MATCHES "THIMBLE_DUAL_ISSUE")
    target_compile_definitions(thimble_device INTERFACE THIMBLE_DUAL_ISSUE=1)
  endif()

  if(THIMBLE_DEVICE_LIBRARY)
    target_link_libraries(thimble_device INTERFACE ${THIMBLE_DEVICE_LIBRARY})
    target_link_directories(thimble_device INTERFACE ${THIMBLE_DEVICE_DIR}/kernels)
    thimble_cxx17(thimble_device INTERFACE)
    add_library(thimble::runtime ALIAS thimble_device)
    add_library(thimble::kernels ALIAS thimble_device)
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${THIMBLE_DEVICE_DIR}/runtime/*.cpp)
    thimble_add_device_library(thimble_device_runtime runtime ${sources})
    target_include_directories(thimble_device_runtime SYSTEM PUBLIC ${includes})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${THIMBLE_DEVICE_DIR}/kernels/*.cpp)
    list(FILTER sources EXCLUDE REGEX "/all_kernels\\.cpp$")
    thimble_add_device_library(thimble_device_kernels kernels ${sources})
    target_compile_definitions(thimble_device_kernels PRIVATE $<TARGET_PROPERTY:thimble_device,INTERFACE_COMPILE_DEFINITIONS>)
    target_include_directories(thimble_device_kernels SYSTEM PUBLIC ${includes})
    target_link_directories(thimble_device_kernels PUBLIC ${THIMBLE_DEVICE_DIR}/kernels) # kernel_code.ld
    target_link_libraries(thimble_device INTERFACE thimble_device_kernels thimble_device_runtime)
  endif()
  foreach(engine ${engines})
    get_property(apart GLOBAL PROPERTY thimble_engine_${engine}_MODEL_APART)
    thimble_engine_sources(model ${engine} "${THIMBLE_ENGINE_MODEL}")
    thimble_engine_sources(delegate ${engine} "${THIMBLE_ENGINE_SHARED}|${THIMBLE_ENGINE_DELEGATE}")
    if(NOT THIMBLE_DEVICE_LIBRARY)
      if(delegate)
        thimble_add_device_library(thimble_delegate_${engine} delegate_${engine} ${delegate})
        target_link_libraries(thimble_delegate_${engine} PUBLIC thimble_device_runtime)
        target_link_libraries(thimble_device INTERFACE thimble_delegate_${engine})
      endif()
      if(model AND NOT apart)
        thimble_add_device_library(thimble_${engine}_model model_${engine} ${model})
        target_link_libraries(thimble_${engine}_model PUBLIC thimble_device_runtime thimble_delegate_${engine})
        target_link_libraries(thimble_device INTERFACE thimble_${engine}_model)
      endif()
    elseif(delegate)
      add_library(thimble::delegate_${engine} ALIAS thimble_device)
    endif()
    # Objects: their functions are used in place of those in the archive of the delegate.
    thimble_engine_sources(vendor_driver ${engine} "${THIMBLE_ENGINE_VENDOR_DRIVER}")
    if(vendor_driver)
      thimble_add_device_objects(thimble_vendor_driver_${engine} vendor_driver_${engine} "${includes}" ${vendor_driver})
    endif()
    thimble_engine_sources(vendor_model ${engine} "${THIMBLE_ENGINE_VENDOR_MODEL}")
    if(vendor_model)
      get_property(folder GLOBAL PROPERTY thimble_engine_${engine}_folder)
      set(interface ${folder}/${THIMBLE_ENGINE_VENDOR_MODEL}/include)
      thimble_add_device_objects(thimble_vendor_driver_model_${engine} vendor_driver_model_${engine} "${includes};${interface}"
                                 ${vendor_model})
      target_include_directories(thimble_vendor_driver_model_${engine} SYSTEM INTERFACE ${interface})
      target_link_libraries(thimble_vendor_driver_model_${engine} INTERFACE thimble_${engine}_model)
    endif()
    if(model AND apart)
      # A product with the NPU links the vendor's driver instead of this library.
      # The delegate calls it, so it is linked as objects: before the archive of the delegate, and after none.
      thimble_add_device_objects(thimble_${engine}_model model_${engine} "${includes}" ${model})
    endif()
  endforeach()
endfunction()
