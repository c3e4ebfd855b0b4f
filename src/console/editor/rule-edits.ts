/** Edits of a rule as JSON: its nodes, their properties, and the triggers between them. */

export type Json = Readonly<Record<string, unknown>>
export type NodeList = 'sensors' | 'relations' | 'actuators'

const LISTS: readonly NodeList[] = ['sensors', 'relations', 'actuators']

export function listOf(rule: Json, name: string): readonly Json[] {
  const list = rule[name]
  return Array.isArray(list) ? list.filter((one): one is Json => typeof one === 'object' && one !== null) : []
}

export interface PlacedNode {
  readonly list: NodeList
  readonly index: number
  readonly node: Json
}

export function nodeAt(rule: Json, label: string | undefined): PlacedNode | undefined {
  for (const list of LISTS) {
    const nodes = listOf(rule, list)
    const index = nodes.findIndex((node) => node['label'] === label)
    const node = nodes[index]
    if (node !== undefined) return { list, index, node }
  }
  return undefined
}

/** Returns the name, or the name with the first free number. */
export function freshLabel(rule: Json, name: string): string {
  let label = name
  for (let number = 2; nodeAt(rule, label) !== undefined; number++) label = `${name}_${number}`
  return label
}

export function withItem(rule: Json, list: string, item: Json): Json {
  return { ...rule, [list]: [...listOf(rule, list), item] }
}

/** Changes fields of an item; undefined removes a field. */
export function changedItem(rule: Json, list: string, index: number, change: Json): Json {
  return { ...rule, [list]: listOf(rule, list).map((item, at) => (at === index ? changed(item, change) : item)) }
}

export function withoutItem(rule: Json, list: string, index: number): Json {
  return { ...rule, [list]: listOf(rule, list).filter((_, at) => at !== index) }
}

export function changed(item: Json, change: Json): Json {
  return Object.fromEntries(Object.entries({ ...item, ...change }).filter(([, value]) => value !== undefined))
}

/** Removes a node with its triggers, and its columns from gates. */
export function withoutNode(rule: Json, label: string): Json {
  const found = nodeAt(rule, label)
  if (found === undefined) return rule
  const rest = withoutItem(rule, found.list, found.index)
  return {
    ...rest,
    ...(rest['relations'] !== undefined && {
      relations: listOf(rest, 'relations').map((gate) => {
        const parents = textsOf(gate['parentLabels'])
        return parents.includes(label)
          ? {
              ...gate,
              ...withParents(
                gate,
                parents.filter((one) => one !== label),
              ),
            }
          : gate
      }),
    }),
    ...(rest['triggers'] !== undefined && {
      triggers: listOf(rest, 'triggers').filter(
        ({ sourceLabel, destinationLabel }) => sourceLabel !== label && destinationLabel !== label,
      ),
    }),
  }
}

/** Renames a node wherever the rule names it, including in placeholders and expressions. */
export function renamed(rule: Json, from: string, to: string): Json {
  const escaped = from.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  const inText = new RegExp(String.raw`\bnodes\.${escaped}(?=\.)|(?<=\{\{\{?)${escaped}(?=\.)`, 'g')
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') {
      if (/^(?:label|sourceLabel|destinationLabel|parentLabels)$/.test(key)) return value === from ? to : value
      return value.replaceAll(inText, (found) => (found.startsWith('nodes.') ? `nodes.${to}` : to))
    }
    if (Array.isArray(value)) return value.map((one: unknown) => walk(one, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one, name)]))
  }
  return walk(rule, '') as Json
}

/** Returns the fields of a gate with other parents; parents that stay keep their states. */
export function withParents(gate: Json, parents: readonly string[]): Json {
  const before = textsOf(gate['parentLabels'])
  const rows = Array.isArray(gate['combinations']) ? gate['combinations'].map(textsOf) : []
  const kept = rows.length === 0 ? [[]] : rows
  return {
    parentLabels: parents,
    combinations: kept.map((row: readonly string[]) => parents.map((parent) => row[before.indexOf(parent)] ?? '')),
  }
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}
