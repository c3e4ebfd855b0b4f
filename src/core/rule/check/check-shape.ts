/** Returns a document without the parts that do not fit its schema, so that everything is reported at once. */
import { at, isPlainObject, kindOf, removing, replacing, shown } from '#kernel'
import { emptyRecord } from './record.ts'
import type { IssueType } from './issue-types.ts'
import type { Hint, Report } from './report.ts'

interface Shape {
  type?: string
  title?: string
  description?: string
  properties?: Readonly<Record<string, Shape>>
  required?: readonly string[]
  patternProperties?: Readonly<Record<string, Shape>>
  items?: Shape
  minItems?: number
  maxItems?: number
  enum?: readonly (string | number)[]
  anyOf?: readonly Shape[]
  minimum?: number
  exclusiveMinimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  'x-issue'?: IssueType
}

/** A list of objects keeps its length, so that positions still match the document's. */
export function checkShape(schema: object, value: unknown, path: string, subject: string, report: Report): unknown {
  const shape: Shape = schema
  if (shape.anyOf) {
    const fitting = shape.anyOf.find((option) => (option.enum ? 'string' : option.type) === jsonType(value))
    if (fitting) return checkShape(fitting, value, path, subject, report)
    const kinds = shape.anyOf.map(wanted).join(' or ')
    report.error('TYPE', path, `${subject} must be ${kinds}, not ${kindOf(value)}`)
    return undefined
  }
  if (shape.enum) return checkEnum(shape.enum, value, path, subject, report)
  switch (shape.type) {
    case 'object':
      return checkObject(shape, value, path, subject, report)
    case 'array':
      return checkArray(shape, value, path, subject, report)
    case 'string':
      return checkText(shape, value, path, subject, report)
    case 'number':
    case 'integer':
      return checkNumber(shape, value, path, subject, report)
    case 'boolean':
      if (typeof value === 'boolean') return value
      report.error('TYPE', path, `${subject} must be true or false, not ${kindOf(value)}`, booleanHint(value))
      return undefined
    default:
      return value
  }
}

function checkObject(shape: Shape, value: unknown, path: string, subject: string, report: Report): unknown {
  if (!isPlainObject(value)) {
    report.error('TYPE', path, `${subject} must be an object, not ${kindOf(value)}`)
    return undefined
  }
  const known = shape.properties
  if (!known) return value
  const owner = naming(shape, value) ?? subject
  const fitting = emptyRecord()
  for (const [key, item] of Object.entries(value)) {
    const inner = Object.hasOwn(known, key) ? known[key] : undefined
    // names the schema for editors
    if (path === '' && key === '$schema' && typeof item === 'string') continue
    if (inner === undefined) {
      report.warning(
        'FIELD',
        at(path, key),
        `${owner} has a field ${shown(key)} that is not used`,
        report.rename(key, Object.keys(known), 'fields', value, removing),
      )
      fitting[key] = item
      continue
    }
    const checked = checkShape(inner, item, at(path, key), `${shown(key)} of ${owner}`, report)
    if (checked !== undefined) fitting[key] = checked
  }
  for (const key of shape.required ?? []) {
    if (Object.hasOwn(value, key)) continue
    const inner = known[key]
    report.error(
      key === 'label' ? 'LABEL' : 'TYPE',
      at(path, key),
      `${owner} has no ${shown(key)}`,
      inner && `write ${shown(key)}: ${wanted(inner)}`,
    )
  }
  return fitting
}

function checkArray(shape: Shape, value: unknown, path: string, subject: string, report: Report): unknown {
  if (!Array.isArray(value)) {
    report.error('TYPE', path, `${subject} must be ${wanted(shape)}, not ${kindOf(value)}`)
    return undefined
  }
  const items = shape.items ?? {}
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = shape
  if (value.length < minItems || value.length > maxItems) {
    report.error(
      shape['x-issue'] ?? 'TYPE',
      path,
      `${subject} has ${value.length} items, expected ${minItems === maxItems ? minItems : `at least ${minItems}`}`,
      `write ${wanted(shape)}`,
    )
    return undefined
  }
  let whole = true
  const checked = value.map((item: unknown, i) => {
    const name = items.title === undefined ? `item ${i} of ${subject}` : `${items.title} ${i}`
    const fitting = checkShape(items, item, at(path, i), name, report)
    if (fitting === undefined) whole = false
    return fitting ?? emptyRecord()
  })
  return whole || items.type === 'object' ? checked : undefined
}

