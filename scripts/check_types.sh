#!/usr/bin/env bash
# check_types.sh [PYTHON]: mypy over the package and the programs beside it.
# The package is the root, under whatever name it was cloned. Links show mypy its real name, and no
# more of the root than is of the package.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python}

rm -rf build/types
mkdir -p build/types/streamc
for part in __init__.py py.typed cli compiler contracts dsl grammar runtime; do
    ln -s "../../../$part" build/types/streamc/
done
"$python" -m mypy -p streamc
"$python" -m mypy benchmarks scripts specs
