/** Path segments that mean something else than a tenant: `/api/v1/webscripts` is a route, and dots lead elsewhere. */
const RESERVED: ReadonlySet<string> = new Set(['.', '..', 'webscripts'])

/** True for a name that a tenant may have. Those that begin with `_` are the host's own. */
export function isTenant(name: string): boolean {
  return !RESERVED.has(name) && /^[A-Za-z0-9.-][\w.-]{0,63}$/.test(name)
}
