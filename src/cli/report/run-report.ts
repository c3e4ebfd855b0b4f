/** Prints the report of a simulation: header, firings as they occur, and totals. */
import type { EngineEvent, Explanation, Rule, Template } from '#core'
import { explanationText } from '#core/sentences'
import { normalizeSettings, type RuleGraph, type SavedState, settingsOf } from '#core/spi'
import type { Recording } from '../recording/recording.ts'
import type { Paint } from '../terminal.ts'
import { visible } from '../visible.ts'
import type { Zone } from '../zone.ts'
import { recordingText, spanText } from './recording-text.ts'
import { summaryLines } from './summary.ts'
import { Tally } from './tally.ts'
import { Timeline } from './timeline.ts'
import { counted } from '../numbers.ts'
import { formatTime } from '../time-text.ts'

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
