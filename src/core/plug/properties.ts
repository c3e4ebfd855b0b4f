/** Converts resolved properties to the form that a plug declares: defaults filled in, values of the declared types. */
import { shown } from '#kernel'
import { referencedId } from '../language/placeholders/resource.ts'
import { FIELD_TYPES } from './field-type.ts'
import type { InputField, Plug, PropertyProblem } from './plug.ts'

type Properties = Readonly<Record<string, unknown>>

export type Finished =
  | { readonly properties: Properties; readonly problems?: undefined }
  | { readonly problems: readonly PropertyProblem[]; readonly properties?: undefined }

const NONE: ReadonlySet<string> = new Set()

/**
 * Fills in defaults, converts to the declared types (numeric text to numbers, the texts `true` and `false` to booleans,
 * JSON text to objects and arrays; numbers, booleans, arrays and objects to text), then checks enums. Returns the same
 * object when nothing changes, otherwise a copy. `null` counts as missing. Undeclared values are kept. Each problem
 * names the property, its type and an example, and shows the value unless the field is sensitive.
 *
 * `later`: properties whose value is known only at run time; they count as present and get no default. Used to check
 * the constants of a rule.
 */
export function finishProperties(plug: Plug, values: Properties, later: ReadonlySet<string> = NONE): Finished {
  if (isFinished(plug, values)) return { properties: values }
  const properties: Record<string, unknown> = { ...values }
  const problems: PropertyProblem[] = []
  for (const [name, field] of Object.entries(plug.input)) {
    if (later.has(name)) continue
    const written = asReferenced(field, values[name])
    const value = written ?? field.defaultValue
    const type = FIELD_TYPES[field.type]
    const finished = value === undefined || type.fits(value) ? value : type.convert(value)
    if (finished === undefined ? value !== undefined || field.mandatory === true : !isChoice(field, finished)) {
      problems.push({ property: name, message: problemText(name, field, written) })
    } else if (finished !== undefined) {
      properties[name] = finished
    } else {
      delete properties[name]
    }
  }
  return problems.length > 0 ? { problems } : { properties }
}

/** Converts a resource given as a metadata reference to its id, as nodes do. */
function asReferenced({ format }: InputField, value: unknown): unknown {
  return format?.type === 'resource' ? (referencedId(value) ?? value) : value
}

/** Whether finishProperties would neither change nor reject anything. Allocates nothing. */
export function isFinished(plug: Plug, values: Properties): boolean {
  for (const name in plug.input) {
    const field = plug.input[name]
    if (field === undefined) continue
    const value = values[name]
    if (value === null) return false
    if (value === undefined) {
      if (field.mandatory === true || field.defaultValue !== undefined) return false
    } else if (!FIELD_TYPES[field.type].fits(value) || !isChoice(field, value)) {
      return false
    }
  }
  return true
}

function isChoice(field: InputField, value: unknown): boolean {
  const values = field.format?.values
  return values === undefined || values.some((choice) => choice === value)
}

function problemText(name: string, field: InputField, value: unknown): string {
  const wanted = `property "${name}" must be ${nounOf(field)}`
  if (value === undefined) return `${wanted}, but is missing`
  return field.sensitive === true ? `${wanted}, but is something else` : `${wanted}, but is ${shown(value)}`
}

function nounOf({ type, format, example }: InputField): string {
  if (format?.values !== undefined) return `one of ${format.values.join(', ')}`
  const known = FIELD_TYPES[type]
  const noun =
    format?.type === 'logic' ? 'a JSON Logic object' : format?.type === 'duration' ? 'a duration' : known.noun
  return `${noun} such as ${shown(example ?? known.example)}`
}
