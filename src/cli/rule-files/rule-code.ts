/** Writes a rule or template as code of `reflexarc/rules`. Labels and texts are data: they never become code. */
import type { Actuator, Relation, Rule, Sensor, Template, Trigger } from '#core'
import { isPlainObject } from '#kernel'

type Document = Readonly<Rule | Template>

/** Returns a module that exports the rule. Running it makes an equal rule. */
export function ruleCode(document: Document): string {
  const { sensors = [], actuators = [], relations = [], triggers = [], notes = [], ...rest } = document
  const names = new Names()
  const body = [
    ...sensors.map((one) => sensorLine(one, names)),
    ...relations.map((one) => relationLine(one, names)),
    ...actuators.map((one) => actuatorLine(one, names)),
    ...triggers.map((one) => triggerLine(one, names)),
    ...notes.map(({ text, position }) => call('g.note', text, ...(position === undefined ? [] : [position]))),
  ]
  const lines = body.map((line) => `  ${line}\n`).join('')
  const used = ['read', 'value'].filter((name) => new RegExp(String.raw`\b${name}\(`).test(lines))
  return [
    `import { ${['graph', ...used, 'template'].filter((name) => name !== ('name' in rest ? 'graph' : 'template')).join(', ')} } from 'reflexarc/rules'\n\n`,
    'name' in rest ? templateCode(rest, lines) : graphCode(rest, lines),
  ].join('')
}

function graphCode({ task, ...others }: Omit<Rule, 'sensors'>, lines: string): string {
  const made = `graph(${literal(task ?? null)}, (g) => {\n${lines}})`
  if (Object.keys(others).length === 0) return `export const rule = ${made}\n`
  return `export const rule = {\n  ...${made},\n  ...${literal(others)},\n}\n`
}

function templateCode({ variables = [], ...settings }: Omit<Template, 'sensors'>, lines: string): string {
  const declared = Object.fromEntries(variables.map(({ name, ...one }) => [name, one]))
  const isSame = variables.length > 0 && Object.keys(declared).every((name, i) => name === variables[i]?.name)
  const own = isSame && variables.length === Object.keys(declared).length ? { variables: declared } : {}
  const made = `template(${literal({ ...settings, ...own })}, (g) => {\n${lines}})`
  if ('variables' in own || variables.length === 0) return `export const rule = ${made}\n`
  return `export const rule = {\n  ...${made},\n  variables: ${literal(variables)},\n}\n`
}

function sensorLine({ label, name, properties, resource, ...options }: Sensor, names: Names): string {
  const more = { ...(resource !== '$' && { resource: resource ?? null }), ...options }
  return `const ${names.add(label)} = ${nodeCall('g.sensor', label, name, properties, more)}`
}

function actuatorLine({ label, name, properties, ...options }: Actuator, names: Names): string {
  return `const ${names.add(label)} = ${nodeCall('g.actuator', label, name, properties, options)}`
}

function nodeCall(
  method: string,
  label: string,
  name: string,
  properties: object | undefined,
  options: object,
): string {
  const hasOptions = Object.keys(options).length > 0
  const given =
    properties === undefined ? (hasOptions ? [new Raw('undefined')] : []) : [new Raw(literal(properties, true))]
  return call(method, label, name, ...given, ...(hasOptions ? [options] : []))
}

const METHODS: Readonly<Partial<Record<Relation['type'], string>>> = { AND: 'all', OR: 'any', NAND: 'notAll' }

function relationLine(relation: Relation, names: Names): string {
  const { label, type, parentLabels, combinations, ...others } = relation
  const parents = parentLabels.map((one) => names.of(one))
  const [row = []] = combinations
  const method = METHODS[type]
  const isPlain = Object.keys(others).length === 0 && combinations.length === 1 && row.length === parents.length
  const held = parents.map((parent, i) => new Raw(`${parent}.is(${literal(row[i])})`))
  const made =
    method !== undefined && isPlain && parents.every((parent) => parent !== undefined)
      ? call(`g.${method}`, label, ...held)
      : call('g.relation', relation)
  return `const ${names.add(label)} = ${made}`
}

