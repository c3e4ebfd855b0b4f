/** Verifies the signed policy of a form, and that the form complies with the policy (OBJECT-5). */
import { Type } from 'typebox'
import { AppError, isoInstant } from '#kernel'
import { checked } from '#services/shared/contract'
import { MAX_EXPIRY } from '../contract.ts'
import { S3Error } from './s3-error.ts'
import { ALGORITHM, isSameSignature, policySignature } from './sigv4.ts'
import type { KeyScope, SigningKeys } from './signing-keys.ts'
import { checkTime, mismatch, noKey, readCredential, TOLERANCE } from './verify-address.ts'

const MAX_CONDITIONS = 200
const UTC = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$`
/** fields that need no condition in the policy; browsers add the content type */
const FREE = new Set(['file', 'policy', 'x-amz-signature', 'content-type'])

export interface FormGrant extends KeyScope {
  readonly length?: { readonly min: number; readonly max: number }
}

export interface SentForm {
  /** form fields except the file, with names in lower case */
  readonly fields: ReadonlyMap<string, string>
  readonly bucket: string
  /** path of the object, with `${filename}` replaced by the file's name */
  readonly key: string
}

/** `now`: epoch ms. */
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
  // signatures expire after a week, whatever the policy says
  if (now > Math.min(expiration, signedAt + MAX_EXPIRY * 1_000)) throw refused('Policy expired.')
  return { ...key, ...checkConditions(conditions, form) }
}

type Test = readonly [kind: 'eq' | 'starts-with', name: string, wanted: string]
type Range = readonly [kind: 'content-length-range', least: number | string, most: number | string]

const Bytes = Type.Union([
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  Type.String({ pattern: String.raw`^\d{1,15}$` }),
])
const Policy = checked(
  Type.Object({
    expiration: Type.String({ pattern: UTC, description: 'ISO 8601 in UTC, such as 2026-01-01T00:05:00Z' }),
    conditions: Type.Array(
      Type.Unsafe<Test | Range | Readonly<Record<string, string>>>(
        Type.Union([
          Type.Record(Type.String(), Type.String()),
          Type.Tuple([Type.Enum(['eq', 'starts-with']), Type.String({ pattern: String.raw`^\$` }), Type.String()]),
          Type.Tuple([Type.Literal('content-length-range'), Bytes, Bytes]),
        ]),
      ),
      { maxItems: MAX_CONDITIONS },
    ),
  }),
  { subject: 'Invalid Policy' },
)

function readPolicy(text: string) {
  try {
    const policy = Policy.read(JSON.parse(Buffer.from(text, 'base64').toString('utf8')))
    const until = isoInstant(policy.expiration)
    if (!Number.isNaN(until)) return { ...policy, expiration: until }
  } catch (error) {
    if (error instanceof AppError) throw new S3Error('InvalidPolicyDocument', error.message.slice(0, 500))
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new S3Error('InvalidPolicyDocument', 'Invalid Policy: it is not JSON, or its expiration is not a time.')
}

function checkConditions(
  conditions: ReturnType<typeof readPolicy>['conditions'],
  form: SentForm,
): Pick<FormGrant, 'length'> {
  const covered = new Set<string>()
  let length: FormGrant['length']
  for (const condition of conditions) {
    if (isRange(condition)) {
      const { min = 0, max = Number.POSITIVE_INFINITY } = length ?? {}
      length = { min: Math.max(min, Number(condition[1])), max: Math.min(max, Number(condition[2])) }
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

function isRange(condition: unknown): condition is Range {
  return Array.isArray(condition) && condition[0] === 'content-length-range'
}

function testsOf(condition: Test | Readonly<Record<string, string>>): readonly Test[] {
  const isTest = (one: typeof condition): one is Test => Array.isArray(one)
  if (isTest(condition)) return [[condition[0], condition[1].slice(1).toLowerCase(), condition[2]]]
  return Object.entries(condition).map(([name, wanted]) => ['eq', name.toLowerCase(), wanted])
}

function malformed(message: string): S3Error {
  return new S3Error('InvalidArgument', message)
}

function refused(why: string): S3Error {
  return new S3Error('AccessDenied', `Invalid according to Policy: ${why}`)
}
