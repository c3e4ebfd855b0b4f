/** Schemas of secrets, with limits. */
import { Type } from 'typebox'
import { checked, closed, type Decoded, type Problem, refined, text } from '#services/shared/contract'

/** Most characters of a value. */
const MAX_VALUE = 16_384

const Text = Type.String()
const value = refined(
  text(MAX_VALUE, { minLength: 1, description: 'encrypted on receipt, and never returned' }),
  (value) => [problemOf(value)].flatMap((message): readonly Problem[] => (message === undefined ? [] : [{ message }])),
)

/** Describes a problem without quoting the value, which errors never contain. */
function problemOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return 'must be a non-empty text'
  if (value.length > MAX_VALUE) return `has ${value.length} characters, more than ${MAX_VALUE}`
  if (/\p{Surrogate}/u.test(value)) return 'has half of a surrogate pair'
  return value.includes('\0') ? 'has a NUL, which environment variables cannot contain' : undefined
}

export const SecretValue = checked(closed({ value }, { title: 'SecretValue' }), {
  subject: 'The secret',
  type: 'SECRET',
})

export const SecretSchema = Type.Object(
  { name: Text, createdBy: Text, createdAt: Text, updatedBy: Text, updatedAt: Text },
  { title: 'Secret' },
)
/** A secret as listed. Times are ISO 8601. */
export interface SecretInfo extends Decoded<typeof SecretSchema> {}

export const SecretsSchema = Type.Object({ secrets: Type.Array(SecretSchema) }, { title: 'Secrets' })

export const ErrorSchema = Type.Object(
  { error: Text, code: Text, statusCode: Type.Integer(), details: Type.Optional(Type.Array(Text)) },
  { title: 'VaultError' },
)
