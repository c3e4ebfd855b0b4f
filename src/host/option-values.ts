/** Parses the values of options; `undefined` for a value that cannot be used. */
import { isIP } from 'node:net'
import { durationMs } from '#kernel'

export type StoreChoice =
  { readonly medium: 'sqlite' } | { readonly medium: 'memory' } | { readonly medium: 'postgres'; readonly url: string }

export type ObjectsChoice = { readonly kind: 'files' } | { readonly kind: 's3'; readonly url: string }

/** Limits for stored inputs of tasks; undefined: inputs are not stored */
export type KeptInputs = { readonly ageMs: number; readonly bytes: number } | undefined

export function isOn(text: string | undefined): boolean {
  return text === 'true' || text === '1'
}

/** Parses a duration to ms; `off` means `Infinity`. */
export function spanOf(text: string): number | undefined {
  return text === 'off' ? Infinity : lengthOf(text)
}

/** Parses a duration to ms. */
export function lengthOf(text: string): number | undefined {
  try {
    const ms = durationMs(text)
    return ms >= 0 ? ms : undefined
  } catch {
    return undefined
  }
}

export function keptOf(text: string): KeptInputs | 'nothing' {
  if (text === '0') return 'nothing'
  const parts = text.split(',').map((part) => part.trim())
  const sizes = parts.flatMap((part) => sizeOf(part) ?? [])
  const ages = parts.flatMap((part) => (sizeOf(part) === undefined ? (lengthOf(part) ?? []) : []))
  if (sizes.length > 1 || ages.length > 1 || sizes.length + ages.length < parts.length) return undefined
  const [ageMs = Infinity] = ages
  const [bytes = Infinity] = sizes
  return ageMs > 0 && bytes > 0 ? { ageMs, bytes } : undefined
}

const SIZES = { KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 } as const

/** Parses a size to bytes. */
function sizeOf(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,6}(?:\.\d{1,3})?) ?([KMGT]B)$/i.exec(text) ?? []
  return unit === undefined ? undefined : Number(count) * SIZES[unit.toUpperCase() as keyof typeof SIZES]
}

export function wholeUpTo(most: number): (text: string) => number | undefined {
  return (text) => (/^\d{1,10}$/.test(text) && Number(text) <= most ? Number(text) : undefined)
}

export function nonEmpty(text: string): string | undefined {
  return text.trim() === '' ? undefined : text
}

export function storeOf(text: string): StoreChoice | undefined {
  if (text === 'sqlite:') return { medium: 'sqlite' }
  if (text === 'memory:') return { medium: 'memory' }
  return /^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text) ? { medium: 'postgres', url: text } : undefined
}

export function objectsOf(text: string): ObjectsChoice | undefined {
  if (text === 'files:') return { kind: 'files' }
  return /^s3:\/\/[^/?]+/.test(text) && URL.canParse(text) ? { kind: 's3', url: text } : undefined
}

export function hostUrlOf(text: string): string | undefined {
  const { protocol = '', search = '', hash = '', username = '' } = URL.canParse(text) ? new URL(text) : {}
  const isHost = /^https?:$/.test(protocol) && search === '' && hash === '' && username === ''
  return isHost ? text.replace(/\/+$/, '') : undefined
}

const MAIL_ADDRESS = /^[^\s@<>]+@[^\s@<>]+$/

/** Reads the options of the mail server; adds what is wrong to the problems. */
export function mailServerOf(
  { url, password, from }: Readonly<Record<'url' | 'password' | 'from', string | undefined>>,
  problems: string[],
): { readonly url: string; readonly password?: string; readonly from: string } | undefined {
  if (url === undefined) {
    if (password !== undefined || from !== undefined)
      problems.push('--smtp-password and --smtp-from: --smtp is missing; write the mail server, or omit them')
    return undefined
  }
  const { protocol, username, password: inside, pathname } = URL.canParse(url) ? new URL(url) : EMPTY_URL
  if (!/^smtps?:$/.test(protocol) || !/^\/?$/.test(pathname)) {
    problems.push('--smtp: this value cannot be used; write smtps://user@host, or smtp://host:port')
    return undefined
  }
  if (inside !== '')
    problems.push('--smtp: the address contains a password; write it to REFLEXARC_SMTP_PASSWORD or --smtp-password')
  const sender = from ?? decodeURIComponent(username)
  if (!MAIL_ADDRESS.test(sender))
    problems.push('--smtp-from: the sender is missing or not a mail address; write one such as alarms@example.com')
  return { url, ...(password !== undefined && { password }), from: sender }
}

const EMPTY_URL = { protocol: '', username: '', password: '', pathname: '' }

export function originOf(text: string): string | undefined {
  const url = hostUrlOf(text)
  return url !== undefined && new URL(url).pathname === '/' ? new URL(url).origin : undefined
}

export function servicesOf(list: string, known: readonly string[]): readonly string[] | undefined {
  const names = [...new Set(list.split(',').map((name) => name.trim()))]
  return names.every((name) => known.includes(name)) ? names : undefined
}

const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal']

export function proxiesOf(list: string): string | undefined {
  const names = list.split(',').map((name) => name.trim())
  return names.every(isNetwork) ? names.join(',') : undefined
}

function isNetwork(name: string): boolean {
  if (NAMED_NETWORKS.includes(name)) return true
  const [address = '', bits, ...more] = name.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128))
  )
}

export function keyOf(text: string): string | undefined {
  return /^[!-9;-~]{1,128}$/.test(text) ? text : undefined
}

export function secretOf(text: string): string | undefined {
  return /^[!-~]{1,256}$/.test(text) ? text : undefined
}

export function jwksOf(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const isHere = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere) ? url : undefined
}
