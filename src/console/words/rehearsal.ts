/** Rehearsals in words, and what of a rule can be moved by a slider. */
import { countText } from './numbers.ts'
import { lengthText } from './times.ts'

interface Json {
  readonly [name: string]: unknown
}

export interface Knob {
  /** as a sweep names it: `temperature.threshold` */
  readonly path: string
  readonly value: number
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

/** Returns the numeric properties of a rule's nodes, and the cool-downs of its triggers. */
export function knobsOf(rule: Json): readonly Knob[] {
  const nodes = [...list(rule['sensors']), ...list(rule['actuators'])]
  const properties = nodes.flatMap(({ label, properties }) =>
    Object.entries((properties ?? {}) as Json).flatMap(([name, value]) =>
      typeof value === 'number' ? [{ path: `${String(label)}.${name}`, value }] : [],
    ),
  )
  const coolDowns = list(rule['triggers']).flatMap(({ invocationPolicy: value }, index) =>
    typeof value === 'number' ? [{ path: `/triggers/${index}/invocationPolicy`, value }] : [],
  )
  return [...properties, ...coolDowns]
}

export interface Suggestion {
  readonly kind: 'task' | 'template'
  readonly id: string
  readonly name: string
  readonly resources: readonly string[]
}

interface RunningTask {
  readonly ID: string
  readonly name: string
  readonly template?: string | null
  readonly resource?: string | null
}

const MAX_SUGGESTIONS = 6
const MAX_RESOURCES = 8

/** Returns what can be rehearsed without further choices: templates with the resources of their tasks, then other tasks. */
export function suggestionsOf(tasks: readonly RunningTask[]): readonly Suggestion[] {
  const byTemplate = new Map<string, string[]>()
  const others: Suggestion[] = []
  for (const { ID, name, template, resource } of tasks) {
    if (!resource) continue
    if (!template) others.push({ kind: 'task', id: ID, name, resources: [resource] })
    else byTemplate.set(template, [...(byTemplate.get(template) ?? []), resource])
  }
  const templates = [...byTemplate].map(([name, all]): Suggestion => ({
    kind: 'template',
    id: name,
    name,
    resources: [...new Set(all)].toSorted().slice(0, MAX_RESOURCES),
  }))
  return [...templates, ...others].slice(0, MAX_SUGGESTIONS)
}

/** Returns the name of a knob for people: `limit of temperature`, `cool-down of alarm, in seconds`. */
export function knobName(path: string, rule: Json): string {
  const trigger = /^\/triggers\/(\d+)\//.exec(path)
  if (trigger !== null)
    return `cool-down of ${String(list(rule['triggers'])[Number(trigger[1])]?.['destinationLabel'])}, in seconds`
  const [label = '', ...name] = path.split('.')
  return `${name.join('.')} of ${label}`
}

/** Returns a copy of the rule with another value at the knob. */
export function turned(rule: Json, path: string, value: number): Json {
  const trigger = /^\/triggers\/(\d+)\//.exec(path)
  if (trigger !== null) {
    const at = Number(trigger[1])
    return {
      ...rule,
      triggers: list(rule['triggers']).map((one, index) => (index === at ? { ...one, invocationPolicy: value } : one)),
    }
  }
  const [label = '', ...rest] = path.split('.')
  const name = rest.join('.')
  const change = (nodes: unknown): readonly Json[] =>
    list(nodes).map((node) =>
      node['label'] === label ? { ...node, properties: { ...(node['properties'] as Json), [name]: value } } : node,
    )
  return { ...rule, sensors: change(rule['sensors']), actuators: change(rule['actuators']) }
}

/** Returns the values that a slider offers: about twenty steps from three to five quarters of a value, with `other`. */
export function valuesAround(value: number, other: number = value): readonly number[] {
  const span = value === 0 ? 1 : Math.abs(value) / 2
  const rough = span / 20
  const size = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * size).find((one) => one >= rough * 0.999) ?? rough
  const count = Math.round(span / 2 / step)
  const values = Array.from({ length: 2 * count + 1 }, (_, index) =>
    Number((value + (index - count) * step).toPrecision(10)),
  )
  return values.includes(other) ? values : [...values, other].sort((a, b) => a - b)
}

export interface RehearsalFacts {
  readonly matched: number
  readonly withData: number
  readonly firingsNow: number
  readonly firingsDraft: number | undefined
  readonly days: number
}

/** Returns the answer of a rehearsal: coverage first, then how often both versions fire. */
export function rehearsalAnswer({ matched, withData, firingsNow, firingsDraft, days }: RehearsalFacts): string {
  const resources = matched === 1 ? 'resource' : 'resources'
  if (withData === 0)
    return matched === 1
      ? 'The resource had no data, so nothing can be said'
      : `None of ${matched} ${resources} had data, so nothing can be said`
  const cover =
    withData === matched
      ? `${matched === 1 ? 'The resource' : `All ${matched} resources`} had data.`
      : `${withData} of ${matched} ${resources} had data.`
  const a = perDayText(firingsNow, days)
  if (firingsDraft === undefined) return `${cover} The rule fires ${a}.`
  const b = perDayText(firingsDraft, days)
  return a === b
    ? `${cover} The draft fires ${b}, as the rule does now.`
    : `${cover} The draft fires ${b}; the rule now ${a}.`
}

interface AlarmLoad {
  readonly raised: number
  readonly figures?: {
    readonly peak: { readonly alarms: number }
    readonly flood: { readonly count: number }
    readonly chattering: { readonly count: number }
  }
}

/** Returns what the alarms of a rehearsed rule would mean for an operator; empty without alarms. */
export function loadText({ raised, figures }: AlarmLoad): string {
  if (raised === 0) return ''
  if (figures === undefined) return `${countText(raised, 'alarm')}.`
  const { peak, flood, chattering } = figures
  const most = `at most ${peak.alarms} in ten minutes`
  const floods = flood.count === 0 ? '' : `, ${countText(flood.count, 'flood')}`
  return `${countText(raised, 'alarm')}, ${most}${floods}${chattering.count === 0 ? '' : ', chattering'}.`
}

export function perDayText(count: number, days: number): string {
  const rate = count / Math.max(days, 1e-9)
  const text = rate >= 10 || rate === 0 ? Math.round(rate).toLocaleString('en') : String(Number(rate.toPrecision(2)))
  return `${text} ${text === '1' ? 'time' : 'times'} a day`
}

export function differenceText({
  added,
  removed,
  moved,
  equal,
}: {
  readonly added: number
  readonly removed: number
  readonly moved: number
  readonly equal: number
}): string {
  return `${countText(added, 'firing')} added, ${removed} removed, ${moved} moved, ${equal} equal`
}

export function movedText(by: number): string {
  return `${lengthText(Math.abs(by))} ${by < 0 ? 'earlier' : 'later'}`
}
