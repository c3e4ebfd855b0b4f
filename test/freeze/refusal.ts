/** An answer as one line: its status, its code, and the places that it names, without the texts. */
import { isPlainObject } from '../../src/kernel/json.ts'
import { stepsOf } from '../../src/kernel/pointer.ts'
import type { Answer } from '../host/api-story.ts'
import type { JsonSchema } from './json-schema.ts'

export function refusalOf({ statusCode, headers, body }: Answer): string {
  const warned = headers['warning'] === undefined ? [] : ['with a warning']
  if (statusCode < 400) return [statusCode, ...warned].join(' ')
  const said = parsed(body)
  if (!isPlainObject(said)) return `${statusCode} ${body === '' ? 'with no body' : 'with no JSON'}`
  const { code = '-', details, data, detail } = said
  return [statusCode, String(code), ...placesOf(details ?? data ?? detail)].join(' ')
}

/** A request with one place changed. */
export interface Verdict {
  /** whether the schema accepts it */
  readonly isValid: boolean
  /** the place that was changed */
  readonly place: string
  readonly schema: JsonSchema
}

/**
 * Whether a service accepts what the schema rejects, or rejects what the schema accepts; not when it names places alone
 * that the change is not about, or of which the schema says with `x-check` that more is checked than it says.
 */
export function differs({ isValid, place: changed, schema }: Verdict, answer: Answer): boolean {
  const { statusCode } = answer
  if (!isValid) return statusCode < 400 || statusCode === 409
  if (![400, 413, 415, 422].includes(statusCode)) return false
  const named = refusalOf(answer)
    .split(' ')
    .filter((one) => !one.startsWith('~'))
  const places = named.flatMap((one) => /(?<=^|:)\/.*/.exec(one) ?? []).map((one) => one.replace(/\/$/, ''))
  const isAbout = (place: string) => `${place}/`.startsWith(`${changed}/`) || `${changed}/`.startsWith(`${place}/`)
  const isChecked = (place: string) => formsAt(schema, stepsOf(place)).some((one) => one['x-check'] === true)
  if (places.length === 0) return !isChecked(changed) && !isChecked('')
  return places.some((place) => isAbout(place) && !isChecked(place))
}

/** The forms that a schema has for a place; of a place that it does not know those around it. */
function formsAt(schema: JsonSchema, [step, ...rest]: readonly string[]): readonly JsonSchema[] {
  const forms = [schema, ...(schema.anyOf ?? [])]
  if (step === undefined) return forms
  const inner = forms.flatMap(({ properties = {}, additionalProperties: others, items }) => {
    const one =
      properties[step] ?? items ?? (isPlainObject(others) && Object.keys(others).length > 0 ? others : undefined)
    return one === undefined ? [] : formsAt(one, rest)
  })
  return inner.length > 0 ? inner : forms
}

function placesOf(details: unknown): readonly string[] {
  if (!Array.isArray(details)) return []
  return [...new Set(details.map(placeOf))].toSorted()
}

function placeOf(detail: unknown): string {
  if (typeof detail === 'string') return /^(\S*) <- /.exec(detail)?.[1] ?? '-'
  if (!isPlainObject(detail)) return '-'
  const { type = '', path, instancePath, loc, severity } = detail
  const place = path ?? instancePath ?? (Array.isArray(loc) ? `/${loc.join('/')}` : '-')
  const named = [type, place].filter((one) => one !== '').map(String)
  return `${severity === 'WARNING' ? '~' : ''}${named.join(':')}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
