/** Verifies requests to signed addresses (OBJECT-5). */
import { ALGORITHM, encodedPath, isSameSignature, requestSignature, UNSIGNED_PAYLOAD, type Scope } from './sigv4.ts'
import { MAX_EXPIRY } from '../contract.ts'
import { S3Error } from './s3-error.ts'
import { readSigningTime } from './sign-address.ts'
import type { KeyScope, SigningKeys } from './signing-keys.ts'

/** ms by which a signer's clock may be ahead */
export const TOLERANCE = 900_000
const OF_SIGNATURE = /^x-amz-(?:algorithm|credential|date|expires|signedheaders|signature)$/i

export interface SentRequest {
  readonly method: string
  /** percent-encoded, without the query */
  readonly path: string
  /** without the question mark */
  readonly query: string
  /** headers with names in lower case, possibly repeated */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** host as the client sent it, even behind a proxy */
  readonly host: string
}

export interface Grant extends KeyScope {
  /** signed parameters, without those of the signature itself */
  readonly parameters: ReadonlyMap<string, string>
  readonly headers: ReadonlySet<string>
}

export function isSigned(query: string): boolean {
  return /(?:^|&)x-amz-(?:algorithm|signature|credential)=/i.test(query)
}

/** `now`: epoch ms. */
export function verifyAddress(keys: SigningKeys, request: SentRequest, now: number): Grant {
  const query = readQuery(request.query)
  const parameters = new Map<string, string>()
  for (const [name, value] of query) {
    if (parameters.has(name)) throw wrong(`The parameter ${name.slice(0, 100)} occurs twice`)
    parameters.set(name, value)
  }
  const parameter = (name: string): string => {
    const value = parameters.get(name)
    if (value === undefined) throw wrong(`The parameter ${name} is missing`)
    return value
  }
  if (parameter('X-Amz-Algorithm') !== ALGORITHM) throw wrong(`X-Amz-Algorithm only supports "${ALGORITHM}"`)
  const { id, scope } = readCredential(parameter('X-Amz-Credential'), wrong)
  const time = parameter('X-Amz-Date')
  const signedAt = checkTime(time, scope, wrong)
  const expiry = /^\d{1,9}$/.test(parameter('X-Amz-Expires')) ? Number(parameter('X-Amz-Expires')) : Number.NaN
  if (!(expiry >= 1)) throw wrong('X-Amz-Expires must be a number of seconds, at least 1')
  if (expiry > MAX_EXPIRY) throw wrong(`X-Amz-Expires must be less than a week (in seconds); ${MAX_EXPIRY} is the most`)
  const payload = parameters.get('X-Amz-Content-Sha256') ?? UNSIGNED_PAYLOAD
  if (payload !== UNSIGNED_PAYLOAD)
    throw new S3Error('NotImplemented', 'Only URLs with an unsigned payload are supported')
  const headers = signedHeaders(parameter('X-Amz-SignedHeaders'), request)
  const key = keys.read(id)
  if (key === undefined) throw noKey()
  if (signedAt > now + TOLERANCE) throw new S3Error('AccessDenied', 'Request is not valid yet')
  if (now > signedAt + expiry * 1_000) throw new S3Error('AccessDenied', 'Request has expired')
  const canonical = {
    method: request.method,
    path: encodedPath(decoded(request.path)),
    query: query.filter(([name]) => name !== 'X-Amz-Signature'),
    headers,
  }
  const expected = requestSignature(canonical, time, { ...scope, secret: key.secret })
  if (!isSameSignature(parameter('X-Amz-Signature'), expected)) throw mismatch()
  for (const name of parameters.keys()) if (OF_SIGNATURE.test(name)) parameters.delete(name)
  return { ...key, parameters, headers: new Set(headers.map(([name]) => name)) }
}

export function readCredential(
  text: string,
  wrong: (message: string) => S3Error,
): { readonly id: string; readonly scope: Scope } {
  const [, id, date, region] = /^(.{1,200})\/(\d{8})\/([a-z0-9-]{1,50})\/s3\/aws4_request$/.exec(text) ?? []
  if (id === undefined || date === undefined || region === undefined) {
    throw wrong('The credential is malformed; expecting "<key id>/<yyyymmdd>/<region>/s3/aws4_request"')
  }
  return { id, scope: { date, region } }
}

/** Returns the time of a signature in epoch ms; rejects a time outside the day in its scope. */
export function checkTime(text: string, { date }: Scope, wrong: (message: string) => S3Error): number {
  const ms = readSigningTime(text)
  if (ms === undefined) throw wrong("X-Amz-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"")
  if (!text.startsWith(date)) throw wrong('The date of the credential differs from X-Amz-Date')
  return ms
}

export function mismatch(): S3Error {
  return new S3Error(
    'SignatureDoesNotMatch',
    'The request signature we calculated does not match the signature you provided. Check your key and signing method.',
  )
}

export function noKey(): S3Error {
  return new S3Error('InvalidAccessKeyId', 'The key id you provided does not exist in our records.')
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.")
  }
}

function readQuery(query: string): readonly (readonly [name: string, value: string])[] {
  return query
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      return at < 0 ? [decoded(part), ''] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))]
    })
}

/** Returns the signed headers in the order of the signed list; repeated headers are joined with commas. */
function signedHeaders(list: string, { headers, host }: SentRequest): readonly (readonly [string, string])[] {
  const names = list.toLowerCase().split(';')
  if (!names.includes('host')) throw wrong('The header host must be among X-Amz-SignedHeaders')
  const unsigned = headers.find(([name]) => name.startsWith('x-amz-') && !names.includes(name))
  if (unsigned !== undefined) {
    throw new S3Error('AccessDenied', `There were headers present in the request which were not signed: ${unsigned[0]}`)
  }
  return names.map((name) => {
    if (name === 'host') return [name, host]
    const values = headers.filter(([one]) => one === name).map(([, value]) => value.trim())
    return [name, values.join(',')]
  })
}

function wrong(message: string): S3Error {
  return new S3Error('AuthorizationQueryParametersError', message)
}
