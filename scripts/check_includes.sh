#!/usr/bin/env bash
# Fails when an include points the wrong way:
#   core <- kernels <- nn, data, amp <- optim <- examples, tests
# examples see <gradus.h> and their own folder alone; CUDA headers stand only under kernels/cuda and in kernels/devices/cuda_device.cu,
# and in programs that are compiled by gradus-simt.
# check_includes.sh [ROOT]; without ROOT it first proves on a planted mistake that it can fail.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

# Folders whose headers a folder may include beside its own.
allowed() {
    case $1 in
        core) echo "" ;;
        kernels) echo "core" ;;
        nn | data | amp) echo "core kernels" ;;
        optim) echo "core kernels nn data amp" ;;
        tests) echo "core kernels nn data amp optim examples gradus.h" ;;
        examples) echo "gradus.h terminal recipes settings sources train sweep bench summary manual cuda puzzle" ;; # the rooms of examples/gradus
    esac
}

check() { # ROOT
    local root=$1 bad=0 folder file line target top
    for folder in core kernels nn data amp optim examples tests; do
        [ -d "$root/$folder" ] || continue
        while IFS=: read -r file line; do
            target=$(sed -E 's/^ *# *include *["<]([^">]+)[">].*/\1/' <<<"$line")
            top=${target%%/*}
            case $file in "$root"/kernels/simt/cuda/* | "$root"/tests/cuda_programs/* | "$root"/examples/puzzles/*) continue ;; esac
            case $target in
                cuda/*) ;;
                cuda*.h | nv*.h | mma.h)
                    [[ $file == "$root"/kernels/cuda/* || $file == "$root"/kernels/devices/cuda_device.cu ]] || { echo "$file: $target: CUDA headers belong under kernels/cuda" >&2; bad=1; }
                    continue ;;
            esac
            case $line in *\<*) continue ;; esac
            [ "$target" = "$top" ] && [ "$target" != gradus.h ] && continue # beside the file
            [ "$top" = "$folder" ] && continue
            [[ $target == kernels/ops/notation.h || $target == kernels/ops/ops.def ]] && continue # the list, for whoever lists
            if [[ " $(allowed "$folder") " != *" $top "* ]]; then
                echo "$file: includes $target; $folder may include only: $folder $(allowed "$folder")" >&2
                bad=1
            fi
        done < <(grep -rEH '^ *# *include' "$root/$folder" --include='*.[ch]' --include='*.cu' --include='*.cuh' | sed -E 's/:([0-9]+:)?/:/' || true)
    done
    return $bad
}

if [ $# -eq 1 ]; then
    check "$1"
    exit
fi
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
mkdir -p "$planted/core" "$planted/nn" "$planted/examples"
echo '#include "nn/nn.h"' >"$planted/core/a.c"
echo '#include <cuda_runtime.h>' >"$planted/nn/b.c"
echo '#include "core/tensor.h"' >"$planted/examples/c.c"
found=$(check "$planted" 2>&1 | wc -l || true)
[ "$found" -eq 3 ] || { echo "check_includes.sh: found $found of 3 planted mistakes" >&2; exit 1; }
check "$here"
echo "includes point one way"
