#!/usr/bin/env bash
# setup_venv.sh FOLDER: the project and its tools in a virtual environment.
# PYTHON says which Python makes it; the default is the newest there is.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/apt.sh
venv=$1

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    local name
    for name in python3.13 python3.12 python3.11 python3; do
        if new_enough "$name"; then
            echo "$name"
            return
        fi
    done
}

if ! new_enough "$venv/bin/python"; then
    python=${PYTHON:-$(find_python)}
    if [ -z "$python" ] || ! new_enough "$python"; then
        echo "${python:-python3} is no Python 3.11 or newer: install one, or say make PYTHON=…" >&2
        exit 2
    fi
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        # Debian keeps what a virtual environment starts with in a package of its own.
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        install_packages "The venv module of $python" "python$version-venv"
    fi
    echo "Making $venv with $("$python" --version)"
    "$python" -m venv --clear "$venv"
fi

echo "Installing the project into $venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --use-pep517 -e '.[dev,flights]'
