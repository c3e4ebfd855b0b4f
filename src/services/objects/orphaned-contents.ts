/** Tracks contents without an object, so that the sweep finds and deletes them, in this session or a later one. */
import { AppError, RepeatableWork, type Logger, messageOf, type StartTimer } from '#kernel'
import type { Condition, StoreTime, Write } from '#storage'
import type { ContentStore } from './contract.ts'
import type { ObjectTable } from './object-table.ts'

/** ms after which an unfinished upload is given up */
const CLAIM_MS = 86_400_000
const RETRY_MS = 60_000
const SLICE = 200
const CONCURRENCY = 8

export interface UploadClaim {
  readonly id: string
  readonly version: number
}

export interface OrphansDependencies {
  readonly tenant: string
  readonly table: ObjectTable
  readonly contents: ContentStore
  readonly newId: () => string
  readonly later: StartTimer
  readonly logger: Logger
}

/** Wake it after a commit that orphaned a content: it deletes what is orphaned, and retries. */
export class OrphanedContents extends RepeatableWork {
  readonly #dependencies: OrphansDependencies

  constructor(dependencies: OrphansDependencies) {
    const { tenant, later, logger } = dependencies
    super({
      work: () => this.#sweep(),
      later,
      retryMs: RETRY_MS,
      failed: (error) =>
        logger.warn(
          `orphaned contents of tenant ${tenant} could not be deleted; the sweep is retried: ${messageOf(error)}`,
        ),
    })
    this.#dependencies = dependencies
  }

  /** With `until` (epoch ms on the store's clock) the claim outlives the session. */
  async claim(until?: number): Promise<UploadClaim> {
    const { table, newId } = this.#dependencies
    const id = newId()
    const { ms, session } = await table.store.now()
    const ofSession = { until: ms + CLAIM_MS, ...(session !== undefined && { session }) }
    const claimed = until === undefined ? ofSession : { until }
    return { id, version: await table.orphans.put(id, claimed, 'absent') }
  }

  /** Returns a write for the commit that creates the content's object; it conflicts when the claim has expired. */
  ending({ id, version }: UploadClaim): Write {
    return this.#dependencies.table.orphans.deleting(id, version)
  }

  /** Returns a write for the commit that removes the last reference to a content. Call `wake` after the commit. */
  orphaning(content: string): Write {
    return this.#dependencies.table.orphans.putting(content, { until: 0 })
  }

  /** Deletes the content, unless an object was created for it after all. Never rejects; failures are retried. */
  async drop(claim: UploadClaim): Promise<void> {
    try {
      if (await this.#end(claim)) this.wake()
    } catch (error) {
      this.postpone(error)
    }
  }

  async #sweep(): Promise<void> {
    const { orphans, store } = this.#dependencies.table
    const where = [{ any: orphaned(await store.now()) }]
    let failure: unknown
    for (let after = ''; !this.isStopped;) {
      const found = await orphans.find({ where, limit: SLICE, ...(after !== '' && { afterId: after }) })
      for (let at = 0; at < found.length; at += CONCURRENCY) {
        const some = found.slice(at, at + CONCURRENCY)
        const deleted = await Promise.allSettled(
          some.map(({ id, version, value }) => this.#delete({ id, version }, value.until === 0)),
        )
        // one failure must not delay the other deletions
        for (const one of deleted) if (one.status === 'rejected') failure ??= one.reason
      }
      const last = found.at(-1)
      if (last === undefined || found.length < SLICE) break
      after = last.id
    }
    if (failure !== undefined) throw failure as Error
  }

  /** Deletes a content, and then its document, which is needed to find the content until then. */
  async #delete(claim: UploadClaim, isEnded: boolean): Promise<void> {
    // the writer of an open claim may still be active; ending the claim makes its commit fail
    if (!isEnded && !(await this.#end(claim))) return
    const { table, contents } = this.#dependencies
    await contents.remove(claim.id)
    await table.orphans.delete(claim.id)
  }

  async #end({ id, version }: UploadClaim): Promise<boolean> {
    try {
      await this.#dependencies.table.orphans.put(id, { until: 0 }, version)
      return true
    } catch (error) {
      if (error instanceof AppError && error.code === 'CONFLICT') return false
      throw error
    }
  }
}

/** Conditions for ended claims, expired claims, and claims of an earlier session. */
function orphaned({ ms, session }: StoreTime): readonly (readonly Condition[])[] {
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
