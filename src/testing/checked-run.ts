/** Runs a rule over generated messages, and provides the run to properties. */
import type {
  EngineEvent,
  FiredEvent,
  Message,
  PlaybackOptions,
  ResultEvent,
  Rule,
  SavedTask,
  Task,
  Template,
} from '#core'
import { type Crash, type Generate, instantOf, play, type Preparer, type RuleGraph, settingsOf } from '#core/spi'
import { AppError, nearest } from '#kernel'
import { afterPatience } from './patience.ts'

export interface CrashPoint {
  readonly after: number
  /** downtime, as a share of the time until the next message, 0 to 1 */
  readonly down: number
  /** whether the crash happens before plugs have finished that message */
  readonly inFlight: boolean
}

/** The complete input of a run, from which it can be repeated. */
export interface RunCase {
  readonly rule: Rule | Template
  readonly messages: readonly Message[]
  /** crashes for `restarted`, ascending */
  readonly crashes: readonly CrashPoint[]
  /** seed of the engine's random numbers; default 1 */
  readonly seed?: number
  readonly variables?: Readonly<Record<string, unknown>>
  /** by resource; overrides those of the options */
  readonly metadata?: Metadata
}

export type Metadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface CheckedRun extends RunCase {
  readonly events: readonly EngineEvent[]
  /** snapshots after the start, after each message, and after each instant at which the clock caused something */
  readonly moments: readonly Moment[]
  readonly from: number
  readonly until: number
  /** returns the firings of one destination, or of all. `NOT_FOUND` for an unknown label */
  firings(node?: string): readonly FiredEvent[]
  readonly unanswered: number
  /** returns the final state of the task */
  saved(): SavedTask
  /** runs the same messages, but the process crashes at each crash point and continues from its saved state */
  restarted(how?: RestartOptions): Promise<CheckedRun>
  /** runs the same case again, or a modified one */
  again(changed?: Partial<RunCase>, how?: RunOptions): Promise<CheckedRun>
  /** runs the same case with subscribers only to firings, like a live engine */
  unheard(): Promise<UnheardRun>
}

export interface RestartOptions {
  /** maximum downtime, ms; default: no time passes */
  readonly down?: number
  /** whether the process may crash during plug calls; default true */
  readonly inFlight?: boolean
}

export interface UnheardRun {
  readonly fired: readonly FiredEvent[]
  readonly saved: SavedTask
}

export interface Moment {
  readonly time: number
  /** absent for moments of the clock, and for the start */
  readonly message?: Message
  /** firings since the previous moment */
  readonly fired: readonly FiredEvent[]
  /** failed plug calls since the previous moment */
  readonly failed: readonly ResultEvent[]
  /** returns the state of a sensor or gate; null if unknown. `NOT_FOUND` for an unknown label */
  state(node: string): string | null
  /** returns the newest message of a resource, or of all resources */
  latest(resource?: string): Message | undefined
}

export interface CaseOptions extends Pick<
  PlaybackOptions,
  'resource' | 'variables' | 'settings' | 'ports' | 'metadata'
> {
  /** real time in ms to wait for plugs, once per run */
  readonly patience: number
  /** returns the preparer for an engine: a shared or a new one */
  readonly preparer: () => Preparer
  /** ms on the clock after the last message */
  readonly tail: number
  /** compiles code, as live engines do; absent where code generation is not allowed */
  readonly generate?: Generate | undefined
}

export interface RunOptions {
  readonly restarts?: RestartOptions
  /** delays results of plugs by these ms, by label or plug name */
  readonly latency?: Readonly<Record<string, number>>
  /** renames the resources of the task, messages and metadata, but not those named in the rule */
  readonly renamed?: (resource: string) => string
}

