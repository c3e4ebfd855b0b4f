/** Renders a page about a plug. All texts of tenants are escaped. */
import { escapeMarkup, isPlainObject } from '#kernel'
import type { FunctionVersion } from './contract.ts'
import type { PlugManifest } from './manifest-schema.ts'

type PlugVersion = Pick<FunctionVersion, 'name' | 'version' | 'status' | 'record'>

export function plugPage({ name: plug, version, status, record }: PlugVersion): string {
  const manifest = (isPlainObject(record['plug']) ? record['plug'] : {}) as Partial<PlugManifest>
  const { interface: declared = {}, metadata = {}, type = '' } = manifest
  const { friendlyName, description, documentation = {}, documentationURL } = metadata
  const name = `${plug} ${version}`
  const properties = (kind: 'input' | 'output'): string => {
    const texts = describedBy(documentation[kind])
    const rows = (declared[kind] ?? []).map((one) => [
      one.name,
      [one.dataType, one.format?.type, ...(one.format?.values ?? [])].filter((part) => part !== undefined).join(', '),
      one.mandatory === true ? 'yes' : 'no',
      one.defaultValue === undefined ? '' : JSON.stringify(one.defaultValue),
      texts.get(one.name)?.description ?? one.description ?? '',
      examplesOf(texts.get(one.name)),
    ])
    return table(['name', 'type', 'mandatory', 'default', 'what it is', 'examples'], rows)
  }
  const states = describedBy(documentation.states)
  const declaredStates = (declared.states ?? []).map((state) => [state, states.get(state)?.description ?? ''])
  const examples = (documentation.examples ?? []).map((one) => [
    one.description,
    json(one.input),
    json(one.output),
    one.state ?? '',
  ])
  const body = [
    paragraph(`${type}, ${status}${friendlyName === undefined ? '' : `: ${friendlyName}`}`),
    paragraph(documentation.description ?? description ?? ''),
    paragraph(documentationURL ?? ''),
    section('States', table(['state', 'when'], declaredStates)),
    section('Input', properties('input')),
    section('Output', properties('output')),
    section('Examples', table(['what', 'input', 'output', 'state'], examples)),
  ]
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeMarkup(name)}</title></head>
<body>
<h1>${escapeMarkup(name)}</h1>
${body.join('')}</body>
</html>
`
}

interface Described {
  readonly name: string
  readonly description?: string
  readonly examples?: readonly unknown[]
}

function describedBy(list: readonly Described[] = []): ReadonlyMap<string, Described> {
  return new Map(list.map((one) => [one.name, one]))
}

function examplesOf(one: Described | undefined): string {
  return (one?.examples ?? []).map(json).join(', ')
}

function json(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}

function paragraph(text: string): string {
  return text === '' ? '' : `<p>${escapeMarkup(text)}</p>\n`
}

function section(title: string, text: string): string {
  return text === '' ? '' : `<h2>${title}</h2>\n${text}\n`
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const shown = heads.map((_, i) => rows.some((row) => row[i] !== ''))
  const line = (cells: readonly string[], tag: 'th' | 'td'): string =>
    `<tr>${cells.map((cell, i) => (shown[i] === true ? `<${tag}>${escapeMarkup(cell)}</${tag}>` : '')).join('')}</tr>`
  return `<table>\n${[line(heads, 'th'), ...rows.map((row) => line(row, 'td'))].join('\n')}\n</table>`
}
