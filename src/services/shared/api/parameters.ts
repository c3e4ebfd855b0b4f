/** Decodes the parameters of a request by their schemas. */
import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { takesList } from '../http/check-query.ts'
import { checked } from './check.ts'
import { type Decoded, type Problem, refined } from './fields.ts'

export const Texts = Type.Array(Type.String())
export const Text = Type.String()
export const Flag = Type.Boolean()
export const Whole = Type.Integer({ minimum: 0 })

export type Parameters<P extends TProperties> = Decoded<TObject<P>>

/** Parameters without a schema are left out. `together`: finds problems that involve several parameters. */
export function parameterReader<P extends TProperties>(
  parameters: P,
  together?: (query: unknown) => readonly Problem[],
): (query: unknown) => Parameters<P> {
  const hasNeeded = together !== undefined || Object.values(parameters).some((schema) => !Type.IsOptional(schema))
  const all = Type.Object(parameters)
  const schema = together === undefined ? all : refined(all, together)
  const { read } = checked(schema, { subject: 'the query', type: 'QUERY' })
  return (query) => {
    if (!hasNeeded && isEmpty(query)) return NONE as Parameters<P>
    const values: Record<string, unknown> = {}
    for (const [name, schema] of Object.entries(parameters)) {
      const value = valueOf(schema, (query as Readonly<Record<string, unknown>> | undefined)?.[name])
      if (value !== undefined) values[name] = value
    }
    return read(values)
  }
}

const NONE = Object.freeze({})

function isEmpty(query: unknown): boolean {
  for (const _name in query as object) return false
  return true
}

/** Empty counts as absent, except for plain texts; the last of repeated values counts. */
function valueOf(schema: TSchema, sent: unknown): unknown {
  if (Array.isArray(sent)) return takesList(schema) ? sent : valueOf(schema, sent.at(-1))
  if (typeof sent !== 'string') return sent
  // `?dryRun` alone means true
  if (Type.IsBoolean(schema)) return sent === '' || (sent === 'false' ? false : sent === 'true' || sent)
  if (sent === '' && !isAnyText(schema) && !takesList(schema)) return undefined
  if (Type.IsInteger(schema) || Type.IsNumber(schema)) return /^-?\d{1,16}(?:\.\d+)?$/.test(sent) ? Number(sent) : sent
  return Type.IsArray(schema) ? [sent] : sent
}

function isAnyText(schema: TSchema): boolean {
  const { pattern, minLength = 0 } = schema as { readonly pattern?: string; readonly minLength?: number }
  return Type.IsString(schema) && pattern === undefined && minLength === 0
}