export async function runCase(one: RunCase, options: CaseOptions, how: RunOptions = {}): Promise<CheckedRun> {
  const events: EngineEvent[] = []
  const moments: Moment[] = []
  const labels = labelsOf(one.rule)
  let latest: ReadonlyMap<string, Message> = new Map()
  let newest: Message | undefined
  let seen = 0
  const waiting = { unanswered: 0 }
  const { from, until, tasks } = await play(
    [{ rule: one.rule, onEvent: (event) => void events.push(event) }],
    { ...playbackOf(one, options, waiting, how.renamed), ...(how.latency && { latency: how.latency }) },
    {
      preparer: options.preparer,
      restartAfter: crashesOf(one, how.restarts),
      onStep(step, [task]) {
        const { time } = step
        const message = takenOf(one.rule, options, latest, step.message)
        // A late message without effects is not a moment of the rule.
        if (step.message && !message && !events.slice(seen).some(isFired)) return
        if (message) {
          newest = message
          latest = new Map(latest).set(message.resource, message)
        }
        moments.push(momentOf(task, labels, events.slice(seen), { time, message, latest, newest }))
        seen = events.length
      },
    },
  )
  const again = (changed: Partial<RunCase> = {}, more: RunOptions = {}) =>
    runCase({ ...one, ...changed }, options, { ...how, ...more })
  return {
    ...one,
    events,
    moments,
    from,
    until,
    unanswered: waiting.unanswered,
    saved: () => (tasks as [Task])[0].save(),
    firings: firingsOf(events, labels),
    again,
    restarted: (restarts = {}) => again({}, { restarts }),
    unheard: () => runUnheard(one, options),
  }
}

/** Returns the message, unless the rule drops it as late. */
function takenOf(
  rule: Rule | Template,
  { settings }: CaseOptions,
  latest: ReadonlyMap<string, Message>,
  message: Message | undefined,
): Message | undefined {
  const { late, time } = { ...settingsOf(rule), ...settings }
  const last = message && latest.get(message.resource)
  if (last === undefined || message === undefined || late === 'take' || time === 'arrival') return message
  return instantOf(message, 1) < instantOf(last, 1) ? undefined : message
}

/** Takes a snapshot of a task, with what happened since the previous moment. */
export function momentOf(
  task: Task | undefined,
  labels: Labels,
  since: readonly EngineEvent[],
  at: {
    readonly time: number
    readonly message: Message | undefined
    readonly latest: ReadonlyMap<string, Message>
    readonly newest: Message | undefined
  },
): Moment {
  return {
    time: at.time,
    ...(at.message && { message: at.message }),
    fired: since.filter(isFired),
    failed: since.filter(isFailure),
    ...lookAt(labels, (label) => task?.node(label), at.latest, at.newest),
  }
}

export function firingsOf(events: readonly EngineEvent[], labels: Labels): CheckedRun['firings'] {
  const fired = events.filter(isFired)
  return (node) => {
    if (node === undefined) return fired
    requireLabel(node, labels.destinations, 'destination of a trigger')
    return fired.filter((event) => event.node === node)
  }
}

async function runUnheard(one: RunCase, options: CaseOptions): Promise<UnheardRun> {
  const { generate, preparer } = options
  const fired: FiredEvent[] = []
  const { tasks } = await play(
    [
      {
        rule: one.rule,
        batches: { filter: { types: ['fired'] }, next: (batch) => void fired.push(...[...batch].filter(isFired)) },
      },
    ],
    { ...playbackOf(one, options, { unanswered: 0 }), ...(generate && { generate }) },
    { preparer },
  )
  const [task] = tasks as [Task]
  return { fired, saved: task.save() }
}

function playbackOf(
  one: RunCase,
  options: CaseOptions,
  waiting: { unanswered: number },
  renamed: (resource: string) => string = (resource) => resource,
): PlaybackOptions {
  const {
    tail,
    patience: patienceMs,
    preparer: _preparer,
    generate: _generate,
    variables,
    metadata,
    ...playback
  } = options
  const { seed = 1, rule } = one
  const { resource = settingsOf(rule).resource } = options
  const patience = (giveUp: () => void): (() => void) => {
    const timeout = afterPatience(waiting.unanswered === 0 ? patienceMs : 0, () => {
      waiting.unanswered++
      giveUp()
    })
    return () => timeout.unsubscribe()
  }
  return {
    patience,
    ...playback,
    plugs: [],
    seed,
    variables: { ...variables, ...one.variables },
    ...(resource !== undefined && { resource: renamed(resource) }),
    metadata: mergedMetadata(metadata, one.metadata, renamed),
    messages: one.messages.map((message) => ({ ...message, resource: renamed(message.resource) })),
    until: untilOf(one.messages, tail),
  }
}

