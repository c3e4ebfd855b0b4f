/** Signed addresses of objects, as any client of S3 can use them, and signed forms: what a browser posts with a file. */
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

/** Says how many bytes an upload may have: `<least>-<most>`. A parameter of our own: S3 has it for forms alone. */
export const LENGTH_PARAMETER = 'content-length-range'

interface Order {
  readonly bucket: string
  /** of the object; of a form also a folder that its key begins with */
  readonly path: string
  /** `20250101T000000Z` */
  readonly time: string
  readonly key: Signed & { readonly id: string }
  /** what the content type of an upload must be */
  readonly contentType?: string | undefined
}

export interface AddressOrder extends Order {
  readonly method: SignedMethod
  /** scheme, authority, and what paths of the host begin with: `https://host:8080` */
  readonly origin: string
  /** s */
  readonly expiry: number
  /** parameters besides, which are signed too */
  readonly more?: readonly (readonly [name: string, value: string])[]
}

export interface FormOrder extends Order {
  /** epoch ms */
  readonly until: number
  /** bytes, both included */
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
  contentType,
  more = [],
}: AddressOrder): string {
  const { host, origin: server, pathname } = new URL(origin)
  const headers = [
    ...(contentType === undefined ? [] : [['content-type', contentType] as const]),
    ['host', host] as const,
  ]
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

/** The fields of the form, to which the file comes last. */
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

/** `20250101T000000Z` */
export function signingTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}

/** Epoch ms of such a time; undefined for what is none. */
export function readSigningTime(text: string): number | undefined {
  const [, year = '', month = '', day = '', ...clock] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text) ?? []
  const ms = Date.parse(`${year}-${month}-${day}T${clock.join(':')}Z`)
  return Number.isNaN(ms) ? undefined : ms
}

/** A download that browsers save under the name of its object. */
export function attachment(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const plain = name.replaceAll(/[^ -~]/g, '_').replaceAll(/["\\]/g, '_')
  const isPlain = plain === name
  return `attachment; filename="${plain}"${isPlain ? '' : `; filename*=UTF-8''${percentEncoded(name)}`}`
}
