/** Prints the report of a simulation: header, firings as they occur, and totals. */
import type { EngineEvent, Explanation, HeldReason, Rule, Template } from '#core'
import { explanationText } from '#core/sentences'
import { normalizeSettings, type ReadingCounts, type RuleGraph, type SavedState, settingsOf } from '#core/spi'
import { counted, grouped } from '../numbers.ts'
import type { Recording } from '../recording/recording.ts'
import type { Paint } from '../terminal.ts'
import { formatSpan, formatTime } from '../time-text.ts'
import { visible } from '../visible.ts'
import type { Zone } from '../zone.ts'
import { recordingText, spanText } from './recording-text.ts'
import { tableLines } from './table.ts'
import { type NodeTally, Tally } from './tally.ts'
import { Timeline } from './timeline.ts'

export interface ReportedJob {
  rule: Rule | Template
  resource: string | undefined
  recording: { recording: Recording } | undefined
  from: number | undefined
  until: number
}

export interface ReportOptions {
  zone: Zone
  why: boolean
  all: boolean
}

export interface ReportedRun {
  run: {
    messages: number
    late: number
    maxLag?: number
    from: number
    until: number
    task: { save(): { state: SavedState } }
    explain(node: string): Explanation
  }
  wall: number
}

export class RunReport {
  readonly #job: ReportedJob
  readonly #options: ReportOptions
  readonly #write: (text: string) => void
  readonly #paint: Paint
  readonly #tally: Tally
  readonly #timeline: Timeline

  constructor(job: ReportedJob, options: ReportOptions, write: (text: string) => void, paint: Paint) {
    this.#job = job
    this.#options = options
    this.#write = write
    this.#paint = paint
    this.#tally = new Tally(job.rule)
    this.#timeline = new Timeline({ ...options, paint, width: widthOf(job.rule), write })
  }

  begin(): void {
    const { rule, recording, from, until } = this.#job
    const { zone } = this.#options
    const settings = normalizeSettings(settingsOf(rule))
    const resource = this.#job.resource ?? settings.resource
    const whose = resource === undefined ? '' : ` on ${visible(resource)}`
    const title = `${this.#paint('bold', visible(nameOfRule(rule)))}: ${settings.type} task${whose}`
    const begin = from ?? recording?.recording.first ?? 0
    this.#write(`${title}\n${recordingText(recording?.recording)}${spanText(begin, until, zone)}\n`)
  }

  take(event: EngineEvent): void {
    this.#tally.take(event)
    this.#timeline.take(event)
  }