function mergedMetadata(fixed: Metadata = {}, drawn: Metadata = {}, renamed: (resource: string) => string): Metadata {
  const both = new Set([...Object.keys(fixed), ...Object.keys(drawn)])
  return Object.fromEntries([...both].map((id) => [renamed(id), { ...fixed[id], ...drawn[id] }]))
}

function crashesOf(one: RunCase, how: RestartOptions | undefined): (messages: number) => Crash | undefined {
  if (how === undefined) return () => undefined
  const { down = 0, inFlight = true } = how
  const spans = downSpans(one, down)
  const crashes = new Map<number, Crash>()
  for (const [i, { after, inFlight: early }] of one.crashes.entries()) {
    const [from = 0, to = 0] = spans[i] ?? []
    crashes.set(after, { down: to - from, inFlight: early && inFlight })
  }
  return (count) => crashes.get(count)
}

/**
 * Returns the downtime of each crash in epoch ms: at most `most` ms, and always shorter than until the next message.
 */
export function downSpans(
  { messages, crashes }: RunCase,
  most: number,
): readonly (readonly [from: number, to: number])[] {
  const times = clockTimes(messages)
  return crashes.map(({ after, down }) => {
    const from = times[after - 1] ?? 0
    const silence = Math.max(0, (times[after] ?? from) - from - 1)
    return [from, from + Math.floor(Math.min(silence, most) * down)]
  })
}

/** Returns the clock at each message: a late one arrives at the newest time so far. */
export function clockTimes(messages: readonly Message[]): readonly number[] {
  let clock = Number.NEGATIVE_INFINITY
  return messages.map((message, i) => (clock = Math.max(clock, instantOf(message, i + 1))))
}

/** Returns the epoch ms at which a run ends: the newest message's time plus the tail. */
export function untilOf(messages: readonly Message[], tail: number): number {
  return Math.max(0, clockTimes(messages).at(-1) ?? 0) + tail
}

/** Returns the current states of all nodes, and the newest messages. */
export function lookAt(
  labels: Labels,
  nodeOf: (label: string) => ReturnType<Task['node']> | undefined,
  latest: ReadonlyMap<string, Message>,
  newest: Message | undefined,
): Pick<Moment, 'state' | 'latest'> {
  const states = new Map<string, string>()
  for (const label of labels.sources) {
    const best = nodeOf(label)?.mostLikelyState
    if (best?.probability === 1) states.set(label, best.state)
  }
  return {
    state(node) {
      const state = states.get(node)
      if (state === undefined) requireLabel(node, labels.sources, 'sensor or gate')
      return state ?? null
    },
    latest: (resource) => (resource === undefined ? newest : latest.get(resource)),
  }
}

export interface Labels {
  /** labels of sensors and gates, which have states */
  readonly sources: readonly string[]
  readonly destinations: readonly string[]
}

export function labelsOf({ sensors = [], relations = [], actuators = [] }: RuleGraph): Labels {
  const sensorLabels = sensors.map(({ label }) => label)
  return {
    sources: [...sensorLabels, ...relations.map(({ label }) => label)],
    destinations: [...actuators.map(({ label }) => label), ...sensorLabels],
  }
}

export function requireLabel(label: string, labels: readonly string[], what: string): void {
  if (labels.includes(label)) return
  const near = nearest(label, labels)
  const hint = near === undefined ? `it has ${labels.join(', ') || 'none'}` : `did you mean "${near}"?`
  throw new AppError('NOT_FOUND', `the rule has no ${what} "${label}"; ${hint}`)
}

export function requireLabels(properties: readonly { readonly labels?: Partial<Labels> }[], known: Labels): void {
  for (const { labels = {} } of properties) {
    for (const label of labels.sources ?? []) requireLabel(label, known.sources, 'sensor or gate')
    for (const label of labels.destinations ?? []) requireLabel(label, known.destinations, 'destination of a trigger')
  }
}

function isFired(event: EngineEvent): event is FiredEvent {
  return event.type === 'fired'
}

function isFailure(event: EngineEvent): event is ResultEvent {
  return event.type === 'result' && !event.ok
}
