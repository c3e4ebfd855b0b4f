/** True for a name that a tenant may have. Those that begin with `_` are the host's own. */
export function isTenant(name: string): boolean {
  return /^[A-Za-z0-9.-][\w.-]{0,63}$/.test(name)
}
