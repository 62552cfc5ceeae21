#!/usr/bin/env bash
# gpu_check.sh [--deps FOLDER] [--built FOLDER] [--data FOLDER] [--out FILE] [--minutes N] - everything that a machine
# with a GPU should do, from a clean tree, without network, in ten minutes (or N): builds; runs every PTX wrapper beside
# its emulated twin, the operation table, updates with and without graphs; compares training losses with the CPU's;
# measures ceilings, what scripts/bounds takes of a GPU, the ladder, kernels, training steps in every precision and,
# where PyTorch is installed ($PYTHON, default python3), beside PyTorch's; runs the sanitizers of CUDA. A part that
# fails or hangs leaves the others alone. What no time is left for is said so. Ends in a short table; everything goes to
# FILE (default: gpu_check.json), which is written anew after every part.
#
#   --deps FOLDER   Debian packages of what this machine lacks, as files or unpacked with dpkg -x. All that can be
#                   wanted: apt-get download pkgconf pkgconf-bin libpkgconf3 zlib1g zlib1g-dev libjansson4
#                   libjansson-dev libcmocka0 libcmocka-dev libstb0 libstb-dev
#   --built FOLDER  what this script has built in build/gpu on another machine, of these sources at the same place and
#                   for this GPU (on one without a GPU: CMAKE_CUDA_ARCHITECTURES=90a-real, say): it is not built again
#   --data FOLDER   real images; the built-in ones are used without
#
# GRADUS_CHECK_DEVICE=simt, or ptx where nvcc is (tests/ptx interprets what it makes of the kernels), tries this script
# itself on a machine without a GPU, with fewer rows and updates, and more time: two hours in all, and for a part the
# limits that stand there.
set -euo pipefail
deps='' built='' data=(--procedural) out=gpu_check.json device=${GRADUS_CHECK_DEVICE:-cuda} python=${PYTHON:-python3}
minutes=10
[ "$device" = cuda ] || minutes=120
while [ $# -gt 0 ]; do
    [ $# -ge 2 ] || set -- --help --help
    case $1 in
        --deps) deps=$(realpath "$2") ;;
        --built) built=$(realpath "$2") ;;
        --data) data=(--data "$(realpath "$2")") ;;
        --out) out=$(realpath -m "$2") ;;
        --minutes) minutes=$2 ;;
        *) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
    esac
    shift 2
done
[[ $minutes =~ ^(0|[1-9][0-9]*)$ ]] ||
    { echo "gpu_check.sh: --minutes $minutes: wants a whole number" >&2; exit 2; }
cd "$(dirname "$0")/.."

begin=$SECONDS failed=() work=$(mktemp -d) build=${built:-$PWD/build/gpu}
commit=$(git rev-parse --short HEAD 2>/dev/null || cat "$build/commit" 2>/dev/null || echo unknown)
trap 'rm -rf "$work"' EXIT
PATH=$PATH:/usr/local/cuda/bin # where nvcc and compute-sanitizer lie unless somebody has put them elsewhere

report() {
    python3 scripts/gpu_report.py "$work" "$out" "$commit" "$device"
}

# Runs one part under a time limit, with all that it starts. What it says is also kept. On a GPU the clock counts. What
# stands in for one is slower, and shares its processors with whatever else the machine does, for as long as that takes:
# there each process may keep a processor busy for four times the limit, and the clock ends only what waits for ever.
part() { # NAME SECONDS COMMAND...
    local what=$1 limit=$2 busy='' start=$SECONDS end=ok log=$work/log.$1 code=0
    local left=$((60 * minutes - (SECONDS - begin)))
    shift 2
    [ "$device" = cuda ] || busy=$((4 * limit)) limit=$((20 * limit))
    [ "$left" -gt "$limit" ] || limit=$left
    echo "== $what ($((SECONDS - begin)) s)" >&2
    if [ "$limit" -le 0 ]; then
        end=no-time
    else
        (export -f build rows sanitize losses precisions calibrate into
            [ -z "$busy" ] || ulimit -S -t "$busy"
            timeout --kill-after 5 "$limit" bash -euo pipefail -c '"$@"' part "$@" 2>&1 | tee "$log") || code=$?
        case $code in
            0) ;;
            124 | 137 | 152) end=stopped ;; # by the clock; having been busy for too long
            *) end=failed ;;
        esac
    fi
    [ "$end" = ok ] || failed+=("$what: $end")
    echo "$what $end $((SECONDS - start))" >>"$work/parts"
    report >/dev/null
}

