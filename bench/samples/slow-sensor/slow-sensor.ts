/**
 * One sample: messages for one task whose sensor takes a millisecond to answer, by the clock. They come as fast as the
 * task takes them, with some always waiting, fewer than a task lets wait.
 */
import { setTimeout } from 'node:timers/promises'
import type { MakeService } from '../../../src/host/wiring/service-dependencies.ts'
import type { Plug } from '../../../src/plug.ts'
import { waitedForCore } from '../broker/core-waits.ts'
import { cpuMs } from '../spent.ts'
import { Evaluations, MESSAGES, messageOf, rateAlone, RULE } from './evaluations.ts'

export interface SlowSensorRequest {
  /** `library`: an engine in this process; `host`: a whole host on SQLite, posted to by HTTP without a socket */
  readonly place: 'library' | 'host'
  /** whether the sensor's plug declares that it reads the message alone, so that calls may begin ahead of their turn */
  readonly isAhead: boolean
}

export interface SlowSensorSample {
  /** messages per second, from the first post until the last was evaluated */
  readonly perSecond: number
  /** calls per second of the plug alone, one after the other, in the same process right before and after */
  readonly limit: number
  /** messages that were never evaluated; there is no sample with any */
  readonly lost: number
  /** messages that waited when the last was posted, and ms until they were evaluated */
  readonly waiting: number
  readonly waitedMs: number
  /** CPU time of the main thread, ms */
  readonly cpuMs: number
  /** share of the time in which the main thread had work and no core */
  readonly noCore: number
}

/** Posts the message with that number; a promise resolves when it was taken. */
type Post = (n: number) => void | Promise<void>

/** messages that wait at most */
const MAX_WAITING = 500
/** calls of the plug alone, before and after */
const ALONE = 1_000
/** posts under way at a time */
const LANES = { library: 1, host: 32 }
/** ms between two looks at what waits, and after which nothing more is expected */
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
  /** from the first post until the last message was evaluated */
  readonly wallMs: number
  readonly waiting: number
  readonly waitedMs: number
  readonly cpu: number
  readonly waitedForCoreMs: number
}

/** Ends early when nothing is evaluated any more. */
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

/** One task in an engine on the machine's clock. */
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

/** One task in a whole host on SQLite. */
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
