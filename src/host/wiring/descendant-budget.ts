/**
 * How much rules may make of one arrival: hops bound how deep rules set each other off, and this how wide. It stands
 * before the ports that plugs act by, so that a refusal is the answer of the plug: it is logged and played again as any
 * other answer, and no state depends on the counts in here. These are therefore in memory alone and bounded: after a
 * restart, or when too many newer roots have pushed one out, its counting begins again, which lets a loop make as much
 * once more and nothing worse.
 *
 * DESCEND-1 of one root, at most the budget comes about within ten minutes, beside what its own rules make directly:
 *   the wide work of one rule is not a loop, and is never refused here
 * DESCEND-2 what failed does not count
 */
import type { Cause } from '#core/spi'
import type { PlugServices } from '#core'
import { AppError, LruCache } from '#kernel'

/** What became of one root lately. */
interface Count {
  /** epoch ms */
  readonly since: number
  made: number
  /** who made the later half of it, by `node of task`; made when it comes to that */
  members: Set<string> | undefined
}

interface Loop {
  readonly resource: string
  readonly members: Set<string>
  /** epoch ms of the last refusal, and of the last line of the log */
  refusedAt: number
  toldAt: number | undefined
}

export interface BudgetDependencies {
  readonly tenant: string
  /** descendants of one root */
  readonly most: number
  /** epoch ms */
  readonly now: () => number
  readonly warn: (text: string) => void
}

/** Period of the count: a task may act for years after one message, and rare effects are not a loop. */
const PERIOD_MS = 600_000
/** roots of one tenant that are counted at once, about 5 MB */
const MAX_ROOTS = 20_000
/** nodes of a loop that are named */
const MAX_MEMBERS = 8
/** loops of one tenant that are remembered */
const MAX_LOOPS = 10
/** ms between two lines of the log about one loop, and about any */
const LINE_MS = 60_000
const ANY_LINE_MS = 5_000
/** Time after its last refusal for which a loop is reported, in ms */
const TOLD_MS = 300_000

/** Of one tenant. */
export class DescendantBudget {
  /** since the start */
  refused = 0
  readonly #dependencies: BudgetDependencies
  /** by root */
  readonly #counts = new LruCache<string, Count>(MAX_ROOTS)
  /** by resource */
  readonly #loops = new LruCache<string, Loop>(MAX_LOOPS)
  /** epoch ms of the last line of the log */
  #toldAt: number | undefined

  constructor(dependencies: BudgetDependencies) {
    this.#dependencies = dependencies
  }

  /** Makes room for one more. `about`: the resource that it is of. `TOO_LARGE` beyond the budget. */
  take(cause: Cause, about: string): void {
    const { most, now } = this.#dependencies
    const count = this.#countOf(cause, now())
    const isOver = count.made >= most && cause.hops > 1
    if (count.made * 2 >= most || isOver) {
      count.members ??= new Set()
      if (count.members.size < MAX_MEMBERS) count.members.add(nameOf(cause))
    }
    if (isOver) throw this.#refusal(cause, about, count.members ?? new Set())
    count.made++
  }

  /** What room was made for has not come about. */
  giveBack({ root, effect }: Cause): void {
    const count = this.#counts.peek(root ?? effect)
    if (count !== undefined) count.made = Math.max(0, count.made - 1)
  }

  /** The loops that were refused something in the last minutes, a sentence each. */
  loops(): readonly string[] {
    const { tenant, now } = this.#dependencies
    return [...this.#loops.values()]
      .filter(({ refusedAt }) => now() - refusedAt <= TOLD_MS)
      .map((loop) => `tenant ${tenant}: ${sentenceOf(loop)}`)
  }

  #countOf({ root, effect }: Cause, now: number): Count {
    const known = this.#counts.get(root ?? effect)
    if (known !== undefined && now - known.since < PERIOD_MS) return known
    const fresh: Count = { since: now, made: 0, members: undefined }
    this.#counts.set(root ?? effect, fresh)
    return fresh
  }

  #refusal(cause: Cause, about: string, members: ReadonlySet<string>): AppError {
    const { tenant, most, now, warn } = this.#dependencies
    this.refused++
    const loop = this.#loops.get(about) ?? newLoop(about)
    this.#loops.set(about, loop)
    const time = now()
    loop.refusedAt = time
    for (const member of [nameOf(cause), ...members]) if (loop.members.size < MAX_MEMBERS) loop.members.add(member)
    if (isPast(loop.toldAt, time, LINE_MS) && isPast(this.#toldAt, time, ANY_LINE_MS)) {
      loop.toldAt = time
      this.#toldAt = time
      warn(`tenant ${tenant}: ${sentenceOf(loop)}; more than ${most} messages, commands and alarms came of one arrival`)
    }
    return new AppError(
      'TOO_LARGE',
      `${most} messages, commands and alarms came of one arrival already, and rules may not make more of it: ${sentenceOf(loop)}; break the ring of rules, or start the host with a larger --max-descendants`,
    )
  }
}

function newLoop(resource: string): Loop {
  return { resource, members: new Set(), refusedAt: 0, toldAt: undefined }
}

function isPast(before: number | undefined, now: number, ms: number): boolean {
  return before === undefined || now - before >= ms
}

function nameOf({ node, task }: Cause): string {
  return `${node} of task ${task}`
}

function sentenceOf({ resource, members }: Loop): string {
  return `rules set each other off over resource ${resource}: ${[...members].join(', ')}`
}

/** The same services for plugs, each of whose effects that may wake rules finds room in the budget first. */
export function withinBudget(services: PlugServices, budget: DescendantBudget): PlugServices {
  const within = async <T>(cause: Cause, about: string, act: () => Promise<T>): Promise<T> => {
    budget.take(cause, about)
    try {
      return await act()
    } catch (error) {
      budget.giveBack(cause)
      throw error
    }
  }
  const { alarms, data, objects, webscripts } = services
  return {
    ...services,
    ...(alarms && {
      alarms: {
        ...alarms,
        raise: (alarm, cause) => within(cause, alarm.source, () => alarms.raise(alarm, cause)),
        update: (id, change, cause) => within(cause, `of alarm ${id}`, () => alarms.update(id, change, cause)),
        clear: (source, type, cause) => within(cause, source, () => alarms.clear(source, type, cause)),
      },
    }),
    ...(objects && {
      objects: {
        ...objects,
        put: (bucket, path, text, options, cause) =>
          within(cause, `of bucket ${bucket}`, () => objects.put(bucket, path, text, options, cause)),
      },
    }),
    ...(data && {
      data: {
        ...data,
        post: (resource, message, how, cause) =>
          within(cause, resource, () => data.post(resource, message, how, cause)),
        command: (resource, command, cause) => within(cause, resource, () => data.command(resource, command, cause)),
      },
    }),
    ...(webscripts && {
      webscripts: {
        call: (request, cause, signal) =>
          within(cause, `of webscript ${request.name}`, () => webscripts.call(request, cause, signal)),
      },
    }),
  }
}
