/** Private hosts and networks that callURL may reach. Cloud metadata addresses are always blocked. */
import { AppError } from './errors.ts'
import { inNetwork, isMetadataAddress, isPublicAddress, readNetwork, type Network } from './ip-address.ts'

interface Allowed {
  /** host name in lower case; absent when the entry is a network */
  readonly name?: string
  readonly network?: Network
  readonly port?: number
}

const FORM =
  'use a host name, an address or a network with an optional port, such as intranet.local:8080, 10.0.0.0/8 or [fd12::/16]:443'

/** Host names that serve cloud credentials and stay blocked, whatever address they resolve to. */
const METADATA_NAMES = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal'])

export class AllowList {
  readonly #allowed: readonly Allowed[]

  /**
   * Parses entries such as `intranet.local`, `10.1.2.3:8080`, `10.0.0.0/8`, `[fd12::1]:443` or `http://intranet.local`.
   * Throws `USAGE` for a malformed entry.
   */
  constructor(texts: readonly string[]) {
    const problems = problemsOfAllowed(texts)
    if (problems.length > 0) throw new AppError('USAGE', problems.join('\n'))
    this.#allowed = texts.flatMap((text) => readAllowed(text) ?? [])
  }

  refusal(url: URL, address: string): string | undefined {
    const name = url.hostname.replace(/\.$/, '')
    if (isMetadataAddress(address) || METADATA_NAMES.has(name))
      return `${name} is a cloud metadata address, which callURL never reaches`
    if (isPublicAddress(address)) return undefined
    const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
    const fits = (one: Allowed): boolean =>
      (one.port === undefined || one.port === port) &&
      (one.network === undefined ? one.name === name : inNetwork(address, one.network))
    return this.#allowed.some(fits)
      ? undefined
      : `${name} is not on the public internet; allow it by name, address or network in the options of the host`
  }
}

export function problemsOfAllowed(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => problemOf(text, readAllowed(text)) ?? [])
}

function problemOf(text: string, allowed: Allowed | undefined): string | undefined {
  const refused = `${JSON.stringify(text)} is not a valid allow-list entry`
  if (allowed === undefined) return `${refused}; ${FORM}`
  const { network, name = '' } = allowed
  const isWhole = network !== undefined && network.bits === network.address.length * 8
  const isMetadata = METADATA_NAMES.has(name) || (isWhole && isMetadataAddress(network.text))
  return isMetadata ? `${refused}; cloud metadata addresses are always blocked` : undefined
}

function readAllowed(text: string): Allowed | undefined {
  return /^https?:/i.test(text) ? ofOrigin(text) : ofAddress(text)
}

function ofOrigin(text: string): Allowed | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || url.href !== `${url.origin}/`) return undefined
  return ofAddress(`${url.hostname}:${url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port}`)
}

function ofAddress(text: string): Allowed | undefined {
  const bare = readNetwork(text)
  if (bare) return { network: bare }
  const [, bracketed, plain = '', digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const port = digits === undefined ? {} : { port: Number(digits) }
  if (port.port !== undefined && (port.port === 0 || port.port > 65_535)) return undefined
  const network = readNetwork(bracketed ?? plain)
  if (network) return { network, ...port }
  const name = plain.toLowerCase().replace(/\.$/, '')
  return bracketed === undefined && /^[\w-]+(?:\.[\w-]+)*$/.test(name) && /[a-z]/.test(name)
    ? { name, ...port }
    : undefined
}
