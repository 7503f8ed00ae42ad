#!/bin/sh
# On a GPU machine without a network: what bench/gpu.py measures, and the tests that need a GPU.
# First, on a machine with a network: python scripts/device_carry.py pack
# Takes along device-carry/; writes to the folder named by OUT, or to build/gpu.
set -e
out=${OUT:-build/gpu}
room=$(mktemp -d)
mkdir -p "$out"
export PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=true
python3 scripts/device_carry.py unpack "$room"
export PYTHONPATH="$PWD/src:$room/site" MOVERS_DATA="$room/data" MOVERS_CACHE="$room/kernels"
python3 -m pytest -q -W ignore -p no:cacheprovider -k "cuda or half_precision or families or gathering" \
    tests/encode/test_transformer.py tests/encode/test_families.py tests/encode/test_unknown.py 2>&1 | tail -15 | tee "$out/tests.txt"
python3 bench/gpu.py --model "$room/model" "$@" 2>&1 | tee "$out/gpu.txt"
python3 bench/gpu_profile.py --model "$room/model" > "$out/profile.txt" 2>&1 || tail -3 "$out/profile.txt"
