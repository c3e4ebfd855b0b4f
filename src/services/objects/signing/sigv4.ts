/** Computes S3 signatures, version 4, for addresses and policies. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { LruCache } from '#kernel'

export const ALGORITHM = 'AWS4-HMAC-SHA256'
export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD'

/** Scope of a signature: `<date>/<region>/s3/aws4_request`. */
export interface Scope {
  /** `20250101` */
  readonly date: string
  readonly region: string
}

export interface Signed extends Scope {
  readonly secret: string
}

export interface CanonicalRequest {
  readonly method: string
  /** percent-encoded, without the query */
  readonly path: string
  /** decoded */
  readonly query: readonly (readonly [name: string, value: string])[]
  /** the signed headers, with names in lower case */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

export function scopeText({ date, region }: Scope): string {
  return `${date}/${region}/s3/aws4_request`
}

/** Returns the signature in hex. `time`: such as `20250101T000000Z`. */
export function requestSignature(request: CanonicalRequest, time: string, signed: Signed): string {
  const digest = createHash('sha256').update(canonicalText(request)).digest('hex')
  return signatureOf([ALGORITHM, time, scopeText(signed), digest].join('\n'), signed)
}

export function policySignature(policy: string, signed: Signed): string {
  return signatureOf(policy, signed)
}

export function isSameSignature(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

export function percentEncoded(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

export function encodedPath(path: string): string {
  return path.split('/').map(percentEncoded).join('/')
}

export function encodedQuery(query: CanonicalRequest['query']): string {
  return query
    .map(([name, value]) => [percentEncoded(name), percentEncoded(value)] as const)
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function canonicalText({ method, path, query, headers }: CanonicalRequest): string {
  const sorted = [...headers].sort(([a], [b]) => compare(a, b))
  return [
    method,
    path,
    encodedQuery(query),
    ...sorted.map(([name, value]) => `${name}:${value.trim().replaceAll(/ +/g, ' ')}`),
    '',
    sorted.map(([name]) => name).join(';'),
    UNSIGNED_PAYLOAD,
  ].join('\n')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

const keys = new LruCache<string, Buffer>(1_000)

function signatureOf(text: string, signed: Signed): string {
  return hmac(keyOf(signed), text).toString('hex')
}

function keyOf({ secret, date, region }: Signed): Buffer {
  const name = JSON.stringify([secret, date, region])
  const known = keys.get(name)
  if (known !== undefined) return known
  const key = [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, date))
  keys.set(name, key)
  return key
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
