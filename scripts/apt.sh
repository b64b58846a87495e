# Sourced: Debian packages, installed where that is permitted.

# install_packages WHAT PACKAGE...: install the packages, or say how and exit with 2.
# Permitted to root, or where sudo asks for no password, unless NO_APT is set.
install_packages() {
    local what=$1 run=()
    shift
    if [ "$(id -u)" != 0 ]; then run=(sudo -n); fi
    if [ -n "${NO_APT:-}" ] || ! command -v apt-get >/dev/null ||
        ! ${run[@]+"${run[@]}"} true 2>/dev/null; then
        echo "$what is missing. Install it and try again, on Debian or Ubuntu with:" >&2
        echo "    sudo apt-get update && sudo apt-get install -y $*" >&2
        exit 2
    fi
    echo "$what is missing: installing $*"
    run+=(env DEBIAN_FRONTEND=noninteractive apt-get -qq)
    # apt writes hundreds of lines, which matter only if it fails.
    local log
    log=$(mktemp)
    if ! { "${run[@]}" update && "${run[@]}" install -y --no-install-recommends "$@"; } \
        </dev/null >"$log" 2>&1; then
        cat "$log" >&2
        exit 2
    fi
    rm -f "$log"
}
