# With CMAKE_UNITY_BUILD several sources are compiled as one, which takes a third of the time. CMake does so for C++, but
# before 3.31 not for CUDA.

# lethe_cuda_batches(VARIABLE): marks the sources of a list as CUDA; for a unity build replaces them by files that each
# include sixteen.
function(lethe_cuda_batches variable)
  set(sources "${${variable}}")
  if(CMAKE_UNITY_BUILD)
    set(batches)
    while(sources)
      list(SUBLIST sources 0 16 batch)
      list(REMOVE_ITEM sources ${batch})
      list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
      string(JOIN "" content ${batch})
      list(LENGTH batches number)
      set(file "${CMAKE_CURRENT_BINARY_DIR}/batch_${number}.cpp")
      file(CONFIGURE OUTPUT "${file}" CONTENT "${content}" @ONLY)
      list(APPEND batches "${file}")
    endwhile()
    set(sources "${batches}")
  endif()
  if(sources)
    set_source_files_properties(${sources} PROPERTIES LANGUAGE CUDA)
  endif()
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()
