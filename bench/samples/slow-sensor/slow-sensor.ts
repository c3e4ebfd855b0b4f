/**
 * One sample: messages for one task whose sensor takes a millisecond to answer, by the clock. They come as fast as the
 * task takes them, with some always waiting, fewer than a task lets wait.
 */
import { setTimeout } from 'node:timers/promises'
import { waitedForCore } from '../broker/core-waits.ts'
import { cpuMs } from '../spent.ts'
import { Evaluations, rateAlone } from './evaluations.ts'
import { MESSAGES, type Post, type SlowSensorRequest, type SlowSensorSample } from './subject.ts'

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
  const fed = await (place === 'library'
    ? (await import('./library.ts')).inLibrary(evaluations.plugs, posted)
    : (await import('./host.ts')).onHost(evaluations.plugs, posted))
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
