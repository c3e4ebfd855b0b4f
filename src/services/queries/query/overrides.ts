/** Replaces fields of a query with URL parameters such as `window`, `interpolation.method` and `render.mode`. */
import { Type, type TSchema } from 'typebox'
import { isPlainObject, type Json } from '#kernel'
import type { Overrides } from '../contract.ts'
import { QuerySchema } from './query-schema.ts'

const NUMBER = /^-?\d{1,17}(?:\.\d{1,17})?(?:e[+-]?\d{1,3})?$/i
/** Fields that may be given as a text; it stands for an object with this one field. */
const SHORT_FORMS: Readonly<Record<string, string>> = { interpolation: 'method', render: 'mode' }

/** Accepted schemas by parameter name. Series cannot be overridden. */
const FORMS: ReadonlyMap<string, readonly TSchema[]> = new Map(
  Object.entries(QuerySchema.properties).flatMap(([name, schema]) => {
    if (name === 'data' || name === 'seriesId') return []
    const forms = formsOf(schema)
    const plain = forms.filter((form) => !Type.IsObject(form))
    const inner = forms.flatMap((form) => (Type.IsObject(form) ? Object.entries(form.properties) : []))
    return [
      ...(plain.length > 0 ? [[name, plain] as const] : []),
      ...inner.map(([key, part]) => [`${name}.${key}`, formsOf(part)] as const),
    ]
  }),
)

export const OVERRIDE_NAMES: readonly string[] = [...FORMS.keys()]

/** Merges the overrides. `data` is merged as well, so that validation rejects it. */
export function withOverrides(query: unknown, overrides: Overrides): unknown {
  if (!isPlainObject(query)) return query
  const changed: Record<string, unknown> = { ...query }
  for (const [name, override] of Object.entries(overrides)) {
    const forms = FORMS.get(name)
    if (override === undefined || (forms === undefined && name !== 'data')) continue
    const value = typeof override === 'string' && forms !== undefined ? valueOf(override, forms) : override
    const [key = '', inner] = name.split('.')
    changed[key] = inner === undefined ? value : { ...objectOf(key, changed[key]), [inner]: value }
  }
  return changed
}

function valueOf(override: string, forms: readonly TSchema[]): Json {
  const has = (isForm: (form: TSchema) => boolean): boolean => forms.some(isForm)
  if (has(Type.IsBoolean) && (override === 'true' || override === 'false')) return override === 'true'
  if ((has(Type.IsNumber) || has(Type.IsInteger)) && NUMBER.test(override)) return Number(override)
  const isList =
    has(Type.IsArray) && (override.includes(',') || !has((form) => Type.IsString(form) || Type.IsEnum(form)))
  return isList ? override.split(',') : override
}

function objectOf(key: string, value: unknown): object {
  if (isPlainObject(value)) return value
  const short = SHORT_FORMS[key]
  return typeof value === 'string' && short !== undefined ? { [short]: value } : {}
}

function formsOf(schema: TSchema): readonly TSchema[] {
  return Type.IsUnion(schema) ? schema.anyOf : [schema]
}
