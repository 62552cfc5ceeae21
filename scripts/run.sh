#!/usr/bin/env bash
# run.sh - from a fresh checkout to a picture: installs what is missing, builds, finds or fetches the photographs of cats
# and dogs, trains the published network for several batch sizes and optimizers, and draws accuracy against batch size.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
cmake --preset release -DGRADUS_TESTS=OFF >/dev/null
cmake --build --preset release
gradus=build/release/gradus

root=${GRADUS_DATA:-datasets}
images=()
if [ -d "$root/PetImages" ] || scripts/get_data.sh cats-vs-dogs "$root"; then
    out=results/cats-vs-dogs
    images=(--data "$root")
else
    echo "run: no photographs in $root and none to be had: using the built-in drawn images instead" >&2
    echo "run: (scripts/get_data.sh cats-vs-dogs fetches the photographs where there is a network)" >&2
    out=results/procedural
    images=(--procedural)
fi
"$gradus" sweep cats-vs-dogs "${images[@]}" --batch 16,64 --optimizer sgd,adam --seeds 3 --epochs 5 --out "$out"
echo "The picture: $out/accuracy.png (and .svg); the numbers: $out/results.csv"
