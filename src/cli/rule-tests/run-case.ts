/** Runs one example of a rule in virtual time, and compares what the rule did with what the example expects. */
import type { EngineEvent, Explanation, FiredEvent, Message, Plug, Rule, Template } from '#core'
import { causeOf } from '#core/sentences'
import { play, settingsOf } from '#core/spi'
import { AppError } from '#kernel'
import type { MemoryServices, WorldAround } from '#testing/world'
import { explainLines } from '../report/run-report.ts'
import { whyLines } from '../report/timeline.ts'
import { plain } from '../terminal.ts'
import { formatTime } from '../time-text.ts'
import { zoneOf } from '../zone.ts'
import { type Expectation, startOf, type TestCase, type TestFile, timeIn } from './test-file.ts'

export interface CaseResult {
  readonly name: string
  /** what differs, each with the reason below it; empty: the example holds */
  readonly problems: readonly string[]
}

export interface FileResult {
  readonly file: string
  readonly cases: readonly CaseResult[]
}

/** Makes the services and plugs of a run, which has its own alarms and data. */
export type OpenWorld = (around: WorldAround) => { services: MemoryServices; plugs: Promise<readonly Plug[]> }

/** A firing as tests compare it, with its reason for the report. */
export interface SeenFiring {
  readonly node: string
  readonly time: number
  readonly source: string
  readonly resource?: string | undefined
  readonly why: readonly string[]
}

interface SeenAlarm {
  readonly type: string
  readonly severity: string
  readonly source: string
  readonly time: number
  cleared?: number
}

const utc = zoneOf('UTC')
const shown = (time: number): string => `${formatTime(time, utc)}Z`

interface Ran {
  readonly events: readonly EngineEvent[]
  readonly alarms: ReadonlyMap<string, SeenAlarm>
  explain(node: string): Explanation | undefined
}

export async function runCase(
  file: TestFile,
  one: TestCase,
  rule: Rule | Template,
  openWorld: OpenWorld,
): Promise<CaseResult> {
  const { name, expect } = one
  const ran = await runUntil(file, one, rule, openWorld, undefined)
  const fired = ran.events.filter((event): event is FiredEvent => event.type === 'fired').map(seenFiring)
  const start = startOf(one)
  // explains as of the expected time, by a run that ends there
  const whyNot = async (node: string, time: number): Promise<readonly string[]> => {
    const { explain } = await runUntil(file, one, rule, openWorld, time)
    const explanation = explain(node)
    return explanation === undefined ? [] : explainLines(explanation, utc, plain)
  }
  const problems = [
    ...(await firingProblems(expect, fired, start, whyNot)),
    ...alarmProblems(expect, [...ran.alarms.values()], start),
    ...(await stateProblems(expect, ran.events, start, whyNot)),
  ]
  return { name, problems: [...problems, ...unknownNodes(expect, rule)] }
}

async function runUntil(
  { resource, variables, seed }: TestFile,
  one: TestCase,
  rule: Rule | Template,
  openWorld: OpenWorld,
  end: number | undefined,
): Promise<Ran> {
  const from = startOf(one)
  let now = from
  const { services, plugs } = openWorld({ now: () => now, forward: () => {} })
  const alarms = watchAlarms(services, () => now)
  const main = resource ?? settingsOf(rule)?.resource
  const messages = messagesOf(one, main, from).filter(({ arrival }) => end === undefined || arrival <= end)
  const arrivals = new Map(messages.map(({ message, arrival }) => [message, arrival]))
  const last = one.until === undefined ? undefined : timeIn(one.until, from)
  const until = end ?? last ?? Math.max(from, ...arrivals.values())
  const events: EngineEvent[] = []
  let explanation: Ran['explain'] = () => undefined
  const lane = {
    rule,
    onEvent: (event: EngineEvent) => {
      now = Math.max(now, event.time)
      events.push(event)
    },
  }
  await play(
    [lane],
    {
      plugs: await plugs,
      messages: arrivals.keys(),
      arrivalOf: (message) => arrivals.get(message),
      channelOf(message) {
        now = Math.max(now, arrivals.get(message) ?? now)
        services.arrived(message)
        return undefined
      },
      from,
      until,
      variables: { ...variables, ...one.variables },
      ...(main !== undefined && { resource: main }),
      ...(seed !== undefined && { seed }),
    },
    {
      onEnd: ([task]) => {
        if (task === undefined) return
        const nodes = new Set(labelsOf(rule))
        const asked = new Map<string, Explanation>()
        for (const node of end === undefined ? [] : nodes) asked.set(node, task.explain(node))
        explanation = (node) => asked.get(node)
      },
    },
  )
  return { events, alarms, explain: (node) => explanation(node) }
}

