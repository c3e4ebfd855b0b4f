/** Provides shell fragments that start a program in a file view of only the shown paths; `root` is an empty folder. */

/** `show PATH OPTIONS` mounts one more path; `show_own_processes` mounts a /proc of the view's processes. */
export const MAKE_VIEW = `mount -t tmpfs -o size=256k,nr_inodes=1000,mode=755,nosuid,nodev sandbox "$root"
cd "$root"
show() {
  if [ -d "$1" ]; then mkdir -p ".$1"; else mkdir -p ".\${1%/*}"; : > ".$1"; fi
  mount --rbind -o "$2" "$1" ".$1"
}
for system in /lib /lib64 /usr/lib /usr/lib64; do
  if [ -L "$system" ]; then mkdir -p ".\${system%/*}"; ln -s "$(readlink "$system")" ".$system"
  elif [ -d "$system" ]; then show "$system" ro,nosuid,nodev; fi
done
show_own_processes() {
  mkdir proc
  mount -t proc -o ro,nosuid,nodev,noexec,subset=pid proc proc
}
show /dev/null nosuid; show /dev/urandom ro,nosuid
show /usr/bin/setpriv ro,nosuid,nodev
`

/** Makes the view the root file system, with the old root at `.old`. */
export const ENTER_VIEW = `mkdir .old
# umount reads /proc; with the old root this goes too
[ -d proc ] || ln -s .old/proc proc
mount -o remount,bind,ro,nosuid,nodev "$root"
pivot_root . .old
`

/** Unmounts the old root. Afterwards no program can be found by name. */
export const LEAVE_FILES = `PATH=/.old/usr/bin:/.old/bin:/.old/usr/sbin:/.old/sbin
umount -l /.old
`

/** Executes the command without capabilities; `$own` sets the user. */
export const RUN_WITHOUT_CAPABILITIES = `exec /usr/bin/setpriv $own --inh-caps=-all --ambient-caps=-all --bounding-set=-all --no-new-privs -- "$@"
`
