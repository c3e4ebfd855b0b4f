/** What browsers report of the page that a request comes from: a page of another origin may not write with credentials that its reader's browser attached. */

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface SentByPage {
  readonly method: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** name and port that the request was sent to, as its client has them */
  readonly host: string
}

/**
 * The page of another origin that a write comes from, as its browser reports it: its origin, `null` for a sandboxed page,
 * or the relation of the two sites. Undefined for reads, for pages of this origin, and for clients that report no page.
 * A socket counts as a write. `ownUrl`: how clients reach this host when a proxy sends another name as `Host`.
 */
export function foreignPage({ method, headers, host }: SentByPage, ownUrl?: string): string | undefined {
  const origin = headers['origin']?.toString()
  const site = headers['sec-fetch-site']
  if (origin === undefined && site === undefined) return undefined
  if (READS.has(method) && headers['upgrade'] === undefined) return undefined
  // browsers set it, and no page can
  if (site === 'same-origin' && origin !== 'null') return undefined
  if (site !== undefined && site !== 'none') return origin ?? site.toString()
  if (origin === undefined || isSame(origin, host)) return undefined
  return ownUrl !== undefined && URL.canParse(ownUrl) && isSame(origin, new URL(ownUrl).host) ? undefined : origin
}

/** Whether a browser may have attached it by itself: it does so with a key pair that was typed in, and with no token. */
export function mayBeAttached(authorization: string | undefined): boolean {
  return authorization !== undefined && /^basic\s/i.test(authorization)
}

/** What a refused page is told. */
export function refusedPage(page: string): string {
  return (
    `A page of another origin (${page.slice(0, 200)}) may not write with the key pair that this browser keeps; ` +
    'send the request from a page of this host, from a program, or with a bearer token'
  )
}

/** Scheme aside: behind a proxy with TLS a request arrives without. */
function isSame(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false
  const page = new URL(origin)
  const own = `${page.protocol}//${host}`
  return URL.canParse(own) && new URL(own).host === page.host
}
