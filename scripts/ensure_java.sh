#!/usr/bin/env bash
# Spark needs Java 17 or newer, JAVA_HOME's or the first on the PATH. Install it where there is none.
set -euo pipefail
source "$(dirname "$0")/apt.sh"

package=openjdk-17-jre-headless
# Newer distributions have left Java 17 behind.
if command -v apt-cache >/dev/null && ! apt-cache show $package >/dev/null 2>&1 &&
    apt-cache show openjdk-21-jre-headless >/dev/null 2>&1; then
    package=openjdk-21-jre-headless
fi

java=${JAVA_HOME:+$JAVA_HOME/bin/}java
if ! command -v "$java" >/dev/null; then
    if [ -n "${JAVA_HOME:-}" ]; then
        echo "JAVA_HOME is $JAVA_HOME, which holds no bin/java: unset it, or set it to a Java 17." >&2
        exit 2
    fi
    install_packages "Java 17" $package
fi

# 17 for `version "17.0.15"`, 1 for the old style `version "1.8.0_402"`.
version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
if [ "${version:-0}" -lt 17 ]; then
    echo "$(command -v "$java") is Java ${version:-of an unknown version}, Spark needs 17 or newer." >&2
    echo "Set JAVA_HOME to one, on Debian or Ubuntu after: sudo apt-get install -y $package" >&2
    exit 2
fi
