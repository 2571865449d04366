# Every outside library in one place: Debian's package first, for people elsewhere a download that is pinned by the
# hash of its commit or archive. oneDNN is never downloaded: it takes longer to build than all else, and can be left out.
include(FetchContent)
set(FETCHCONTENT_QUIET ON)
foreach(library zlib eigen json cli11 stb googletest)   # a release may have them with it: scripts/release.sh --bundled
  if(EXISTS "${PROJECT_SOURCE_DIR}/third_party/${library}")
    string(TOUPPER "${library}" upper)
    set(FETCHCONTENT_SOURCE_DIR_${upper} "${PROJECT_SOURCE_DIR}/third_party/${library}")
  endif()
endforeach()

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  FetchContent_Declare(zlib URL https://github.com/madler/zlib/releases/download/v1.3.1/zlib-1.3.1.tar.gz
                       URL_HASH SHA256=9a93b2b7dfdac77ceba5a558a580e74667dd6fede4585b91eefb60f03b72df23
                       SOURCE_SUBDIR not_configured)   # its own CMakeLists.txt adds tests and programs to ours
  FetchContent_MakeAvailable(zlib)
  enable_language(C)
  set(LETHE_ZLIB_PARTS adler32 compress crc32 deflate inffast inflate inftrees trees uncompr zutil)   # all but files
  list(TRANSFORM LETHE_ZLIB_PARTS REPLACE "(.+)" "${zlib_SOURCE_DIR}/\\1.c")
  add_library(lethe_zlib STATIC ${LETHE_ZLIB_PARTS})
  target_include_directories(lethe_zlib SYSTEM PUBLIC "${zlib_SOURCE_DIR}")
  add_library(ZLIB::ZLIB ALIAS lethe_zlib)
endif()

find_package(Eigen3 3.4 QUIET NO_MODULE)
if(NOT Eigen3_FOUND)
  FetchContent_Declare(Eigen GIT_REPOSITORY https://gitlab.com/libeigen/eigen.git
                       GIT_TAG 3147391d946bb4b6c68edd901f2add6ac1f31f8c)   # 3.4.0
  set(EIGEN_BUILD_DOC OFF)
  set(BUILD_TESTING_BEFORE ${BUILD_TESTING})
  set(BUILD_TESTING OFF)
  FetchContent_MakeAvailable(Eigen)
  set(BUILD_TESTING ${BUILD_TESTING_BEFORE})
endif()

find_package(nlohmann_json 3.11 QUIET)
if(NOT nlohmann_json_FOUND)
  FetchContent_Declare(json URL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
                       URL_HASH SHA256=d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)
  FetchContent_MakeAvailable(json)
endif()

find_package(CLI11 2.1 QUIET)
if(NOT CLI11_FOUND)
  FetchContent_Declare(cli11 GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git
                       GIT_TAG 6c7b07a878ad834957b98d0f9ce1dbe0cb204fc9)   # 2.4.2
  FetchContent_MakeAvailable(cli11)
endif()

find_path(LETHE_STB_INCLUDE stb_image.h PATH_SUFFIXES stb)
if(NOT LETHE_STB_INCLUDE)
  FetchContent_Declare(stb GIT_REPOSITORY https://github.com/nothings/stb.git
                       GIT_TAG 5736b15f7ea0ffb08dd38af21067c314d6a3aae9)
  FetchContent_MakeAvailable(stb)
  set(LETHE_STB_INCLUDE "${stb_SOURCE_DIR}")
endif()
add_library(lethe_stb INTERFACE)
target_include_directories(lethe_stb SYSTEM INTERFACE "${LETHE_STB_INCLUDE}")

# Training on several ranks; without it they can be planned for.
set(LETHE_MPI "AUTO" CACHE STRING "MPI: AUTO (if it is there), ON (or an error), OFF")
set_property(CACHE LETHE_MPI PROPERTY STRINGS AUTO ON OFF)
set(LETHE_HAS_MPI OFF)
if(NOT LETHE_MPI STREQUAL "OFF")
  set(MPI_CXX_SKIP_MPICXX ON)   # the C interface alone
  find_package(MPI QUIET COMPONENTS CXX)
  set(LETHE_HAS_MPI ${MPI_CXX_FOUND})
  if(LETHE_MPI STREQUAL "ON" AND NOT LETHE_HAS_MPI)
    message(FATAL_ERROR "LETHE_MPI is ON, but no MPI is found (Debian: libopenmpi-dev)")
  endif()
  if(NOT LETHE_HAS_MPI)
    message(STATUS "MPI: not found (Debian: libopenmpi-dev); training on several ranks is left out")
  endif()
endif()

# Found by hand: the package's own configuration asks for OpenCL, which nothing of ours needs.
set(LETHE_HAS_ONEDNN OFF)
if(LETHE_ONEDNN)
  find_path(LETHE_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
  find_library(LETHE_DNNL_LIBRARY dnnl)
  if(LETHE_DNNL_INCLUDE AND LETHE_DNNL_LIBRARY)
    set(LETHE_HAS_ONEDNN ON)
    add_library(lethe_onednn INTERFACE)
    target_include_directories(lethe_onednn SYSTEM INTERFACE "${LETHE_DNNL_INCLUDE}")
    target_link_libraries(lethe_onednn INTERFACE "${LETHE_DNNL_LIBRARY}")
    message(STATUS "oneDNN: ${LETHE_DNNL_LIBRARY}")
  else()
    message(STATUS "oneDNN: not found (Debian: libdnnl-dev); f32 convolutions and products go through Eigen (slower)")
  endif()
endif()

# All of these that a program is linked with.
set(LETHE_EXTERNALS OpenMP::OpenMP_CXX ZLIB::ZLIB Threads::Threads ${CMAKE_DL_LIBS})
if(LETHE_HAS_ONEDNN)
  list(APPEND LETHE_EXTERNALS lethe_onednn)
endif()
if(LETHE_HAS_MPI)
  list(APPEND LETHE_EXTERNALS MPI::MPI_CXX)
endif()
if(LETHE_HAS_CUDA)
  list(APPEND LETHE_EXTERNALS lethe::cuda)
endif()

if(LETHE_TESTS)
  find_package(GTest 1.12 QUIET)
  if(NOT GTest_FOUND)
    FetchContent_Declare(googletest GIT_REPOSITORY https://github.com/google/googletest.git
                         GIT_TAG f8d7d77c06936315286eb55f8de22cd23c188571)   # 1.14.0
    FetchContent_MakeAvailable(googletest)
  endif()
endif()
