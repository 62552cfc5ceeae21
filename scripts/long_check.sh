#!/usr/bin/env bash
# long_check.sh - what takes hours: every mutant of every kernel, and the published experiments at full length. Needs real
# images under GRADUS_DATA. Results go to tests/long/DATE.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${GRADUS_DATA:?names no data root; the experiments need real images (scripts/get_data.sh)}"
out=tests/long/$(date +%F)
mkdir -p "$out"
scripts/test.sh --full
python3 scripts/mutants.py | tee "$out/mutants.txt" || echo "mutants survived: see $out/mutants.txt" >&2
gradus=build/release/gradus
"$gradus" sweep cats-vs-dogs --batch 16,32,64,128 --optimizer sgd,adam --seeds 5 --out "$out/cats-vs-dogs"
"$gradus" sweep cifar10-cnn --batch 32 --optimizer adam --seeds 3 --out "$out/cifar10-cnn"
