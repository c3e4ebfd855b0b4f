import type { InputField, Plug } from './plug.ts'

/** Markdown table of plugs, one row each in the order of their names: name, kind, states, properties, what it does. */
export function plugTable(plugs: readonly Plug[]): string {
  const rows = plugs.toSorted(byName).map((plug) => {
    const { name, kind, states, input, description = '' } = plug
    return [code(name), kind, states.map(code).join(', '), propertiesOf(input), description]
  })
  return table(['plug', 'kind', 'states', 'properties', 'what it does'], rows)
}

/** The details page of one plug as Markdown: what it does, its states, each property and each field of its raw data. */
export function plugPage({ name, version, kind, description = '', states, input, output, openOutput }: Plug): string {
  const parts = [`# ${name}`, `${kind}, version ${version}`, description]
  if (states.length > 0) parts.push(`States: ${states.map(code).join(', ')}.`)
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
  if (openOutput) parts.push('It also gives fields that cannot be known beforehand.')
  return parts.join('\n\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** Properties that are not mandatory stand in brackets. */
function propertiesOf(input: Readonly<Record<string, InputField>>): string {
  return Object.entries(input)
    .map(([name, { mandatory }]) => (mandatory === true ? code(name) : `[${code(name)}]`))
    .join(', ')
}

function byName(a: Plug, b: Plug): number {
  const [first, second] = [a.name.toLowerCase(), b.name.toLowerCase()]
  if (first !== second) return first < second ? -1 : 1
  return a.kind < b.kind ? 1 : -1
}

function json(value: unknown): string {
  return value === undefined ? '' : code(JSON.stringify(value))
}

function code(text: string): string {
  return `\`${text}\``
}

/** Text that does not end its cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