function triggerLine(trigger: Trigger, names: Names): string {
  const { sourceLabel, destinationLabel, invocationPolicy, ...conditions } = trigger
  const [source, destination] = [names.of(sourceLabel), names.of(destinationLabel)]
  const when = source === undefined ? undefined : edgeCode(source, conditions)
  const isWhole = invocationPolicy === undefined || (Number.isSafeInteger(invocationPolicy) && invocationPolicy > 0)
  if (when === undefined || destination === undefined || !isWhole) return call('g.trigger', trigger)
  const options = invocationPolicy === undefined ? [] : [{ atMostEvery: `${invocationPolicy}s` }]
  return call('g.fire', new Raw(when), new Raw(destination), ...options)
}

/** Undefined for conditions that no method makes. */
function edgeCode(source: string, conditions: Omit<Trigger, 'sourceLabel' | 'destinationLabel'>): string | undefined {
  const [first, ...others] = Object.entries(conditions)
  if (first === undefined) return source
  const [field, value] = first as [string, unknown]
  if (others.length > 0) return undefined
  if (field === 'stateChangeTrigger' && isPlainObject(value) && Object.keys(value).length === 2)
    return call(`${source}.changes`, value['stateFrom'], value['stateTo'])
  if (!Array.isArray(value) || value.length === 0) return undefined
  if (field === 'statesTrigger')
    return call(value.length === 1 ? `${source}.is` : `${source}.isOneOf`, ...(value as unknown[]))
  return field === 'begins' || field === 'ends' ? call(`${source}.${field}`, ...(value as unknown[])) : undefined
}

/** Code of our own, as opposed to data. */
class Raw {
  readonly code: string
  constructor(code: string) {
    this.code = code
  }
}

function call(method: string, ...given: readonly unknown[]): string {
  return `${method}(${given.map((one) => (one instanceof Raw ? one.code : literal(one))).join(', ')})`
}

const PLAIN_NAME = /^[A-Za-z_$][\w$]*$/
const WHOLE_PLACEHOLDER = /^\$\{(\??)([\w.$]+)\}$/

/** `typed`: placeholders become values, which the types of properties accept. */
function literal(data: unknown, typed = false): string {
  if (typeof data === 'string') return (typed ? placeholder(data) : undefined) ?? quoted(data)
  if (Array.isArray(data)) return `[${data.map((one) => literal(one, typed)).join(', ')}]`
  if (!isPlainObject(data)) return JSON.stringify(data) ?? 'undefined'
  const fields = Object.entries(data).flatMap(([key, one]) =>
    one === undefined ? [] : [`${keyCode(key)}: ${literal(one, typed)}`],
  )
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

function keyCode(key: string): string {
  // a literal field of this name would set the prototype
  if (key === '__proto__') return '["__proto__"]'
  return PLAIN_NAME.test(key) ? key : quoted(key)
}

function quoted(text: string): string {
  return JSON.stringify(text)
    .replaceAll('\u2028', String.raw`\u2028`)
    .replaceAll('\u2029', String.raw`\u2029`)
}

function placeholder(text: string): string | undefined {
  const [, optional = '', path] = WHOLE_PLACEHOLDER.exec(text) ?? []
  if (path === undefined) return undefined
  const name = /^streamdata\.([A-Za-z_$][\w$]*)$/.exec(path)?.[1]
  return optional === '' && name !== undefined ? `value(${quoted(name)})` : `read(${quoted(optional + path)})`
}

/** Names of constants for labels: letters, digits and _, distinct, and no words of the language. */
class Names {
  readonly #byLabel = new Map<string, string>()
  readonly #taken = new Set<string>()

  add(label: string): string {
    const base = `${label.replaceAll(/[^A-Za-z0-9]+/g, '_').slice(0, 40)}_`.replace(/^(?=\d|_$)/, 'node_')
    const name = base.replace(/_+$/, '')
    const own = RESERVED.has(name) || name === '' ? `${name}_node` : name
    let free = own
    for (let i = 2; this.#taken.has(free); i++) free = `${own}_${i}`
    this.#taken.add(free)
    this.#byLabel.set(label, free)
    return free
  }

  of(label: string): string | undefined {
    return this.#byLabel.get(label)
  }
}

const RESERVED: ReadonlySet<string> = new Set(
  'g graph template read value rule arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield'.split(
    ' ',
  ),
)
