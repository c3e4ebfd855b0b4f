/** Signs the links that acknowledge alarms, and checks them. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a link allows: to acknowledge the alarms of one notification. */
export interface LinkGrant {
  readonly tenant: string
  readonly notification: string
  /** epoch ms */
  readonly until: number
}

const MAX_TOKEN = 2_000

/** Returns the tenant that the token of a URL names, without checking its signature. */
export function tenantOfLink(url: string): string | undefined {
  const content = /^\/alarm\/links\/([\w-]{1,2000})\./.exec(url)?.[1]
  if (content === undefined) return undefined
  try {
    const [tenant] = JSON.parse(Buffer.from(content, 'base64url').toString()) as readonly unknown[]
    return typeof tenant === 'string' ? tenant : undefined
  } catch {
    return undefined
  }
}

export class LinkSigner {
  readonly #key: Uint8Array

  /** `key`: of the host; links have a key of their own that is derived from it */
  constructor(key: Uint8Array) {
    this.#key = createHmac('sha256', key).update('links that acknowledge alarms').digest()
  }

  sign({ tenant, notification, until }: LinkGrant): string {
    const content = Buffer.from(JSON.stringify([tenant, notification, until])).toString('base64url')
    return `${content}.${this.#sumOf(content).toString('base64url')}`
  }

  /** Returns what a token grants, even if it has expired; undefined for a token that this key did not sign. */
  read(token: string): LinkGrant | undefined {
    const [content = '', sum = '', ...more] = token.slice(0, MAX_TOKEN + 1).split('.')
    if (token.length > MAX_TOKEN || more.length > 0) return undefined
    const [given, right] = [Buffer.from(sum, 'base64url'), this.#sumOf(content)]
    if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined
    const [tenant, notification, until] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [
      string,
      string,
      number,
    ]
    return { tenant, notification, until }
  }

  #sumOf(content: string): Buffer {
    return createHmac('sha256', this.#key).update(content).digest()
  }
}
