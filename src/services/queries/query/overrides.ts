/** Parameters of a URL that take the place of members of a query: `window`, `interpolation.method`, `render.mode`. */
import { at, FORBIDDEN_KEYS, isPlainObject, type Issues, type Json, type JsonObject } from '#kernel'
import type { Overrides } from '../contract.ts'

type Reading = (text: string) => Json

const asText: Reading = (text) => text
const asNumber: Reading = (text) => (/^-?\d{1,17}(?:\.\d{1,17})?(?:e[+-]?\d{1,3})?$/i.test(text) ? Number(text) : text)
const asFlag: Reading = (text) => (text === 'true' ? true : text === 'false' ? false : text)
/** a flag, or names with commas between them */
const asFlagOrNames: Reading = (text) => (text === 'true' || text === 'false' ? text === 'true' : text.split(','))
/** several aggregations; percentiles have no commas */
const asNames: Reading = (text) => (text.includes(',') ? text.split(',') : text)

/** What can be overridden, and how its text is read. */
const READINGS: ReadonlyMap<string, Reading> = new Map<string, Reading>([
  ['resource', asText],
  ['metric', asText],
  ['aggregation', asNames],
  ['interpolation', asText],
  ['interpolation.method', asText],
  ['interpolation.value', asNumber],
  ['interpolation.order', asNumber],
  ['interpolation.limit', asNumber],
  ['from', asNumber],
  ['until', asNumber],
  ['freq', asText],
  ['periods', asNumber],
  ['window', asText],
  ['align.at', asText],
  ['align.shift', asText],
  ['align.timezone', asText],
  ['resources', asNames],
  ['resources.type', asText],
  ['resources.tag', asText],
  ['resources.query', asText],
  ['resources.groupBy', asNames],
  ['render', asText],
  ['render.mode', asText],
  ['render.roll_up', asFlag],
  ['render.hierarchical', asFlagOrNames],
  ['render.value_key', asText],
  ['render.show_levels', asFlag],
  ['render.iso_timestamp', asFlag],
  ['render.row_key', asText],
  ['render.column_key', asText],
  ['render.header_array', asText],
  ['render.data_axis', asText],
  ['render.key_separator', asText],
  ['render.key_seperator', asText],
  ['render.key_skip_empty', asFlag],
  ['render.include_window_spec', asFlag],
])

/** Names of parameters that are overrides, for the API's page. */
export const OVERRIDE_NAMES: readonly string[] = [...READINGS.keys()]

/** What a text in the place of an object stands for. */
const SHORT_FORMS: Readonly<Record<string, string>> = { interpolation: 'method', render: 'mode' }

/** The query with the overrides in it. Members that are no overrides stay as they are. */
export function withOverrides(query: JsonObject, overrides: Overrides, issues: Issues): JsonObject {
  const changed = new Map<string, Json>(Object.entries(query))
  for (const [name, given] of Object.entries(overrides)) {
    if (given === undefined) continue
    if (name === 'data' || name.startsWith('data.')) {
      issues.wrong(at('', name), 'the series of a query cannot be overridden', 'send the query as a body')
      continue
    }
    const reading = READINGS.get(name)
    if (reading === undefined) continue
    const value = valueOf(given, reading)
    const [key = '', inner] = name.split('.')
    changed.set(key, inner === undefined ? value : { ...objectOf(key, changed.get(key)), [inner]: value })
  }
  return Object.fromEntries([...changed].filter(([key]) => !FORBIDDEN_KEYS.has(key)))
}

function valueOf(given: NonNullable<Overrides[string]>, reading: Reading): Json {
  if (typeof given === 'string') return reading(given)
  // a parameter that repeats; only lists fit then, and the schema says so
  return typeof given === 'object' ? [...given] : given
}

function objectOf(key: string, value: Json | undefined): JsonObject {
  if (isPlainObject(value)) return value
  const short = SHORT_FORMS[key]
  return typeof value === 'string' && short !== undefined ? { [short]: value } : {}
}