function messagesOf(
  { messages = [] }: TestCase,
  main: string | undefined,
  start: number,
): readonly { message: Message; arrival: number }[] {
  let latest = start
  return messages.map(({ at, resource = main, receivedAt, ...values }, index) => {
    if (resource === undefined) {
      const right = 'write resource here, beside rule, or in the task of the rule'
      throw new AppError('VALIDATION', `/messages/${index}/resource is required; ${right}`)
    }
    const timestamp = timeIn(at, start)
    // the order of the list is the order of arrival
    latest = Math.max(latest, receivedAt === undefined ? timestamp : timeIn(receivedAt, start))
    return { message: { ...values, resource, timestamp }, arrival: latest }
  })
}

function watchAlarms({ alarms: port }: MemoryServices, now: () => number): ReadonlyMap<string, SeenAlarm> {
  const seen = new Map<string, SeenAlarm>()
  const { raise, clear } = port
  Object.assign(port, {
    raise: async (...call: Parameters<typeof raise>) => {
      const alarm = await raise(...call)
      const { source, type, severity } = call[0]
      const id = String(alarm['id'])
      if (!seen.has(id)) seen.set(id, { source, type, severity, time: now() })
      return alarm
    },
    clear: async (...call: Parameters<typeof clear>) => {
      const cleared = await clear(...call)
      for (const { id } of cleared) {
        const alarm = seen.get(String(id))
        if (alarm !== undefined) alarm.cleared = now()
      }
      return cleared
    },
  })
  return seen
}

export function seenFiring({
  node,
  time,
  source,
  why,
}: Pick<FiredEvent, 'node' | 'time' | 'source' | 'why'>): SeenFiring {
  const lines = why === undefined ? [] : whyLines(why, utc, plain)
  const resource = why?.input.resource
  return {
    node,
    time,
    source,
    ...(resource !== undefined && { resource }),
    why: [causeOf({ source, ...(why && { why }) }), ...lines],
  }
}

export async function firingProblems(
  { firings, silent = [] }: Expectation,
  fired: readonly SeenFiring[],
  start: number,
  whyNot: (node: string, time: number) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const problems = fired
    .filter(({ node }) => silent.includes(node))
    .map((one) => withReason(`${one.node} fired at ${shown(one.time)}, and must stay silent`, one.why))
  if (firings === undefined) return problems
  const left = [...fired]
  const order: SeenFiring[] = []
  for (const { node, at, source, resource } of firings) {
    const time = at === undefined ? undefined : timeIn(at, start)
    const found = left.findIndex(
      (one) =>
        one.node === node &&
        (time === undefined || one.time === time) &&
        (source === undefined || one.source === source) &&
        (resource === undefined || one.resource === resource),
    )
    const [match] = found < 0 ? [] : left.splice(found, 1)
    if (match !== undefined) order.push(match)
    else {
      const what = `${node} did not fire${time === undefined ? '' : ` at ${shown(time)}`}${source === undefined ? '' : ` from ${source}`}`
      problems.push(withReason(what, time === undefined ? [] : await whyNot(node, time)))
    }
  }
  problems.push(
    ...left.map((one) => withReason(`${one.node} fired at ${shown(one.time)}, which is not expected`, one.why)),
  )
  const late = order.find((one, index) => index > 0 && fired.indexOf(one) < fired.indexOf(order[index - 1] ?? one))
  if (late !== undefined) problems.push(`${late.node} fired at ${shown(late.time)}, earlier than in the expected order`)
  return problems
}

