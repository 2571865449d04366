# One package for many processors: what computes (kernels/, ops/, optimizer/) is compiled once for each of LETHE_LEVELS,
# all else once, for the first, and a program linked for each. train/launcher.cpp starts the best that a processor runs.
# So no source outside these folders may ask for instruction sets (tests/structure holds that).
set(LETHE_LEVELS "" CACHE STRING "Levels of x86-64 to compile for, as x86-64-v3;x86-64-v4;avx512-bf16; empty: one, by LETHE_NATIVE")

set(LETHE_LEVEL_PARTS ops optimizer kernels)   # folders that are compiled for each
set(LETHE_COMMON_PARTS train models onnx memopt framework)

set(LETHE_LEVEL_NAME native)   # of the first, or the only one
if(LETHE_LEVELS)
  # All else is compiled for the first.
  if(NOT LETHE_LEVELS MATCHES "^x86-64-v3(;x86-64-v4)?(;avx512-bf16)?$")
    message(FATAL_ERROR "LETHE_LEVELS=${LETHE_LEVELS}: expected x86-64-v3, after it x86-64-v4, avx512-bf16 or both, in this order")
  endif()
  list(GET LETHE_LEVELS 0 LETHE_LEVEL_NAME)
  set(LETHE_NATIVE OFF)
elseif(NOT LETHE_NATIVE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(LETHE_LEVEL_NAME x86-64-v3)
endif()
set(LETHE_FURTHER_LEVELS ${LETHE_LEVELS})
list(REMOVE_ITEM LETHE_FURTHER_LEVELS ${LETHE_LEVEL_NAME})

# lethe_march(RESULT LEVEL): the compiler's flags for it.
function(lethe_march result level)
  if(level MATCHES "^x86-64-v[34]$")
    set(${result} -march=${level} PARENT_SCOPE)
  else()   # avx512-bf16
    set(${result} -march=x86-64-v4 -mavx512bf16 -mavx512vnni PARENT_SCOPE)
  endif()
endfunction()

# lethe_level_flags(): has every target compiled for the level that its property LETHE_LEVEL names.
function(lethe_level_flags)
  foreach(level IN LISTS LETHE_FURTHER_LEVELS)
    lethe_march(flags ${level})
    set(is_it "$<STREQUAL:$<TARGET_PROPERTY:LETHE_LEVEL>,${level}>")
    foreach(flag IN LISTS flags)
      target_compile_options(lethe_options INTERFACE "$<$<AND:${is_it},$<COMPILE_LANGUAGE:CXX>>:${flag}>"
                             "$<$<AND:${is_it},$<COMPILE_LANGUAGE:CUDA>>:-Xcompiler=${flag}>")
    endforeach()
  endforeach()
endfunction()

# lethe_at_levels(TARGET): its objects for each further level, TARGET_LEVEL.
function(lethe_at_levels target)
  foreach(level IN LISTS LETHE_FURTHER_LEVELS)
    get_target_property(sources ${target} SOURCES)
    add_library(${target}_${level} OBJECT ${sources})
    foreach(property LINK_LIBRARIES COMPILE_DEFINITIONS COMPILE_OPTIONS)
      get_target_property(value ${target} ${property})
      if(value)
        set_target_properties(${target}_${level} PROPERTIES ${property} "${value}")
      endif()
    endforeach()
    set_target_properties(${target}_${level} PROPERTIES LETHE_LEVEL ${level})
  endforeach()
endfunction()

# lethe_objects_of_level(RESULT LEVEL): all that a program of that level is linked from, but its main. Of inline functions
# that others have, too, the linker takes the first that it meets: the level's stand first.
function(lethe_objects_of_level result level)
  set(objects)
  foreach(part IN LISTS LETHE_LEVEL_PARTS)
    list(APPEND objects $<TARGET_OBJECTS:lethe_${part}_${level}>)
  endforeach()
  foreach(part commands ${LETHE_COMMON_PARTS})
    list(APPEND objects $<TARGET_OBJECTS:lethe_${part}>)
  endforeach()
  set(${result} ${objects} PARENT_SCOPE)
endfunction()

# lethe_programs_of_levels(): the launcher, and train_LEVEL for each further level, in bin/LEVEL/train.
function(lethe_programs_of_levels)
  add_executable(launcher train/launcher.cpp)
  target_include_directories(launcher PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(launcher PRIVATE -Wall -Wextra $<$<BOOL:${LETHE_WERROR}>:-Werror>)
  target_link_options(launcher PRIVATE -s)   # it is installed as a file, as it is
  set_target_properties(launcher PROPERTIES SKIP_BUILD_RPATH ON)
  foreach(level IN LISTS LETHE_FURTHER_LEVELS)
    lethe_objects_of_level(objects ${level})
    add_executable(train_${level} ${objects} train/main.cpp)
    target_link_libraries(train_${level} PRIVATE lethe_options ${LETHE_EXTERNALS})
    set_target_properties(train_${level} PROPERTIES OUTPUT_NAME train RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin/${level}")
  endforeach()
endfunction()
