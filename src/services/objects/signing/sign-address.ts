/** Signs addresses and forms for S3 clients and browsers. */
import type { SignedMethod } from '../contract.ts'
import {
  ALGORITHM,
  encodedPath,
  encodedQuery,
  percentEncoded,
  policySignature,
  requestSignature,
  scopeText,
  type Signed,
} from './sigv4.ts'

/** Parameter with the minimum and maximum bytes of an upload. S3 itself supports this for forms only. */
export const LENGTH_PARAMETER = 'content-length-range'

interface Order {
  readonly bucket: string
  /** path of the object; in a form it may be a folder, used as a prefix */
  readonly path: string
  readonly time: string
  readonly key: Signed & { readonly id: string }
}

export interface AddressOrder extends Order {
  /** headers that the request must have, by lower-case name, in addition to the host */
  readonly required?: Readonly<Record<string, string>>
  readonly method: SignedMethod
  /** origin and path prefix of the host, such as `https://host:8080` */
  readonly origin: string
  readonly expiry: number
  readonly more?: readonly (readonly [name: string, value: string])[]
}

export interface FormOrder extends Order {
  readonly contentType?: string | undefined
  readonly until: number
  readonly length?: readonly [least: number, most: number] | undefined
}

export function signedAddress({
  method,
  origin,
  bucket,
  path,
  time,
  expiry,
  key,
  required = {},
  more = [],
}: AddressOrder): string {
  const { host, origin: server, pathname } = new URL(origin)
  const headers = Object.entries({ ...required, host }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const query = [
    ['X-Amz-Algorithm', ALGORITHM],
    ['X-Amz-Credential', `${key.id}/${scopeText(key)}`],
    ['X-Amz-Date', time],
    ['X-Amz-Expires', String(expiry)],
    ['X-Amz-SignedHeaders', headers.map(([name]) => name).join(';')],
    ...more,
  ] as const
  const where = `${pathname.replace(/\/$/, '')}/${percentEncoded(bucket)}/${encodedPath(path)}`
  const signature = requestSignature({ method, path: where, query, headers }, time, key)
  return `${server}${where}?${encodedQuery(query)}&X-Amz-Signature=${signature}`
}

export function signedForm({
  bucket,
  path,
  time,
  until,
  key,
  contentType,
  length,
}: FormOrder): Readonly<Record<string, string>> {
  const credential = `${key.id}/${scopeText(key)}`
  const conditions: readonly unknown[] = [
    ['eq', '$bucket', bucket],
    [path === '' || path.endsWith('/') ? 'starts-with' : 'eq', '$key', path],
    ['eq', '$x-amz-algorithm', ALGORITHM],
    ['eq', '$x-amz-credential', credential],
    ['eq', '$x-amz-date', time],
    ...(contentType === undefined ? [] : [['eq', '$Content-Type', contentType]]),
    ...(length === undefined ? [] : [['content-length-range', ...length]]),
  ]
  const policy = Buffer.from(JSON.stringify({ expiration: new Date(until).toISOString(), conditions })).toString(
    'base64',
  )
  return {
    'x-amz-algorithm': ALGORITHM,
    'x-amz-credential': credential,
    'x-amz-date': time,
    policy,
    'x-amz-signature': policySignature(policy, key),
    bucket,
    key: path,
    ...(contentType !== undefined && { 'content-type': contentType }),
  }
}

export function signingTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}

export function readSigningTime(text: string): number | undefined {
  const [, year = '', month = '', day = '', ...clock] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? []
  const ms = Date.parse(`${year}-${month}-${day}T${clock.join(':')}Z`)
  return Number.isNaN(ms) ? undefined : ms
}

export function attachment(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const plain = name.replaceAll(/[^ -~]/g, '_').replaceAll(/["\\]/g, '_')
  const isPlain = plain === name
  return `attachment; filename="${plain}"${isPlain ? '' : `; filename*=UTF-8''${percentEncoded(name)}`}`
}
