/** Protects against pages of another origin that write with credentials that the browser attached. */

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface SentByPage {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** host name and port in the client's URL */
  readonly host: string
}

/**
 * Origin of the page that sent a write, `null` for a sandboxed page, or the relation of the sites; undefined for reads,
 * own pages, and clients that report none. A WebSocket counts as a write. `ownUrl`: for a proxy with another `Host`.
 */
export function foreignPage({ method, headers, host }: SentByPage, ownUrl?: string): string | undefined {
  const origin = headers['origin']?.toString()
  const site = headers['sec-fetch-site']
  if (origin === undefined && site === undefined) return undefined
  if (READS.has(method) && headers['upgrade'] === undefined) return undefined
  // browsers set this header, and pages cannot
  if (site === 'same-origin' && origin !== 'null') return undefined
  if (site !== undefined && site !== 'none') return origin ?? site.toString()
  if (origin === undefined || isSame(origin, host)) return undefined
  return ownUrl !== undefined && URL.canParse(ownUrl) && isSame(origin, new URL(ownUrl).host) ? undefined : origin
}

/** True when a browser may attach such credentials on its own, as with basic credentials but not with tokens. */
export function mayBeAttached(authorization: string | undefined): boolean {
  return authorization !== undefined && /^basic\s/i.test(authorization)
}

export function refusedPage(page: string): string {
  return (
    `A page of another origin (${page.slice(0, 200)}) may not write with the key pair stored by the browser; ` +
    'send the request from a page of this host, from a program, or with a bearer token'
  )
}

function isSame(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false
  const page = new URL(origin)
  const ownOrigin = `${page.protocol}//${host}`
  return URL.canParse(ownOrigin) && new URL(ownOrigin).host === page.host
}
