/** Checks the signed policies of forms, and what the forms have against them (OBJECT-5). */
import { isoInstant, isPlainObject } from '#kernel'
import { MAX_EXPIRY } from '../contract.ts'
import { S3Error } from './s3-error.ts'
import { ALGORITHM, isSameSignature, policySignature } from './sigv4.ts'
import type { KeyScope, SigningKeys } from './signing-keys.ts'
import { checkTime, mismatch, noKey, readCredential, TOLERANCE } from './verify-address.ts'

const MAX_CONDITIONS = 200
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/
/** what no condition has to cover; the type of a content is what browsers add */
const FREE = new Set(['file', 'policy', 'x-amz-signature', 'content-type'])

export interface FormGrant extends KeyScope {
  /** bytes, both included */
  readonly length?: { readonly min: number; readonly max: number }
}

export interface SentForm {
  /** names in lower case, without the file */
  readonly fields: ReadonlyMap<string, string>
  /** of the bucket in the address */
  readonly bucket: string
  /** with the name of the file in its place */
  readonly key: string
}

/** Throws an S3Error for a signature that is none or of nobody, and for a form that its policy does not allow. `now`: epoch ms */
export function verifyForm(keys: SigningKeys, form: SentForm, now: number): FormGrant {
  const field = (name: string): string => {
    const value = form.fields.get(name)
    if (value === undefined)
      throw new S3Error('AccessDenied', `The form has no field ${name}: only signed forms are read`)
    return value
  }
  const policy = field('policy')
  if (field('x-amz-algorithm') !== ALGORITHM) throw malformed(`x-amz-algorithm only supports "${ALGORITHM}"`)
  const { id, scope } = readCredential(field('x-amz-credential'), malformed)
  const signedAt = checkTime(field('x-amz-date'), scope, malformed)
  const key = keys.read(id)
  if (key === undefined) throw noKey()
  if (!isSameSignature(field('x-amz-signature'), policySignature(policy, { ...scope, secret: key.secret })))
    throw mismatch()
  if (signedAt > now + TOLERANCE) throw refused('Policy is not valid yet.')
  const { expiration, conditions } = readPolicy(policy)
  // the keys of a day are good for a week, whatever a policy says
  if (now > Math.min(expiration, signedAt + MAX_EXPIRY * 1_000)) throw refused('Policy expired.')
  return { ...key, ...checkConditions(conditions, form) }
}

interface Policy {
  /** epoch ms */
  readonly expiration: number
  readonly conditions: readonly unknown[]
}

function readPolicy(text: string): Policy {
  let policy: unknown
  try {
    policy = JSON.parse(Buffer.from(text, 'base64').toString('utf8'))
  } catch {
    throw new S3Error('InvalidPolicyDocument', 'Invalid Policy: Invalid JSON.')
  }
  const { expiration, conditions } = isPlainObject(policy) ? policy : {}
  const until = typeof expiration === 'string' && UTC.test(expiration) ? isoInstant(expiration) : Number.NaN
  if (Number.isNaN(until)) {
    const wanted = 'write ISO 8601 in UTC, such as 2026-01-01T00:05:00Z'
    throw new S3Error('InvalidPolicyDocument', `Invalid Policy: Invalid expiration; ${wanted}.`)
  }
  if (!Array.isArray(conditions) || conditions.length > MAX_CONDITIONS) {
    throw new S3Error('InvalidPolicyDocument', 'Invalid Policy: Invalid conditions.')
  }
  return { expiration: until, conditions: conditions as readonly unknown[] }
}

/** All must hold, and every field must be in one of them. */
function checkConditions(conditions: readonly unknown[], form: SentForm): Pick<FormGrant, 'length'> {
  const covered = new Set<string>()
  let length: FormGrant['length']
  for (const condition of conditions) {
    const range = rangeOf(condition)
    if (range !== undefined) {
      length =
        length === undefined ? range : { min: Math.max(length.min, range.min), max: Math.min(length.max, range.max) }
      continue
    }
    for (const [kind, name, wanted] of testsOf(condition)) {
      covered.add(name)
      const value = valueOf(name, form)
      const holds = kind === 'eq' ? value === wanted : value?.startsWith(wanted) === true
      if (!holds) throw refused(`Policy Condition failed: ${JSON.stringify([kind, `$${name}`, wanted]).slice(0, 500)}`)
    }
  }
  const extra = [...form.fields.keys()].filter(
    (name) => !FREE.has(name) && !name.startsWith('x-ignore-') && !covered.has(name),
  )
  if (extra.length > 0) throw refused(`Extra input fields: ${extra.join(', ').slice(0, 500)}`)
  return length === undefined ? {} : { length }
}

function valueOf(name: string, { fields, bucket, key }: SentForm): string | undefined {
  if (name === 'bucket')
    return fields.get('bucket') === undefined || fields.get('bucket') === bucket ? bucket : undefined
  return name === 'key' ? key : fields.get(name)
}

type Test = readonly [kind: 'eq' | 'starts-with', name: string, wanted: string]

function testsOf(condition: unknown): readonly Test[] {
  if (isPlainObject(condition)) {
    return Object.entries(condition).map(([name, wanted]) => {
      if (typeof wanted !== 'string') throw unreadable(condition)
      return ['eq', name.toLowerCase(), wanted]
    })
  }
  const [kind, name, wanted] = Array.isArray(condition) ? (condition as readonly unknown[]) : []
  const isKnown = kind === 'eq' || kind === 'starts-with'
  if (!isKnown || typeof name !== 'string' || !name.startsWith('$') || typeof wanted !== 'string')
    throw unreadable(condition)
  return [[kind, name.slice(1).toLowerCase(), wanted]]
}

function rangeOf(condition: unknown): FormGrant['length'] {
  if (!Array.isArray(condition) || condition[0] !== 'content-length-range') return undefined
  const [min, max] = [Number(condition[1]), Number(condition[2])]
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min < 0 || condition.length !== 3)
    throw unreadable(condition)
  return { min, max }
}

function unreadable(condition: unknown): S3Error {
  return new S3Error(
    'InvalidPolicyDocument',
    `Invalid Policy: Invalid condition ${JSON.stringify(condition)?.slice(0, 200)}.`,
  )
}

function malformed(message: string): S3Error {
  return new S3Error('InvalidArgument', message)
}

function refused(why: string): S3Error {
  return new S3Error('AccessDenied', `Invalid according to Policy: ${why}`)
}