  end(ran: ReportedRun): void {
    this.#timeline.end()
    const silent = this.#tally.fired === 0
    if (silent) this.#write('Nothing fired.\n')
    for (const line of silent || this.#options.why ? this.#whyNot(ran) : []) this.#write(line)
    this.#write('\n')
    for (const line of this.summary(ran)) this.#write(line)
  }

  summary(ran: ReportedRun): string[] {
    const { messages, late, from, until, maxLag = 0, task } = ran.run
    const { state } = task.save()
    const lines = summaryLines(
      this.#tally,
      { messages, late, readings: state.readings?.counts, span: until - from, lag: maxLag, wall: ran.wall },
      this.#options.zone,
      this.#paint,
    )
    const waiting = waitingLines(state, this.#options.zone)
    return [...lines, ...waiting, ...this.#unheard(ran)].map((line) => `${line}\n`)
  }

  /** Explains each actuator that never fired, and the relations that its triggers watch. */
  #whyNot({ run }: ReportedRun): string[] {
    const { actuators = [], relations = [], triggers = [] } = this.#job.rule
    const fired = new Set(this.#tally.nodes.filter((node) => node.fired > 0).map((node) => node.label))
    const idle = new Set(actuators.flatMap(({ label }) => (fired.has(label) ? [] : [label])))
    const watched = new Set(triggers.flatMap((one) => (idle.has(one.destinationLabel) ? [one.sourceLabel] : [])))
    const gates = relations.flatMap(({ label }) => (watched.has(label) ? [label] : []))
    return [...idle, ...gates].flatMap((label) => [
      '\n',
      ...explainLines(run.explain(label), this.#options.zone, this.#paint).map((line) => `${line}\n`),
    ])
  }

  /** Points out that the recording has other resources than the rule, the most common mistake. */
  #unheard({ run: { messages } }: ReportedRun): string[] {
    const { recording } = this.#job
    if (messages === 0 || this.#tally.taken > 0 || recording === undefined) return []
    const named = [...recording.recording.resources].slice(0, 5).map(visible).join(', ')
    return [
      `no message reached a sensor: the recording contains ${named}; set the resource of the rule with --resource`,
    ]
  }
}

export function nameOfRule(rule: Rule | Template): string {
  return 'name' in rule ? (rule.taskDefaults?.name ?? rule.name) : (rule.task?.name ?? 'rule without a name')
}

function widthOf({ triggers = [] }: RuleGraph): number {
  return Math.min(30, Math.max(0, ...triggers.map(({ destinationLabel }) => destinationLabel.length)))
}

export function explainLines(explanation: Explanation, zone: Zone, paint: Paint): string[] {
  const { sentence, chain, whyNot, others = [] } = explanationText(explanation, (instant) => formatTime(instant, zone))
  const line = (kind: string, text: string) => `  ${paint('dim', kind.padEnd(10))}${visible(text)}`
  return [
    paint('bold', visible(sentence)),
    ...chain.map(({ kind, text }) => line(kind, text)),
    ...whyNot.flatMap(({ sentence: condition, reasons, needs }) => [
      line('trigger', condition),
      ...reasons.map((reason) => line('held by', reason.sentence)),
      ...(needs === undefined ? [] : [line('needs', needs)]),
    ]),
    ...others.map(({ state, needs }) => line(`to ${state}`, needs)),
  ]
}

const MAX_NAMED = 5

/** Lists executions that were unfinished when the clock stopped, with their time to continue. */
export function waitingLines(state: SavedState, zone: Zone): string[] {
  const waits: { node: string; until: number | undefined }[] = []
  for (const { node, wakeAt } of state.executing ?? []) waits.push({ node, until: wakeAt })
  for (const [node, { follow }] of Object.entries(state.sensors))
    if (follow !== undefined) waits.push({ node, until: follow.at })
  if (waits.length === 0) return []
  const named = waits
    .slice(0, MAX_NAMED)
    .map(({ node, until }) => (until === undefined ? node : `${node} until ${formatTime(until, zone)}`))
  if (waits.length > MAX_NAMED) named.push(`and ${waits.length - MAX_NAMED} more`)
  const last = Math.max(...waits.map(({ until = Number.NEGATIVE_INFINITY }) => until))
  const hint = Number.isFinite(last) ? `; --until ${formatTime(last, zone)} runs the clock until then` : ''
  return [`${counted(waits.length, 'execution')} unfinished at the end: ${named.join(', ')}${hint}`]
}

const MAX_ERRORS = 10
const HELD: Readonly<Record<HeldReason, string>> = {
  invocationPolicy: 'by cool-down',
  overlap: 'by unfinished work',
  queue: 'by a full queue',
}

export interface RunFacts {
  messages: number
  /** Number of messages older than the clock, processed at the clock's time */
  late: number
  readings?: ReadingCounts | undefined
  span: number
  /** Longest time that an input waited for earlier ones, in ms */
  lag?: number
  wall: number
}

/** Formats the totals of a run: a table of nodes, and errors. */
export function summaryLines(tally: Tally, facts: RunFacts, zone: Zone, paint: Paint): string[] {
  const [header = '', ...rows] = tableLines(
    [['node', 'plug or gate', 'runs', 'changes', 'fired', 'errors', 'held back'], ...tally.nodes.map(row)],
    new Set([2, 3, 4, 5]),
  )
  const lines = [paint('underline', header), ...rows, '', ...errorLines(tally, zone, paint)]
  const work = [
    counted(facts.messages, 'message'),
    counted(tally.invocations, 'invocation'),
    counted(tally.fired, 'firing'),
    `${formatSpan(facts.span)} of virtual time in ${formatSpan(facts.wall)}`,
  ]
  if (facts.messages > 0)
    work.push(`${grouped(Math.round((facts.messages * 1000) / Math.max(1, facts.wall)))} messages/s`)
  lines.push(paint('bold', work.join(', ')))
  if (facts.lag !== undefined && facts.lag > 0)
    lines.push(`inputs waited up to ${formatSpan(facts.lag)} for earlier ones; the same nodes fire, but later`)
  if (facts.late > 0) lines.push(`${counted(facts.late, 'message')} had a timestamp before the time of the clock`)
  const { late = 0, duplicate = 0, skewed = 0 } = facts.readings ?? {}
  const odd = Object.entries({ late, duplicate, skewed }).filter(([, count]) => count > 0)
  if (odd.length > 0) lines.push(`readings out of order: ${odd.map(([why, n]) => `${grouped(n)} ${why}`).join(', ')}`)
  return lines
}

function row(node: NodeTally): string[] {
  const counts = [node.executions, node.changes, node.fired, node.errors]
  const held = [...node.held].map(([reason, count]) => `${grouped(count)} ${HELD[reason]}`)
  return [node.label, node.what, ...counts.map((count) => (count === 0 ? '-' : grouped(count))), held.join(', ')]
}

function errorLines(tally: Tally, zone: Zone, paint: Paint): string[] {
  const { errors, failure } = tally
  const lines = errors.slice(0, MAX_ERRORS).map(({ node, text, count, first }) => {
    const often =
      count === 1
        ? `once, at ${formatTime(first, zone)}`
        : `${grouped(count)} times, first at ${formatTime(first, zone)}`
    return `${paint('red', 'error')}  ${node}: ${visible(text)} (${often})`
  })
  if (errors.length > MAX_ERRORS)
    lines.push(`${paint('red', 'error')}  and ${counted(errors.length - MAX_ERRORS, 'more kind')}`)
  if (failure !== undefined) lines.push(`${paint('red', 'the task failed')}: ${failure}`)
  return lines.length > 0 ? [...lines, ''] : []
}
