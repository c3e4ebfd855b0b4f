/**
 * Limits how much rules may create in response to one arriving message. A refusal is the plug's result, so it is logged
 * and replayed like any other, and the counts need only be in memory.
 *
 * DESCEND-1 one root gets at most the budget of descendants within ten minutes, besides what its own rules create
 *   directly: the wide work of one rule is not a loop, and is never refused here
 * DESCEND-2 failed effects do not count
 */
import type { Cause } from '#core/spi'
import type { PlugServices } from '#core'
import { AppError, LruCache } from '#kernel'

interface Count {
  /** Start of the count, epoch ms */
  readonly since: number
  made: number
  /** Nodes that created the later half of the descendants, as `node of task`; created lazily */
  members: Set<string> | undefined
}

interface Loop {
  readonly resource: string
  readonly members: Set<string>
  /** Times of the last refusal and of the last log entry, epoch ms */
  refusedAt: number
  toldAt: number | undefined
}

export interface BudgetDependencies {
  readonly tenant: string
  /** Maximum number of descendants of one root */
  readonly most: number
  /** Returns epoch ms */
  readonly now: () => number
  readonly warn: (text: string) => void
}

/** Length of a counting period in ms: a task may act for years after one message, and rare effects are not a loop. */
const PERIOD_MS = 600_000
const MAX_ROOTS = 20_000
const MAX_MEMBERS = 8
const MAX_LOOPS = 10
/** Minimum ms between two log entries about one loop, and about any two loops */
const LINE_MS = 60_000
const ANY_LINE_MS = 5_000
/** How long after its last refusal a loop is reported in warnings, in ms */
const TOLD_MS = 300_000

export class DescendantBudget {
  refused = 0
  readonly #dependencies: BudgetDependencies
  readonly #counts = new LruCache<string, Count>(MAX_ROOTS)
  readonly #loops = new LruCache<string, Loop>(MAX_LOOPS)
  /** Time of the last log entry, epoch ms */
  #toldAt: number | undefined

  constructor(dependencies: BudgetDependencies) {
    this.#dependencies = dependencies
  }

  /** Reserves one descendant. `about`: the resource it concerns. Throws `TOO_LARGE` beyond the budget. */
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

  giveBack({ root, effect }: Cause): void {
    const count = this.#counts.peek(root ?? effect)
    if (count !== undefined) count.made = Math.max(0, count.made - 1)
  }

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
      warn(
        `tenant ${tenant}: ${sentenceOf(loop)}; one incoming message caused more than ${most} messages, commands and alarms`,
      )
    }
    return new AppError(
      'TOO_LARGE',
      `one incoming message already caused ${most} messages, commands and alarms, which is the limit: ${sentenceOf(loop)}; break the loop of rules, or start the host with a larger --max-descendants`,
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
  return `rules trigger each other through resource ${resource}: ${[...members].join(', ')}`
}

/** Wraps the services of plugs so that each effect that may wake rules is counted in the budget first. */
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
