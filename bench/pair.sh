#!/usr/bin/env bash
# Runs `steadfast measure pair` on what enciphers files: what each costs, with an interval.
#
#   bench/pair.sh STEADFAST OUT [PART…]
#
# STEADFAST is the command, which must be a release build; OUT a folder that gets the record and the
# text of each comparison. Parts, all of them unless some are named:
#
#   fscrypt    a folder that ext4 enciphers, against another on the same volume
#   gocryptfs  with and without the processor's instructions for AES; control: bindfs
#   luks       LUKS in a program behind FUSE, mounted through a loop device; control: the same
#              program with a raw image. Needs no device-mapper
#   smb        a share that enciphers its messages, against one that does not
#   sshfs      over SSH on loopback; control: the same without SSH
#
# What lies beneath gocryptfs, a share or sshfs keeps its pages when theirs are dropped: read from a
# disk, the plain folder would be cold and the other not, and lose. So all sides of these three lie
# in a tmpfs, and the ratio is that on storage which takes no time. fscrypt and LUKS are on loop
# devices, whose pages are dropped too.
#
# ROUNDS (9), SIZES ("1MB 64MB") and SEED (1) may be set. Needs root, Linux with FUSE and loop
# devices, 3 GB of memory, and of these packages those of the parts that are to run: e2fsprogs
# xfsprogs (fscrypt), gocryptfs bindfs, qemu-utils qemu-system-common (or nbdkit libnbd-bin), samba
# smbclient smbnetfs, sshfs openssh-server socat. A part that cannot run says why, the others go
# on, and the script ends with status 1; 2 if nothing could be tried.
#
# All of it happens in namespaces of its own (mounts, processes, network) and on a tmpfs; ports are
# nobody else's, and only OUT is left. A signal ends the part in order, unmounting first. Killed
# outright, the kernel ends servers, mounts, loop devices and keys, but for luks: there it may wait
# for the very program that was killed, until the connection is aborted in /sys/fs/fuse/connections.
set -euo pipefail

usage() { echo "usage: bench/pair.sh STEADFAST OUT [PART…]" >&2; exit 2; }
all_parts=(fscrypt gocryptfs luks smb sshfs)

# Outside: makes the namespaces and waits, so that a signal finds somebody who can act on it.
outside() {
    [ $# -ge 2 ] || usage
    [ "$(id -u)" = 0 ] || { echo "pair: needs root" >&2; exit 2; }
    local program
    program=$(realpath -e "$1")
    mkdir -p "$2"
    work=$(mktemp -d)
    trap 'rmdir "$work"' EXIT
    local self
    self=$(realpath -e "$0")
    set -m
    STEADFAST_PAIR_WORK=$work setpriv --pdeathsig KILL unshare --mount --net --pid --fork \
        --kill-child --mount-proc "$BASH" "$self" "$program" "$(realpath -e "$2")" "${@:3}" &
    local inside=$!
    set +m
    # What runs in its group ends, and with that the part. Servers have groups of their own.
    trap 'kill -TERM -- -$inside; wait $inside 2> /dev/null || true; exit 130' INT TERM HUP
    local status=0
    wait $inside || status=$?
    trap - INT TERM HUP
    return $status
}

# Says why a part cannot run, and ends it.
cannot() { echo "$part: cannot run here: $*"; exit 1; }

need() {
    local command
    for command in "$@"; do
        command -v "$command" > /dev/null || cannot "no command \`$command\`"
    done
}

is_mounted() { awk -v at="$1" '$5 == at { found = 1 } END { exit !found }' /proc/self/mountinfo; }

# Starts a server of this part; what it says is shown if it fails. Each is a group of its own, for
# smbd takes its group with it when it ends.
serve() {
    set -m
    "$@" > "$here/served.log" 2>&1 < /dev/null &
    set +m
    served+=($!)
}

# Waits until a condition holds, for as long as the last server lives, ten seconds at most.
await() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        ! "$@" 2> /dev/null || return 0
        kill -0 "${served[-1]}" 2> /dev/null || break
        sleep 0.1
    done
    cannot "waited for \`$*\` in vain; the server said: $(tail -n 3 "$here/served.log")"
}