function alarmProblems({ alarms }: Expectation, raised: readonly SeenAlarm[], start: number): readonly string[] {
  if (alarms === undefined) return []
  const problems: string[] = []
  const left = [...raised]
  for (const { type, severity, source, at, cleared } of alarms) {
    const time = at === undefined ? undefined : timeIn(at, start)
    const found = left.findIndex(
      (one) =>
        one.type === type &&
        (severity === undefined || one.severity === severity.toUpperCase()) &&
        (source === undefined || one.source === source) &&
        (time === undefined || one.time === time),
    )
    const [match] = found < 0 ? [] : left.splice(found, 1)
    if (match === undefined) {
      const words = [severity, type, source && `of ${source}`, time !== undefined && `at ${shown(time)}`]
      problems.push(`the alarm ${words.filter(Boolean).join(' ')} was not raised`)
    } else problems.push(...clearedProblems(match, cleared, start))
  }
  return [...problems, ...left.map((one) => `${alarmText(one)} was raised, which is not expected`)]
}

function clearedProblems(alarm: SeenAlarm, cleared: string | false | undefined, start: number): readonly string[] {
  if (cleared === undefined) return []
  const time = cleared === false ? undefined : timeIn(cleared, start)
  if (alarm.cleared === time) return []
  const was = alarm.cleared === undefined ? 'stayed open' : `was cleared at ${shown(alarm.cleared)}`
  return [`${alarmText(alarm)} ${was}; expected ${time === undefined ? 'open' : `cleared at ${shown(time)}`}`]
}

function alarmText({ severity, type, source, time }: SeenAlarm): string {
  return `the alarm ${severity} ${type} of ${source} at ${shown(time)}`
}

async function stateProblems(
  { states = [] }: Expectation,
  events: readonly EngineEvent[],
  start: number,
  whyNot: (node: string, time: number) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const problems: string[] = []
  for (const { node, at, is } of states) {
    const time = at === undefined ? Number.POSITIVE_INFINITY : timeIn(at, start)
    const state = events.findLast(
      (event) => (event.type === 'state' || event.type === 'gate') && event.node === node && event.time <= time,
    )
    const was = state !== undefined && 'to' in state ? state.to : null
    if (was === is) continue
    const when = at === undefined ? 'at the end' : `at ${shown(time)}`
    problems.push(
      withReason(
        `${node} is ${was ?? 'unknown'} ${when}; expected ${is ?? 'unknown'}`,
        at === undefined ? [] : await whyNot(node, time),
      ),
    )
  }
  return problems
}

/** A misspelt node would otherwise be silent for ever. */
export function unknownNodes(
  { firings = [], silent = [], states = [] }: Expectation,
  rule: Rule | Template,
): readonly string[] {
  const labels = labelsOf(rule)
  const known = new Set(labels)
  const named = new Set([...firings.map(({ node }) => node), ...silent, ...states.map(({ node }) => node)])
  return [...named].flatMap((node) =>
    known.has(node) ? [] : [`the rule lacks a node ${JSON.stringify(node)}; its nodes are ${labels.join(', ')}`],
  )
}

function labelsOf({ sensors = [], relations = [], actuators = [] }: Rule | Template): readonly string[] {
  return [...sensors, ...relations, ...actuators].map(({ label }) => label)
}

function withReason(what: string, why: readonly string[]): string {
  return [what, ...why.map((line) => `  ${line}`)].join('\n')
}
