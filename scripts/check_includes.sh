#!/usr/bin/env bash
# Fails when an include points the wrong way. Between the folders:
#   core <- kernels <- nn, data, amp <- optim <- examples, tests
# and between the rooms inside a folder:
#   kernels  ops <- ref, cpu;  ops, simt <- cuda;  ops, simt, cuda <- devices;  other folders enter by ops alone
#   nn       nn <- nn/zoo, nn/text, nn/exchange
#   data     decoding <- data (sets) <- formats, augmentation;  decoding, data, augmentation <- loading
#   optim    optim (optimizers, schedules) <- training
# examples see <gradus.h> and their own folder alone; CUDA headers stand only under kernels/cuda and in
# kernels/devices/cuda_device.cu, and in programs that are compiled by gradus-simt. The list of operations, ops.def, is
# there for whoever lists.
# check_includes.sh [ROOT]; without ROOT it first proves on planted mistakes that it can fail.
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
        examples) # the rooms of examples/gradus
            echo "gradus.h terminal recipes settings sources train find_batch sweep compare report bench summary" \
                 "manual cuda puzzle theatre draw profile reproduce landscape monitor predict evaluate" ;;
    esac
}

# Rooms of its own folder whose headers a room may include beside its own.
open_to() {
    case $1 in
        kernels/ref | kernels/cpu) echo "kernels/ops" ;;
        kernels/cpu/amx) echo "kernels/ops kernels/cpu" ;;
        kernels/cuda) echo "kernels/ops kernels/simt" ;;
        kernels/devices) echo "kernels/ops kernels/simt kernels/cuda" ;;
        nn/zoo | nn/text | nn/exchange) echo "nn" ;;
        data) echo "data/decoding" ;;
        data/formats | data/augmentation) echo "data data/decoding" ;;
        data/loading) echo "data data/decoding data/augmentation" ;;
        optim/training) echo "optim" ;;
        *) echo "" ;;
    esac
}

# The room of a path below the root: kernels/simt/check/a.c is in kernels/simt.
room_of() {
    case $1 in
        kernels/*/* | nn/*/* | data/*/* | optim/*/*) local rest=${1#*/}; echo "${1%%/*}/${rest%%/*}" ;;
        *) echo "${1%%/*}" ;;
    esac
}

check() { # ROOT
    local root=$1 bad=0 folder file line target top room other
    for folder in core kernels nn data amp optim examples tests; do
        [ -d "$root/$folder" ] || continue
        while IFS=: read -r file line; do
            target=${line#*[\"<]}
            target=${target%%[\">]*}
            top=${target%%/*}
            case ${file#"$root"/} in
                kernels/simt/cuda/* | tests/cuda_programs/* | tests/nvtx/* | tests/ptx/* | examples/puzzles/* | \
                    examples/ladders/*)
                    continue ;;
            esac
            case $target in
                cuda/*) ;;
                cuda*.h | nv*.h | mma.h)
                    if [[ $file != "$root"/kernels/cuda/* && $file != "$root"/kernels/devices/cuda_device.cu ]]; then
                        echo "$file: $target: CUDA headers belong under kernels/cuda" >&2
                        bad=1
                    fi
                    continue ;;
            esac
            case $line in *\<*) continue ;; esac
            [ "$target" = "$top" ] && [ "$target" != gradus.h ] && continue # beside the file
            case $target in kernels/ops/notation.h | kernels/ops/updates.h | kernels/ops/ops.def) continue ;; esac
            room=$(room_of "${file#"$root"/}")
            other=$(room_of "$target")
            [ "$target" = "$folder/$folder.h" ] && continue # what a folder shows the world, its rooms may see
            if [ "$top" = "$folder" ]; then
                if [ "$other" != "$room" ] && [[ " $(open_to "$room") " != *" $other "* ]]; then
                    echo "$file: includes $target; $room may include of its folder only: $room $(open_to "$room")" >&2
                    bad=1
                fi
            elif [[ " $(allowed "$folder") " != *" $top "* ]]; then
                echo "$file: includes $target; $folder may include only: $folder $(allowed "$folder")" >&2
                bad=1
            elif [ "$top" = kernels ] && [ "$other" != kernels/ops ] && [ "$folder" != tests ]; then
                echo "$file: includes $target; the way into kernels is kernels/ops" >&2
                bad=1
            fi
        done < <(grep -rEH '^ *# *include' "$root/$folder" --include='*.[ch]' --include='*.cu' --include='*.cuh' |
            sed -E 's/:([0-9]+:)?/:/' || true)
    done
    return $bad
}

if [ $# -eq 1 ]; then
    check "$1"
    exit
fi
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
plant() { # FILE INCLUDE
    mkdir -p "$planted/$(dirname "$1")"
    echo "#include $2" >"$planted/$1"
}
plant core/a.c '"nn/nn.h"'
plant nn/b.c '<cuda_runtime.h>'
plant examples/c.c '"core/tensor.h"'
plant kernels/ops/d.c '"kernels/cpu/cpu.h"'
plant kernels/cpu/e.c '"kernels/ref/ref.h"'
plant kernels/simt/check/f.c '"kernels/ops/kernels.h"'
plant nn/g.c '"nn/zoo/zoo.h"'
plant data/decoding/h.c '"data/dataset.h"'
plant data/formats/i.c '"data/loading/ring.h"'
plant data/j.c '"data/formats/tar.h"'
plant optim/k.c '"optim/training/trainer.h"'
plant amp/l.c '"kernels/cpu/cpu.h"'
found=$(check "$planted" 2>&1 | wc -l || true)
[ "$found" -eq 12 ] || { echo "check_includes.sh: found $found of 12 planted mistakes" >&2; exit 1; }
plant_good=$planted/good
mkdir -p "$plant_good/data/loading" "$plant_good/optim/training"
echo '#include "data/augmentation/augment.h"' >"$plant_good/data/loading/a.c"
echo '#include "optim/optimizer.h"' >"$plant_good/optim/training/b.c"
check "$plant_good"
check "$here"
echo "includes point one way"