# Ends a part: unmounts what is deepest first, then ends servers.
leave() {
    local at
    awk -v one="$here/" -v other="$images/" \
        'index($5, one) == 1 || index($5, other) == 1 { print $5 }' /proc/self/mountinfo | tac |
        while read -r at; do umount "$at" 2> /dev/null || umount --lazy "$at" || true; done
    [ ${#served[@]} = 0 ] || { kill "${served[@]}" 2> /dev/null; wait "${served[@]}"; } || true
    rm -rf "$here" "$images"
}

# A volume on a loop device in memory.
make_volume() {
    truncate -s 800M "$images/volume.img"
    mkfs.ext4 -q -b 4096 -O "${1:-^encrypt}" "$images/volume.img"
    mkdir "$here/volume"
    mount -o loop,noatime "$images/volume.img" "$here/volume" || cannot "no loop device, or no ext4"
    mkdir "$here/volume/plain"
}

# Compares; the first argument names the record, the second says what it is.
compare() {
    local name=$1 what=$2 sizes=() size
    for size in $SIZES; do sizes+=(--size "$size"); done
    {
        printf '\n== %s: %s\n' "$name" "$what"
        "$steadfast" measure pair --rounds "$ROUNDS" --seed "$SEED" "${sizes[@]}" \
            --progress never --export "$out/$name.json" "${@:3}" 2>&1
    } | tee "$out/$name.txt"
}

part_fscrypt() {
    need mkfs.ext4 xfs_io
    make_volume encrypt
    mkdir "$here/volume/enciphered"
    head -c 32 /dev/urandom > "$here/key"
    local key
    key=$(xfs_io -c add_enckey "$here/volume" < "$here/key" | grep -oE '[0-9a-f]{32}') ||
        cannot "the kernel takes no key for fscrypt"
    xfs_io -c "set_encpolicy -v 2 $key" "$here/volume/enciphered"
    compare fscrypt "AES-256-XTS by $(kernel_driver 'xts(aes)'), against the same volume" \
        "$here/volume/enciphered" "$here/volume/plain"
}

# Names the code that the kernel prefers for a cipher.
kernel_driver() {
    awk -v name="$1" '/^name/ { is = $3 == name } is && /^driver/ { driver = $3 }
        is && /^priority/ && $3 + 0 >= best { best = $3 + 0; kept = driver }
        END { print kept == "" ? "an unknown driver" : kept }' /proc/crypto
}

part_gocryptfs() {
    need gocryptfs bindfs
    mkdir -p "$here/memory/plain"
    echo pair > "$here/password"
    local kind
    for kind in with without; do
        mkdir "$here/memory/$kind" "$here/$kind"
        gocryptfs -q -init -passfile "$here/password" -scryptn 10 "$here/memory/$kind"
    done
    # Go's own AES on both sides, or OpenSSL would take the place of what is switched off.
    local options=(-f -q -openssl=false -passfile "$here/password")
    serve gocryptfs "${options[@]}" "$here/memory/with" "$here/with"
    await is_mounted "$here/with"
    GODEBUG=cpu.aes=off serve gocryptfs "${options[@]}" "$here/memory/without" "$here/without"
    await is_mounted "$here/without"
    mkdir "$here/memory/bound" "$here/bound"
    serve bindfs -f "$here/memory/bound" "$here/bound"
    await is_mounted "$here/bound"
    compare gocryptfs-aes "AES-256-GCM with AES instructions, against memory; control: bindfs" \
        "$here/with" "$here/memory/plain" --control "$here/bound"
    compare gocryptfs-no-aes "AES-256-GCM without them, against memory; control: bindfs" \
        "$here/without" "$here/memory/plain" --control "$here/bound"
    compare gocryptfs-instructions "without AES instructions against with them" \
        "$here/without" "$here/with"
}

# Mounts an image that a program shows through FUSE: $1 is raw or luks, the driver's name.
mount_image() {
    local kind=$1 driver=$1 secret=() key=() shown
    mkdir "$here/$kind"
    if command -v qemu-storage-daemon > /dev/null; then
        shown=$images/$kind.shown
        touch "$shown"
        if [ "$kind" = luks ]; then
            secret=(--object "secret,id=key,file=$here/password")
            key=(key-secret=key)
            # It times its key derivation, and gives up where others disturb that.
            local tries=0
            until qemu-img create -q -f luks "${secret[@]}" -o key-secret=key \
                "$images/luks.img" 500M; do
                ((++tries < 5)) || cannot "qemu makes no LUKS image"
            done
        else
            truncate -s 500M "$images/raw.img"
        fi
        serve qemu-storage-daemon "${secret[@]}" \
            --blockdev "driver=file,node-name=file,filename=$images/$kind.img" \
            --blockdev "driver=$driver,node-name=image,file=file${key:+,$key}" \
            --export "type=fuse,id=shown,node-name=image,mountpoint=$shown,writable=on"
        await is_mounted "$shown"
    else
        need nbdkit nbdfuse cryptsetup
        truncate -s 500M "$images/$kind.img"
        if [ "$kind" = luks ]; then
            cryptsetup luksFormat -q --type luks1 "$images/luks.img" "$here/password"
            secret=(--filter=luks)
            key=("passphrase=+$here/password")
        fi
        mkdir "$images/$kind.nbd"
        serve nbdfuse "$images/$kind.nbd" --command \
            nbdkit -s "${secret[@]}" file "$images/$kind.img" "${key[@]}"
        shown=$images/$kind.nbd/nbd
        await test -s "$shown"
    fi
    mkfs.ext4 -q -b 4096 -E nodiscard -F "$shown"
    mount -o loop,noatime "$shown" "$here/$kind" || cannot "no loop device on a file behind FUSE"
    mkdir "$here/$kind/folder"
}

part_luks() {
    need mkfs.ext4
    command -v qemu-storage-daemon nbdkit > /dev/null ||
        cannot "neither \`qemu-storage-daemon\` nor \`nbdkit\`"
    printf pair > "$here/password"
    make_volume
    mount_image luks
    mount_image raw
    local by=qemu
    command -v qemu-storage-daemon > /dev/null || by=nbdkit
    compare luks "LUKS by $by behind FUSE, against ext4; control: a raw image by $by" \
        "$here/luks/folder" "$here/volume/plain" --control "$here/raw/folder"
}

part_smb() {
    need smbd smbpasswd smbstatus smbnetfs
    local base=$here/samba HOME=$here/home share
    mkdir -p "$base" "$HOME/.smb" "$here/shares" "$here/memory/"{plain,enciphered}
    cat > "$base/smb.conf" << CONFIGURATION
[global]
    server role = standalone server
    interfaces = lo
    bind interfaces only = yes
    disable netbios = yes
    smb ports = 445
    server min protocol = SMB3
    private dir = $base
    state directory = $base
    cache directory = $base
    lock directory = $base
    pid directory = $base
    ncalrpc dir = $base/ncalrpc
    log file = $base/log
    load printers = no
[plain]
    path = $here/memory/plain
    writable = yes
    smb encrypt = off
[enciphered]
    path = $here/memory/enciphered
    writable = yes
    smb encrypt = required
CONFIGURATION
    printf 'pair\npair\n' | smbpasswd -c "$base/smb.conf" -L -s -a root > /dev/null
    serve smbd --foreground --no-process-group --configfile="$base/smb.conf"
    await bash -c 'exec 3<> /dev/tcp/127.0.0.1/445'
    printf '[global]\n    client min protocol = SMB3\n    name resolve order = host\n' \
        > "$HOME/.smb/smb.conf"
    echo 'auth "root" "pair"' > "$HOME/.smb/smbnetfs.auth"
    printf 'include "smbnetfs.auth"\n' > "$HOME/.smb/smbnetfs.conf"
    chmod 600 "$HOME/.smb/"*
    # Without these it writes 4 KiB at a time and says that there is no room.
    serve smbnetfs -f -o big_writes,free_space_size=1000000 "$here/shares"
    await is_mounted "$here/shares"
    for share in plain enciphered; do
        await test -d "$here/shares/127.0.0.1/$share"
        ls "$here/shares/127.0.0.1/$share" > /dev/null
    done
    # A message may be signed where it is not enciphered; that would be no plain side.
    local ways
    ways=$(smbstatus --configfile="$base/smb.conf" --shares |
        awk '$1 ~ /^(plain|enciphered)$/ { print $1 ": cipher " $(NF - 1) ", signing " $NF }' |
        sort -u | paste -sd ';' | sed 's/;/; /g')
    compare smb "SMB3, enciphered against plain ($ways)" \
        "$here/shares/127.0.0.1/enciphered" "$here/shares/127.0.0.1/plain"
}

part_sshfs() {
    need sshd ssh-keygen sshfs socat
    local server=/usr/lib/openssh/sftp-server
    [ -x "$server" ] || cannot "no \`sftp-server\`"
    mkdir -p "$here/ssh" "$here/over-ssh" "$here/direct" "$here/memory/"{plain,over-ssh,direct}
    ssh-keygen -q -t ed25519 -N '' -f "$here/ssh/host"
    ssh-keygen -q -t ed25519 -N '' -f "$here/ssh/user"
    # Nobody else sees this folder: the mount is in our namespace.
    mount -t tmpfs tmpfs /run
    mkdir /run/sshd
    cat > "$here/ssh/config" << CONFIGURATION
ListenAddress 127.0.0.1
Port 22
HostKey $here/ssh/host
AuthorizedKeysFile $here/ssh/user.pub
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PidFile none
Subsystem sftp $server
CONFIGURATION
    serve "$(command -v sshd)" -D -e -f "$here/ssh/config"
    await bash -c 'exec 3<> /dev/tcp/127.0.0.1/22'
    local cipher=aes256-gcm@openssh.com
    serve sshfs -f -o "Ciphers=$cipher,IdentityFile=$here/ssh/user" -F /dev/null \
        -o StrictHostKeyChecking=no,UserKnownHostsFile=/dev/null,BatchMode=yes \
        "127.0.0.1:$here/memory/over-ssh" "$here/over-ssh"
    await is_mounted "$here/over-ssh"
    serve socat TCP-LISTEN:4499,bind=127.0.0.1,fork,reuseaddr,nodelay "EXEC:$server"
    await bash -c 'exec 3<> /dev/tcp/127.0.0.1/4499'
    serve sshfs -f -o directport=4499 "127.0.0.1:$here/memory/direct" "$here/direct"
    await is_mounted "$here/direct"
    compare sshfs "$cipher, against the same memory; control: sshfs without SSH" \
        "$here/over-ssh" "$here/memory/plain" --control "$here/direct"
}

inside() {
    steadfast=$1 out=$2
    shift 2
    local work=$STEADFAST_PAIR_WORK failed=()
    # The first process of a namespace takes no signal that it does not ask for.
    trap 'exit 130' INT TERM HUP
    # Images lie in a mount beside those that show them. Beneath it, each would keep the other, and
    # the kernel would end neither with the namespace.
    mount -t tmpfs -o size=3G,mode=700 tmpfs "$work"
    mkdir "$work/images"
    mount -t tmpfs -o size=3G,mode=700 tmpfs "$work/images"
    ip link set lo up
    [ $# -gt 0 ] || set -- "${all_parts[@]}"
    for part in "$@"; do
        here=$work/$part images=$work/images/$part
        mkdir "$here" "$images"
        # Not within a condition: there `set -e` would not hold.
        set +e
        (
            set -e
            served=()
            trap leave EXIT
            trap 'exit 130' INT TERM HUP
            "part_$part"
        )
        [ $? = 0 ] || failed+=("$part")
        set -e
    done
    [ ${#failed[@]} = 0 ] || { printf '\npair: without result: %s\n' "${failed[*]}"; return 1; }
}

if [ -n "${STEADFAST_PAIR_WORK:-}" ]; then
    ROUNDS=${ROUNDS:-9} SIZES=${SIZES:-1MB 64MB} SEED=${SEED:-1}
    inside "$@"
else
    for part in "${@:3}"; do
        case " ${all_parts[*]} " in *" $part "*) ;; *) usage ;; esac
    done
    outside "$@"
fi
