# Decides whether the device cuda is built, and for which GPUs: sets gradus_with_cuda.
#
# AUTO: where a GPU and nvcc are present. nvcc alone is no reason: a build for nobody's GPU takes minutes. ON: always.
# The architecture is that of the GPU at hand; without one, those of learners' GPUs, of Ampere and of Hopper, and PTX
# for later ones. CMAKE_CUDA_ARCHITECTURES has the last word.
set(GRADUS_CUDA AUTO CACHE STRING "Build the device cuda: AUTO (where there is a GPU and nvcc), ON or OFF")
set(gradus_with_cuda OFF)

# The first GPU's compute capability, "9.0"; "native" where the driver is there and does not say; empty without a GPU.
function(gradus_gpu result)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE said ERROR_QUIET
                  RESULT_VARIABLE failed)
  file(GLOB gpus /proc/driver/nvidia/gpus/*)
  if(failed EQUAL 0 AND said MATCHES "^([0-9]+\\.[0-9]+)")
    set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
  elseif(gpus)
    set(${result} native PARENT_SCOPE)
  else()
    set(${result} "" PARENT_SCOPE)
  endif()
endfunction()

if(GRADUS_CUDA STREQUAL OFF OR GRADUS_SANITIZE)
  return()
endif()
gradus_gpu(gpu)
if(GRADUS_CUDA STREQUAL AUTO AND NOT gpu)
  return()
endif()
include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  if(gpu STREQUAL 9.0)
    set(architectures 90a-real) # the form that has all of Hopper's instructions
  elseif(gpu STREQUAL native)
    set(architectures native)
  elseif(gpu)
    string(REPLACE . "" architectures ${gpu}-real)
  else()
    set(architectures 75-real 80 90a-real)
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${architectures})
  endif()
  set(CMAKE_CUDA_STANDARD 17)
  enable_language(CUDA)
  set(CMAKE_CUDA_FLAGS_RELEASE "-O3 -lineinfo -DNDEBUG")
  set(gradus_with_cuda ON)
elseif(GRADUS_CUDA STREQUAL ON)
  message(FATAL_ERROR "GRADUS_CUDA=ON, but there is no nvcc: install the CUDA toolkit, "
                      "or put nvcc into PATH (or CUDACXX)")
else()
  message(STATUS "A GPU is here, but no nvcc: the device cuda is not built (put nvcc into PATH, or set CUDACXX)")
endif()
