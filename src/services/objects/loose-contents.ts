/**
 * Contents that no object refers to. A content is claimed before it is placed; the commit that makes an object of it ends
 * the claim, and whatever else happens, the document of the claim leads to it. So does that of a content which was
 * replaced or removed. The sweeper takes such contents away, in this life of the host or in a later one.
 */
import { AppError, RepeatableWork, type Logger, messageOf, type StartTimer } from '#kernel'
import type { Condition, StoreTime, Write } from '#storage'
import type { ContentStore } from './contract.ts'
import type { ObjectTable } from './object-table.ts'

/** ms: an upload that takes longer is given up */
const CLAIM_MS = 86_400_000
/** ms until what could not be taken away is tried again */
const RETRY_MS = 60_000
const SLICE = 200
/** contents that are taken away at a time */
const AT_ONCE = 8

export interface Claim {
  /** of the content */
  readonly id: string
  readonly version: number
}

export interface LooseDependencies {
  readonly contents: ContentStore
  /** never the same twice */
  readonly newId: () => string
  readonly later: StartTimer
  readonly logger: Logger
}

export class LooseContents {
  readonly #dependencies: LooseDependencies
  /** by tenant */
  readonly #sweeps = new Map<string, RepeatableWork>()
  #isStopped = false

  constructor(dependencies: LooseDependencies) {
    this.#dependencies = dependencies
  }

  /** `until` (epoch ms by the clock of the store): also in a later life of the host; else for as long as an upload takes. */
  async claim(table: ObjectTable, until?: number): Promise<Claim> {
    const id = this.#dependencies.newId()
    const { ms, session } = await table.store.now()
    const ofSession = { until: ms + CLAIM_MS, ...(session !== undefined && { session }) }
    const claimed = until === undefined ? ofSession : { until }
    return { id, version: await table.loose.put(id, claimed, 'absent') }
  }

  /** Part of the commit that makes an object of the content; `CONFLICT` when the claim is over. */
  ending({ loose }: ObjectTable, { id, version }: Claim): Write {
    return loose.deleting(id, version)
  }

  /** Part of the commit after which no object refers to a content. `sweep` is called after it. */
  letting({ loose }: ObjectTable, content: string): Write {
    return loose.putting(content, { until: 0 })
  }

  /** The content is not wanted: unless an object was made of it after all, it goes. Never rejects: it goes later then. */
  async drop(table: ObjectTable, { id, version }: Claim): Promise<void> {
    try {
      await table.loose.put(id, { until: 0 }, version)
      this.sweep(table)
    } catch (error) {
      if (error instanceof AppError && error.code === 'CONFLICT') return
      this.#sweepOf(table).postpone(error)
    }
  }

  /** Takes away, in the background, what no object refers to. */
  sweep(table: ObjectTable): void {
    this.#sweepOf(table).wake()
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.all([...this.#sweeps.values()].map((sweep) => sweep.idle()))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all([...this.#sweeps.values()].map((sweep) => sweep.stop()))
  }

  #sweepOf(table: ObjectTable): RepeatableWork {
    const { tenant } = table
    const known = this.#sweeps.get(tenant)
    if (known !== undefined) return known
    const { later, logger } = this.#dependencies
    const sweep: RepeatableWork = new RepeatableWork({
      work: () => this.#sweep(table, () => sweep.isStopped),
      later,
      retryMs: RETRY_MS,
      failed: (error) =>
        logger.warn(
          `contents of ${tenant} that nobody refers to could not be taken away; they are later: ${messageOf(error)}`,
        ),
    })
    if (this.#isStopped) void sweep.stop()
    this.#sweeps.set(tenant, sweep)
    return sweep
  }

  async #sweep(table: ObjectTable, isStopped: () => boolean): Promise<void> {
    const where = [{ any: nobodys(await table.store.now()) }]
    let failure: unknown
    for (let after = ''; !isStopped();) {
      const found = await table.loose.find({ where, limit: SLICE, ...(after !== '' && { afterId: after }) })
      for (let at = 0; at < found.length; at += AT_ONCE) {
        const some = found.slice(at, at + AT_ONCE)
        const taken = await Promise.allSettled(
          some.map(({ id, version, value }) => this.#take(table, { id, version }, value.until === 0)),
        )
        // one that stays must not hold up the others
        for (const one of taken) if (one.status === 'rejected') failure ??= one.reason
      }
      const last = found.at(-1)
      if (last === undefined || found.length < SLICE) break
      after = last.id
    }
    if (failure !== undefined) throw failure as Error
  }

  /** The document goes last: until then it leads to the content. */
  async #take(table: ObjectTable, claim: Claim, isLet: boolean): Promise<void> {
    // who claimed it may be there after all: from here on its commit is refused
    if (!isLet && !(await this.#end(table, claim))) return
    await this.#dependencies.contents.remove(table.tenant, claim.id)
    await table.loose.delete(claim.id)
  }

  async #end({ loose }: ObjectTable, { id, version }: Claim): Promise<boolean> {
    try {
      await loose.put(id, { until: 0 }, version)
      return true
    } catch (error) {
      if (error instanceof AppError && error.code === 'CONFLICT') return false
      throw error
    }
  }
}

/** What was let go, what was claimed for too long, and what an earlier session left. */
function nobodys({ ms, session }: StoreTime): readonly (readonly Condition[])[] {
  const due: readonly Condition[] = [{ field: 'until', op: 'lte', value: ms }]
  if (session === undefined) return [due]
  return [
    due,
    [
      { field: 'session', op: 'exists', value: true },
      { field: 'session', op: 'ne', value: session },
    ],
  ]
}
