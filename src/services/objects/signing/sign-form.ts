/** Signed forms: what a browser posts with a file. */
import { ALGORITHM, policySignature, scopeText, type Signed } from './sigv4.ts'

export interface FormOrder {
  readonly bucket: string
  /** the key of the upload, or a folder that it begins with */
  readonly path: string
  /** `20250101T000000Z` */
  readonly time: string
  /** epoch ms */
  readonly until: number
  readonly key: Signed & { readonly id: string }
  readonly contentType?: string
  /** bytes, both included */
  readonly length?: readonly [least: number, most: number]
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