# A copy of the packages' files, in which what leads to /usr leads into the copy.
unpack() { # FOLDER INTO
    local package link to
    rm -rf "$2"
    mkdir -p "$2"
    cp -a "$1/." "$2"
    for package in "$2"/*.deb; do
        [ ! -e "$package" ] || dpkg -x "$package" "$2"
    done
    while read -r link; do
        to=$(readlink "$link")
        [ ! -e "$2$to" ] || ln -sfn "$2$to" "$link"
    done < <(find "$2" -type l -lname '/*')
    find "$2" -name '*.pc' -exec sed -Ei "s#(=|-I|-L)/usr#\1$2/usr#g" {} +
}

# The GPU's own architecture; Hopper's in the form that has all its instructions.
architecture() {
    case $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1) in
        9.0) echo 90a-real ;;
        *) echo native ;;
    esac
}

build() {
    # Whatever compilers there are; programs that may be carried elsewhere.
    local options=(-DGRADUS_TESTS=ON -DGRADUS_WERROR=OFF -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON)
    local targets=(gradus_tool test_table test_wrappers test_step_graph)
    case $device in
        simt) options+=(-DGRADUS_CUDA=OFF) ;;
        ptx)
            options+=(-DGRADUS_CUDA=OFF -DGRADUS_PTX=80)
            targets=(gradus_ptx test_table_ptx test_step_graph_ptx)
            ;;
        *) options+=(-DGRADUS_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=$architecture") ;;
    esac
    [ -z "$deps" ] || options+=("-DCMAKE_PREFIX_PATH=$deps/usr;$deps" -DCMAKE_LIBRARY_ARCHITECTURE=x86_64-linux-gnu)
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${options[@]}"
    cmake --build "$build" --target "${targets[@]}"
    [ "$device" != cuda ] ||
        nvcc -O3 "-arch=$([ "$architecture" = native ] || echo sm_)${architecture%-real}" -o "$build/calibrate" \
            scripts/bounds/calibrate.cu
    echo "$commit" >"$build/commit" # of sources that travel without their history
}

# The operation table, several operations at a time, with what stands before the program.
rows() { # OPTION... [-- COMMAND...]
    local options=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    [ $# -eq 0 ] || shift
    "$table" --list "${options[@]}" | cut -d' ' -f1 | sort -u |
        xargs -P "$(($(nproc) < 8 ? $(nproc) : 8))" -I{} \
            "$@" "$table" --device "$name" --op {} "${options[@]}"
}

# Rows small enough for a sanitizer, on each of CUDA's tools.
sanitize() { # TOOL
    rows --small -- compute-sanitizer --tool "$1" --error-exitcode 1
}

# The first losses of a recipe on the GPU and on the CPU: the relative difference is at most 1e-4. Any two devices that
# are right, and sum floats in orders of their own, were apart by at most (batches as below, built-in pictures)
#   cifar10-cnn, 20 updates     1.1e-6   plain, avx2, avx512, ref, simt and ptx (sm_80)
#   cats-vs-dogs, 6 updates     1.7e-6   plain, avx2, avx512, simt
#   resnet18-cifar, 2 updates   4.3e-7, and 9.4e-4 at the third   plain, avx2, avx512
# so 1e-4 is 60 times what is right. Of resnet18-cifar, whose losses soon part for good, only the first is compared.
losses() { # RECIPE BATCH UPDATES OPTION...
    local on recipe=$1 batch=$2 updates=$3
    shift 3
    for on in cpu "$name"; do
        "$tool" train "$recipe" "$@" --batch "$batch" --updates "$updates" --device "$on" --no-evaluation \
            --log-updates "$work/$recipe.$on" >/dev/null
    done
    python3 - "$work/$recipe.cpu" "$work/$recipe.$name" "$work/losses.$recipe" <<'PY'
import json, sys
cpu, gpu = ([json.loads(line)["loss"] for line in open(path)] for path in sys.argv[1:3])
worst = max(abs(a - b) / abs(a) for a, b in zip(cpu, gpu))
json.dump({"updates": len(cpu), "worst": worst, "cpu": cpu, "gpu": gpu}, open(sys.argv[3], "w"))
sys.exit(0 if len(cpu) == len(gpu) and worst < 1e-4 else f"largest difference {worst:.1e}")
PY
}

# A training run in each precision: a row of JSON with its speed and memory.
precisions() { # RECIPE:BATCH:UPDATES...
    local run recipe batch updates precision code=0
    for run in "$@"; do
        IFS=: read -r recipe batch updates <<<"$run"
        for precision in fp32 tf32 fp16 bf16; do
            "$tool" train "$recipe" --procedural --batch "$batch" --updates "$updates" --device "$name" \
                --precision "$precision" --preload device --no-evaluation --json >>"$work/precisions.jsonl" || code=$?
        done
    done
    return "$code"
}

# What scripts/bounds takes of this GPU; without one what measures it is run, and its numbers mean nothing.
calibrate() {
    if [ "$device" = cuda ]; then
        "$build/calibrate"
    else
        "$tool" cuda scripts/bounds/calibrate.cu -- 1 1
    fi
}

into() { # FILE COMMAND...
    local file=$1
    shift
    "$@" >"$file"
}

if [ -n "$deps" ]; then
    unpack "$deps" "$build-deps"
    deps=$build-deps
    libraries=$deps/usr/lib/x86_64-linux-gnu
    export PATH=$PATH:$deps/usr/bin
    export PKG_CONFIG_PATH=$libraries/pkgconfig:$deps/usr/lib/pkgconfig:$deps/usr/share/pkgconfig
    export LD_LIBRARY_PATH=$libraries:$deps/lib/x86_64-linux-gnu:${LD_LIBRARY_PATH:-}
fi
architecture=$(architecture)
name=$device tool=$build/gradus table=$build/tests/table/test_table graphs=$build/tests/test_step_graph
if [ "$device" = ptx ]; then # its programs' device cuda is the interpreter
    name=cuda tool=$build/tests/ptx/gradus_ptx
    table=$build/tests/ptx/test_table_ptx graphs=$build/tests/ptx/test_step_graph_ptx
fi
export build commit device name tool table work deps architecture

[ -n "$built" ] || part build 600 build
if [ ${#failed[@]} -eq 0 ]; then # without a program there is nothing to run
    [ "$device" = ptx ] || part wrappers 60 "$build/tests/wrappers/test_wrappers" "$device"
    if [ "$device" = cuda ]; then
        options=() updates=20 kernels=(--batch "16,128" --seconds 0.1 --unchecked)
        runs=({resnet18-cifar,cifar10-cnn,cats-vs-dogs}:{16,128}:100)
    else
        options=(--small) updates=3 kernels=(relu max_pool2d sgd_step --batch 4 --seconds 0.01)
        runs=(cifar10-cnn:2:2)
    fi
    part "operation table" 240 rows "${options[@]}"
    part "updates as graphs" 60 env "GRADUS_TEST_DEVICE=$name" "$graphs"
    part "losses of cats-vs-dogs" 60 losses cats-vs-dogs 2 "$((updates / 3))" "${data[@]}"
    part "losses of cifar10-cnn" 60 losses cifar10-cnn 4 "$updates" "${data[@]}"
    part "losses of resnet18-cifar" 60 losses resnet18-cifar 2 1 "${data[@]}"
    [ "$device" != cuda ] ||
        part ladder 60 into "$work/ladder.jsonl" "$tool" bench gemm --ladder --device cuda --json
    [ "$device" = ptx ] || part calibrate 30 into "$work/calibrated.json" calibrate
    part precisions 90 precisions "${runs[@]}"
    part kernels 180 into "$work/kernels.jsonl" "$tool" bench --device "$name" --json "${kernels[@]}"
    if [ "$device" = cuda ]; then
        if "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
            part "steps beside PyTorch" 150 env "GRADUS_LIBRARY=$build/libgradus.so" "$python" \
                scripts/bench_gpu.py --minutes 1.4 --out "$work/steps.jsonl"
        fi
        for checker in memcheck racecheck initcheck synccheck; do
            part "$checker" 60 sanitize "$checker"
        done
    fi
fi

echo "== done ($((SECONDS - begin)) s)" >&2
"$tool" doctor --json >"$work/doctor.json" 2>/dev/null || true
report
[ ${#failed[@]} -eq 0 ] || { printf 'not done: %s\n' "${failed[@]}" >&2; exit 1; }
