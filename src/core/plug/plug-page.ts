/** Generates the documentation page of a plug. */
import { FIELD_TYPES } from './field-type.ts'
import type { Plug } from './plug.ts'

/** Returns Markdown with the description, states, properties, raw data and an example node. */
export function plugPage(plug: Plug): string {
  const { name, version, compatible, kind, description = '', states, input, output, openOutput, retry } = plug
  const others = compatible === undefined ? '' : `; replaces ${code(compatible)} in rules`
  const parts = [`# ${name}`, `${kind}, version ${version}${others}`, description]
  if (states.length > 0) parts.push(`States: ${states.map(code).join(', ')}.`)
  if (retry !== undefined) {
    const { maxRetries, minBackoff, maxBackoff } = retry
    parts.push(
      `Without a \`retryConfig\`, a failed call is retried up to ${maxRetries} times, after ${minBackoff} to ${maxBackoff}.`,
    )
  }
  const properties = Object.entries(input).map(([property, field]) => [
    code(property),
    field.type,
    field.mandatory === true ? 'yes' : 'no',
    json(field.defaultValue),
    json(field.example),
    field.description ?? '',
  ])
  if (properties.length > 0)
    parts.push(table(['property', 'type', 'mandatory', 'default', 'example', 'meaning'], properties))
  const fields = Object.entries(output).map(([field, { type, unit = '', description: meaning = '' }]) => [
    code(field),
    type,
    unit,
    meaning,
  ])
  if (fields.length > 0) parts.push(table(['raw data', 'type', 'unit', 'meaning'], fields))
  if (openOutput) parts.push('It may return further fields.')
  const example = ['```json', JSON.stringify(exampleNode(plug), undefined, 2), '```'].join('\n')
  parts.push(`In the ${kind}s of a rule:`, example)
  return parts.join('\n\n')
}

/** Builds an example node with all properties that lack a default. */
export function exampleNode({ name, kind, input, gathers }: Plug): Readonly<Record<string, unknown>> {
  const required = Object.entries(input).filter(([, { defaultValue }]) => defaultValue === undefined)
  const properties = Object.fromEntries(
    required.map(([key, field]) => [
      key,
      field.example ?? field.format?.values?.[0] ?? FIELD_TYPES[field.type].example,
    ]),
  )
  return {
    label: `${name}_1`,
    name,
    ...(kind === 'sensor' && (gathers === undefined ? { resource: '$' } : { group: { type: 'boiler' } })),
    ...(required.length > 0 && { properties }),
  }
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Compares plugs by name ignoring case, then sensors before actuators. */
export function byName(a: Plug, b: Plug): number {
  const [first, second] = [a.name.toLowerCase(), b.name.toLowerCase()]
  if (first !== second) return first < second ? -1 : 1
  return a.kind < b.kind ? 1 : -1
}

function json(value: unknown): string {
  return value === undefined ? '' : code(JSON.stringify(value))
}

export function code(text: string): string {
  return `\`${text}\``
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
