# SPDX-License-Identifier: Apache-2.0
# Rows of engines. An engine is a folder engines/<name>/ of this tree, or of a folder of
# THIMBLE_EXTRA_TARGETS, which has the same layout (docs/adding-a-target.md). Its engine.cmake calls
# thimble_engine(). The host build and the builds of firmware both read the rows.
#
# thimble_engine(NAME [CORES file] [NPUS file] [DEVICES file] [CLI file] [MODEL_APART]
#                     [OPTIMIZED folder] [RUNNER core...] [RUNNER_LINK flag...])
#   CORES    declares std::span<const Core> thimble::engine::NAME::cores()
#   NPUS     declares std::vector<NpuName> thimble::engine::NAME::npus()
#   DEVICES  declares std::vector<DeviceKind> thimble::hostrun::NAME_devices(): executes the engine's
#            delegates on the host
#   CLI      declares std::unique_ptr<EngineCli> thimble::tools::NAME_cli(): options and inspectors
#   MODEL_APART  model/ is a library of its own, because firmware may link the vendor's driver instead
#   OPTIMIZED    subfolder of compiler/ in which the compiler spends its time: compiled with -O2. It includes no other
#                sources of the compiler
#   RUNNER   emulated cores for which an image runner-NAME is built with the sources of firmware/
#   RUNNER_LINK  linker flags of that image
# File names are relative to the engine's folder.
function(thimble_engine name)
  cmake_parse_arguments(arg "MODEL_APART" "CORES;NPUS;DEVICES;CLI;OPTIMIZED" "RUNNER;RUNNER_LINK" ${ARGN})
  set(folder ${engine_root}/engines/${name})
  if(arg_UNPARSED_ARGUMENTS OR NOT (arg_CORES OR arg_NPUS))
    message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: expected thimble_engine(NAME [CORES file] [NPUS file] "
                        "[DEVICES file] [CLI file] [MODEL_APART] [OPTIMIZED folder] [RUNNER core...] [RUNNER_LINK flag...]), "
                        "with CORES or NPUS")
  endif()
  get_property(names GLOBAL PROPERTY thimble_engine_names)
  if(name IN_LIST names)
    message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: an engine ${name} exists already")
  endif()
  set_property(GLOBAL APPEND PROPERTY thimble_engine_names ${name})
  set_property(GLOBAL PROPERTY thimble_engine_${name}_folder ${folder})
  set_property(GLOBAL PROPERTY thimble_engine_${name}_root ${engine_root})
  foreach(key CORES NPUS DEVICES CLI)
    if(arg_${key} AND NOT EXISTS ${folder}/${arg_${key}} AND EXISTS ${folder}/compiler)
      message(FATAL_ERROR "${CMAKE_CURRENT_LIST_FILE}: no file ${folder}/${arg_${key}}")
    endif()
    set(header)
    if(arg_${key})
      set(header engines/${name}/${arg_${key}})
    endif()
    set_property(GLOBAL PROPERTY thimble_engine_${name}_${key} ${header})
  endforeach()
  foreach(key MODEL_APART OPTIMIZED RUNNER RUNNER_LINK)
    set_property(GLOBAL PROPERTY thimble_engine_${name}_${key} ${arg_${key}})
  endforeach()
endfunction()

# Reads the rows of ROOTS and sets `out` to the engines' names.
function(thimble_read_engines out)
  set_property(GLOBAL PROPERTY thimble_engine_names)
  foreach(engine_root ${ARGN})
    file(GLOB rows CONFIGURE_DEPENDS ${engine_root}/engines/*/engine.cmake)
    if(NOT rows)
      message(FATAL_ERROR "${engine_root}: no engines/<name>/engine.cmake in this folder")
    endif()
    foreach(row ${rows})
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${row})
      include(${row})
    endforeach()
  endforeach()
  get_property(names GLOBAL PROPERTY thimble_engine_names)
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# Sets `out` to the sources in the subfolders of an engine that match the regular expression.
function(thimble_engine_sources out engine folders)
  get_property(folder GLOBAL PROPERTY thimble_engine_${engine}_folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(FILTER sources INCLUDE REGEX "^${folder}/(${folders})/")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
set(THIMBLE_ENGINE_SHARED "isa|container")        # shared by compiler and device
set(THIMBLE_ENGINE_MODEL "sim|model")             # executes a delegate's payload
set(THIMBLE_ENGINE_DELEGATE "delegate[a-z_]*")    # part of the runtime
# Linked in place of functions of delegate/ by products that use the vendor's driver; and the
# vendor's interface, implemented by the engine's simulator or model.
set(THIMBLE_ENGINE_VENDOR_DRIVER "vendor_driver")
set(THIMBLE_ENGINE_VENDOR_MODEL "vendor_driver_model")
# The NPU behind a driver of the Linux kernel; empty on other systems.
set(THIMBLE_ENGINE_LINUX "linux_driver")
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(THIMBLE_ENGINE_LINUX "no_linux_driver")
endif()
