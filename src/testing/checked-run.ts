/** One run of a rule over made-up messages, as properties look at it. */
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

/** Where a process dies. */
export interface CrashPoint {
  /** after so many messages */
  readonly after: number
  /** how much of the time until the next message passes while it is dead, 0 to 1 */
  readonly down: number
  /** it dies before plugs have answered that message */
  readonly inFlight: boolean
}

/** What a run was made of; enough to run it again. */
export interface RunCase {
  readonly rule: Rule | Template
  readonly messages: readonly Message[]
  /** where `restarted` lets the process die, ascending */
  readonly crashes: readonly CrashPoint[]
  /** of the engine's chance; default 1 */
  readonly seed?: number
  /** over those of the options */
  readonly variables?: Readonly<Record<string, unknown>>
  /** by resource; over those of the options */
  readonly metadata?: Metadata
}

export type Metadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface CheckedRun extends RunCase {
  readonly events: readonly EngineEvent[]
  /** the state of affairs after the start, after each message, and after each instant at which the clock made something happen */
  readonly moments: readonly Moment[]
  /** epoch ms */
  readonly from: number
  readonly until: number
  /** firings of one destination, or of all. `NOT_FOUND` for a label that the rule does not have */
  firings(node?: string): readonly FiredEvent[]
  /** how often the run went on without an answer that a plug owed */
  readonly unanswered: number
  /** how the task stood at the end */
  saved(): SavedTask
  /** the same messages, but the process dies at every crash point and goes on from what was saved */
  restarted(how?: RestartOptions): Promise<CheckedRun>
  /** the same case again, or another that is made of it */
  again(changed?: Partial<RunCase>, how?: RunOptions): Promise<CheckedRun>
  /** the same case while nobody listens to anything but firings, as an engine runs live */
  unheard(): Promise<UnheardRun>
}

export interface RestartOptions {
  /** ms for which the process may be dead at most; default: no time passes */
  readonly down?: number
  /** the process may die while plugs are at work; default true */
  readonly inFlight?: boolean
}

/** What is left of a run to which nobody listened. */
export interface UnheardRun {
  readonly fired: readonly FiredEvent[]
  /** how the task stood at the end */
  readonly saved: SavedTask
}

export interface Moment {
  /** epoch ms */
  readonly time: number
  /** absent when it was the clock, or the start */
  readonly message?: Message
  /** what has fired since the moment before */
  readonly fired: readonly FiredEvent[]
  /** calls of plugs that failed since the moment before */
  readonly failed: readonly ResultEvent[]
  /** the state of a sensor or gate; null when it is not known. `NOT_FOUND` for a label that the rule does not have */
  state(node: string): string | null
  /** the newest message of a resource, or of any */
  latest(resource?: string): Message | undefined
}

export interface CaseOptions extends Pick<
  PlaybackOptions,
  'resource' | 'variables' | 'settings' | 'ports' | 'metadata'
> {
  /** ms of real time for which answers of plugs are waited for, once in a run */
  readonly patience: number
  /** those of each engine: the same for all, or made anew */
  readonly preparer: () => Preparer
  /** ms that the clock runs on after the last message */
  readonly tail: number
  /** makes code of text, as live engines do; absent where that is forbidden */
  readonly generate?: Generate | undefined
}

export interface RunOptions {
  readonly restarts?: RestartOptions
  /** ms by which answers of plugs come late, by label or name of the plug */
  readonly latency?: Readonly<Record<string, number>>
  /** other names of resources: of the task, of messages and of metadata, but not in the rule itself */
  readonly renamed?: (resource: string) => string
}

/** Runs a case. Errors: as `engine.start`. */
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
        // A late message that changes nothing is no moment of the rule.
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

/** A message, unless the rule leaves it out: it was measured before one of its resource that came earlier. */
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

/** How a task stands, given what happened since the moment before. */
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

/** Firings by destination, for a rule with these labels. */
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
    [{ rule: one.rule, onFired: (event) => void fired.push(event) }],
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

/** From when to when the process is dead at each crash, epoch ms: for `most` ms at most, and never until the next message. */
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

/** The clock at each message: a late one is taken at the time of the latest before it. */
export function clockTimes(messages: readonly Message[]): readonly number[] {
  let clock = Number.NEGATIVE_INFINITY
  return messages.map((message, i) => (clock = Math.max(clock, instantOf(message, i + 1))))
}

/** Epoch ms at which a run over these messages ends: none goes beyond the latest of them and the tail. */
export function untilOf(messages: readonly Message[], tail: number): number {
  return Math.max(0, clockTimes(messages).at(-1) ?? 0) + tail
}

/** The states of all nodes as they are now, and the newest messages. */
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

/** Labels of a rule by what may be asked of them. */
export interface Labels {
  /** sensors and gates, which have states */
  readonly sources: readonly string[]
  /** what triggers fire */
  readonly destinations: readonly string[]
}

export function labelsOf({ sensors = [], relations = [], actuators = [] }: RuleGraph): Labels {
  const sensorLabels = sensors.map(({ label }) => label)
  return {
    sources: [...sensorLabels, ...relations.map(({ label }) => label)],
    destinations: [...actuators.map(({ label }) => label), ...sensorLabels],
  }
}

/** Throws `NOT_FOUND` for a label that is none of these. */
export function requireLabel(label: string, labels: readonly string[], what: string): void {
  if (labels.includes(label)) return
  const near = nearest(label, labels)
  const hint = near === undefined ? `it has ${labels.join(', ') || 'none'}` : `did you mean "${near}"?`
  throw new AppError('NOT_FOUND', `the rule has no ${what} "${label}"; ${hint}`)
}

/** Throws `NOT_FOUND` for a label that properties look at and that none of these is. */
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
