/**
 * Sample of messages for one task whose sensor takes a millisecond, by the clock. They arrive as fast as the task
 * accepts them, with some always waiting, below its queue limit.
 */
import { setTimeout } from 'node:timers/promises'
import type { Rule } from '../../../src/core/rule/rule.ts'
import type { MakeService } from '../../../src/host/wiring/service-dependencies.ts'
import { definePlug, type Plug } from '../../../src/plug.ts'
import { waitedForCore } from '../broker/core-waits.ts'
import { cpuMs } from '../spent.ts'

export interface SlowSensorRequest {
  /** `library`: an engine in this process; `host`: a whole host on SQLite, posted to by HTTP without a socket */
  readonly place: 'library' | 'host'
  /** whether the sensor's plug declares that it reads only the message, so that calls may begin ahead of their turn */
  readonly isAhead: boolean
}

export interface SlowSensorSample {
  /** messages per second, from the first post to the last evaluation */
  readonly perSecond: number
  /** sequential calls per second of the plug alone, in the same process directly before and after */
  readonly limit: number
  readonly lost: number
  /** messages waiting at the last post, and ms until their evaluation */
  readonly waiting: number
  readonly waitedMs: number
  readonly cpuMs: number
  /** share of time in which the main thread was runnable without a core */
  readonly noCore: number
}

/** Posts the message with that number; the promise resolves when it is accepted. */
type Post = (n: number) => void | Promise<void>

/** limit of waiting messages */
const MAX_WAITING = 500
const ALONE = 1_000
/** concurrent posts */
const LANES = { library: 1, host: 32 }
/** ms between two polls, and ms without progress before giving up */
const LOOK = 5
const PATIENCE = 2_000

export async function slowSensorSample({ place, isAhead }: SlowSensorRequest): Promise<SlowSensorSample> {
  const lanes = LANES[place]
  const evaluations = new Evaluations({ count: MESSAGES, lanes, isAhead })
  const before = await rateAlone(ALONE)
  const posted = (post: Post): Promise<Fed> => feed(post, evaluations, lanes)
  const fed = await (place === 'library' ? inLibrary(evaluations.plugs, posted) : onHost(evaluations.plugs, posted))
  evaluations.expectAll(fed.posted)
  const after = await rateAlone(ALONE)
  const { wallMs, waiting, waitedMs, cpu, waitedForCoreMs } = fed
  return {
    perSecond: (MESSAGES * 1_000) / wallMs,
    limit: 2 / (1 / before + 1 / after),
    lost: fed.posted - evaluations.done,
    waiting,
    waitedMs,
    cpuMs: cpu,
    noCore: waitedForCoreMs / wallMs,
  }
}

interface Fed {
  readonly posted: number
  readonly wallMs: number
  readonly waiting: number
  readonly waitedMs: number
  readonly cpu: number
  readonly waitedForCoreMs: number
}

async function feed(post: Post, evaluations: Evaluations, lanes: number): Promise<Fed> {
  let posted = 0
  let looked = { done: 0, at: performance.now() }
  const isStuck = (): boolean => {
    const now = performance.now()
    if (evaluations.done > looked.done) looked = { done: evaluations.done, at: now }
    return now - looked.at > PATIENCE
  }
  const untilFewerWait = async (than: number): Promise<boolean> => {
    while (posted - evaluations.done >= than && !isStuck()) await setTimeout(LOOK)
    return posted - evaluations.done < than
  }
  const lane = async (first: number): Promise<void> => {
    for (let n = first; n < MESSAGES && (await untilFewerWait(MAX_WAITING)); n += lanes) {
      posted++
      await post(n)
    }
  }
  const [start, cpu, core] = [performance.now(), cpuMs(), waitedForCore()]
  await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)))
  const [waiting, last] = [posted - evaluations.done, performance.now()]
  await untilFewerWait(1)
  const end = performance.now()
  return {
    posted,
    wallMs: end - start,
    waiting,
    waitedMs: end - last,
    cpu: cpuMs() - cpu,
    waitedForCoreMs: waitedForCore() - core,
  }
}

const RESOURCE = 'boiler-0'

async function inLibrary<Result>(plugs: readonly Plug[], work: (post: Post) => Promise<Result>): Promise<Result> {
  const { createEngine } = await import('../../../src/index.ts')
  const engine = createEngine({ plugs, why: false })
  try {
    await engine.start(RULE, { resource: RESOURCE })
    return await work((n) => void engine.receive({ resource: RESOURCE, ...messageOf(n) }))
  } finally {
    await engine.close()
  }
}