function checkText(shape: Shape, value: unknown, path: string, subject: string, report: Report): unknown {
  if (typeof value !== 'string') {
    const isPlain = typeof value === 'number' || typeof value === 'boolean'
    const hint = isPlain ? { text: `write "${value}"`, fix: replacing(String(value)) } : undefined
    report.error('TYPE', path, `${subject} must be text, not ${kindOf(value)}`, hint)
    return undefined
  }
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, 'x-issue': type = 'TYPE' } = shape
  if (value.length < minLength) report.error(type, path, `${subject} is empty`, `write ${wanted(shape)}`)
  else if (value.length > maxLength)
    report.error(type, path, `${subject} has ${value.length} characters, expected at most ${maxLength}`)
  else if (pattern !== undefined && !regExpOf(pattern).test(value))
    report.error(type, path, `${subject} is ${shown(value)}, expected ${wanted(shape)}`)
  else return value
  return undefined
}

const regExps = new Map<string, RegExp>()

function regExpOf(pattern: string): RegExp {
  const regExp = regExps.get(pattern) ?? new RegExp(pattern, 'u')
  regExps.set(pattern, regExp)
  return regExp
}

function checkNumber(shape: Shape, value: unknown, path: string, subject: string, report: Report): unknown {
  if (typeof value !== 'number') {
    const numeric = typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
    report.error(
      'TYPE',
      path,
      `${subject} must be ${wanted(shape)}, not ${kindOf(value)}`,
      numeric ? { text: `write ${Number(value)}`, fix: replacing(Number(value)) } : undefined,
    )
    return undefined
  }
  const whole = shape.type !== 'integer' || Number.isInteger(value)
  const enough = value >= (shape.minimum ?? -Infinity) && value > (shape.exclusiveMinimum ?? -Infinity)
  if (whole && enough && value <= (shape.maximum ?? Infinity)) return value
  report.error('TYPE', path, `${subject} is ${value}, expected ${wanted(shape)}`)
  return undefined
}

function checkEnum(
  options: readonly (string | number)[],
  value: unknown,
  path: string,
  subject: string,
  report: Report,
): unknown {
  if (options.some((option) => option === value)) return value
  const hint = typeof value === 'string' ? report.instead(value, options.map(String), 'values') : undefined
  report.error('TYPE', path, `${subject} must be one of ${options.join(', ')}, not ${kindOf(value)}`, hint)
  return undefined
}

/** Names the object in messages, such as `sensor "a"` or `trigger "a" -> "b"`; undefined for objects without a name. */
function naming(shape: Shape, value: Readonly<Record<string, unknown>>): string | undefined {
  if (shape.title === undefined) return undefined
  const { label, name, sourceLabel, destinationLabel } = value
  if (typeof sourceLabel === 'string' && typeof destinationLabel === 'string') {
    return `${shape.title} ${shown(sourceLabel)} -> ${shown(destinationLabel)}`
  }
  if (typeof label === 'string') return `${shape.title} ${shown(label)}`
  const named = shape.properties !== undefined && Object.hasOwn(shape.properties, 'label') ? undefined : name
  return typeof named === 'string' ? `${shape.title} ${shown(named)}` : undefined
}

function wanted(shape: Shape): string {
  if (shape.enum) return `one of ${shape.enum.join(', ')}`
  const unit = shape.description === undefined ? '' : ` (${shape.description})`
  switch (shape.type) {
    case 'object':
      return 'an object'
    case 'array':
      return shape.items?.type === undefined ? 'an array' : `an array of ${plural(shape.items)}${unit}`
    case 'string':
      return shape.pattern !== undefined && shape.description !== undefined
        ? `a ${shape.description}`
        : `${(shape.minLength ?? 0) > 0 ? 'non-empty text' : 'text'}${unit}`
    case 'boolean':
      return 'true or false'
    default:
      return `a ${shape.type === 'integer' ? 'whole ' : ''}number${bounds(shape)}${unit}`
  }
}

function plural(shape: Shape): string {
  if (shape.type === 'string') return 'texts'
  return shape.type === 'array' ? `arrays of ${plural(shape.items ?? {})}` : `${shape.type}s`
}

function bounds(shape: Shape): string {
  const low =
    shape.exclusiveMinimum === undefined
      ? shape.minimum === undefined
        ? ''
        : ` from ${shape.minimum}`
      : ` above ${shape.exclusiveMinimum}`
  return shape.maximum === undefined ? low : `${low} up to ${shape.maximum}`
}

function booleanHint(value: unknown): Hint | undefined {
  if (value !== 'true' && value !== 'false') return undefined
  return { text: `write ${value} without quotes`, fix: replacing(value === 'true') }
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return value === null ? 'null' : typeof value
}
