/** Path segments that cannot be tenant names: `/api/v1/webscripts` is a route, and dots navigate. */
const RESERVED: ReadonlySet<string> = new Set(['.', '..', 'webscripts'])

/** Whether a tenant may have this name. Names that begin with `_` are reserved for the host. */
export function isTenant(name: string): boolean {
  return !RESERVED.has(name) && /^[A-Za-z0-9.-][\w.-]{0,63}$/.test(name)
}