async function onHost<Result>(plugs: readonly Plug[], work: (post: Post) => Promise<Result>): Promise<Result> {
  const { makeRulesWith } = await import('../../../src/host/wiring/make-rules.ts')
  const { SERVICES } = await import('../../../src/host/wiring/service-table.ts')
  const { openHost, posting } = await import('../broker/open-host.ts')
  const { withFolder } = await import('../host/folder.ts')
  return withFolder(async (folder) => {
    const rules: MakeService = (parts) => makeRulesWith(plugs, parts)
    const app = await openHost(folder, new Map([...SERVICES, ['rules', rules]]))
    const post = posting(app)
    try {
      await post('/api/tasks', { ...RULE, task: { name: 'warm', type: 'reactive', resource: RESOURCE } })
      return await work((n) => post(`/resources/${RESOURCE}/events`, messageOf(n)))
    } finally {
      await app.close()
    }
  })
}

/** ms of the sensor */
const LATENCY = 1
const LIMIT = 25

/** Numbered messages, the rule that evaluates them, and their outcomes: every message calls one of two actuators. */
const MESSAGES = 10_000

type NumberedMessage = Readonly<Record<'n' | 'temperature', number>>

function messageOf(n: number): NumberedMessage {
  return { n, temperature: (n * 7) % 50 }
}

const RULE: Rule = {
  sensors: [{ label: 'warm', name: 'slowSensor', resource: '$' }],
  actuators: ['Above', 'NotAbove'].map((state) => ({ label: state, name: 'note', properties: { state } })),
  triggers: ['Above', 'NotAbove'].map((state) => {
    return { sourceLabel: 'warm', destinationLabel: state, statesTrigger: [state] }
  }),
}

type State = 'Above' | 'NotAbove'

async function compared(temperature: number): Promise<State> {
  await setTimeout(LATENCY)
  return stateOf(temperature)
}

function stateOf(temperature: number): State {
  return temperature > LIMIT ? 'Above' : 'NotAbove'
}

/** Sequential calls per second of the sensor without an engine. */
async function rateAlone(calls: number): Promise<number> {
  const start = performance.now()
  for (let n = 0; n < calls; n++) await compared(messageOf(n).temperature)
  return (calls * 1_000) / (performance.now() - start)
}

class Evaluations {
  readonly plugs: readonly Plug[]
  /** evaluated messages, each counted once */
  done = 0
  readonly #count: number
  readonly #seen: Uint8Array
  readonly #latest: Int32Array
  readonly #mistakes = { twice: 0, 'with another state': 0, 'after a later one': 0 }

  /** Numbers are below `count`. Posts go in `lanes`: number n in lane n % lanes, each awaits its answer. */
  constructor({ count, lanes, isAhead }: { count: number; lanes: number; isAhead: boolean }) {
    this.#count = count
    this.#seen = new Uint8Array(count)
    this.#latest = new Int32Array(lanes).fill(-1)
    const sensor = definePlug({
      name: 'slowSensor',
      version: '1.0.0',
      kind: 'sensor',
      states: ['NotAbove', 'Above'],
      ...(isAhead && { reads: 'message' }),
      execute: (context) => compared(Number(context.streamValue('temperature'))),
    })
    const note = definePlug({
      name: 'note',
      version: '1.0.0',
      kind: 'actuator',
      input: { state: { type: 'string', mandatory: true } },
      execute: (context) => this.#note(Number(context.streamValue('n')), context.properties.state),
    })
    this.plugs = [sensor, note]
  }

  /** Throws unless every message was evaluated once, correctly, and in order; `posted`: their number. */
  expectAll(posted: number): void {
    const mistakes = Object.entries(this.#mistakes).filter(([, count]) => count > 0)
    if (this.done === this.#count && mistakes.length === 0) return
    const texts = mistakes.map(([what, count]) => `, ${count} evaluated ${what}`)
    throw new Error(`${posted - this.done} of ${posted} messages are lost${texts.join('')}`)
  }

  #note(n: number, state: string): void {
    const lane = n % this.#latest.length
    if (this.#seen[n] === 1) this.#mistakes.twice++
    else this.done++
    if (state !== stateOf(messageOf(n).temperature)) this.#mistakes['with another state']++
    if (n < (this.#latest[lane] ?? -1)) this.#mistakes['after a later one']++
    this.#seen[n] = 1
    this.#latest[lane] = n
  }
}
