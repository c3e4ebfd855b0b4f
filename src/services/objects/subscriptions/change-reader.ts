/** Forwards each object change once and in order, in the same commit as the reader's new position. */
import { RepeatableWork, type Logger, messageOf, retryOnConflict, type StartTimer } from '#kernel'
import type { CollectionSpec, Store, Stored, Write } from '#storage'
import { isHidden, type ObjectChange, type ObjectChanges, type ObjectForwarding } from '../contract.ts'
import type { Outbox } from './outbox.ts'
import { isAbout, MAX_SUBSCRIPTIONS, SUBSCRIPTIONS, type SubscriptionRecord } from './subscription-record.ts'

interface Cursor {
  readonly position: number
}

const CURSORS: CollectionSpec<Cursor> = { name: 'object_change_cursors', version: 1, fields: {} }
const CURSOR = 'changes'
const PAGE = 500
/** number of forwarded changes that stay in the log */
const KEPT = 1_000
const AGAIN_MS = 2_000
const MAX_BUCKETS = 10

export interface ChangeReaderOptions {
  readonly tenant: string
  readonly store: Store
  readonly changes: ObjectChanges
  readonly outbox: Outbox
  readonly system: readonly SubscriptionRecord[]
  /** returns undefined while rules are not served */
  readonly engine: () => ObjectForwarding | undefined
  readonly later: StartTimer
  readonly logger: Logger
}

/** `idle` resolves when all committed changes are forwarded, or forwarding has failed. */
export class ChangeReader extends RepeatableWork {
  readonly #options: ChangeReaderOptions

  constructor(options: ChangeReaderOptions) {
    const { tenant, later, logger } = options
    super({
      work: () => this.#read(),
      later,
      retryMs: AGAIN_MS,
      failed: (error) =>
        logger.error(`changes of objects of tenant ${tenant} are delayed: ${messageOf(error)}; they are retried`),
    })
    this.#options = options
  }

  async #read(): Promise<void> {
    const { store, changes } = this.#options
    const cursors = store.collection(CURSORS)
    for (let cursor = await cursors.get(CURSOR); !this.isStopped;) {
      const page = await changes.read(cursor?.value.position ?? 0, PAGE)
      if (page.length === 0) return
      const subscriptions = await this.#subscriptions()
      for (const change of page) {
        if (this.isStopped) return
        cursor = await this.#handOn(change, subscriptions, cursor)
      }
      const last = cursor?.value.position ?? 0
      if (last > KEPT) await changes.trim(last - KEPT)
    }
  }

  /** Forwards a change. Returns the new cursor, which another host may have written. */
  async #handOn(
    change: ObjectChange,
    subscriptions: readonly (readonly [key: string, record: SubscriptionRecord])[],
    cursor: Stored<Cursor> | undefined,
  ): Promise<Stored<Cursor> | undefined> {
    const { store, outbox } = this.#options
    const cursors = store.collection(CURSORS)
    if (change.position <= (cursor?.value.position ?? 0)) return cursor
    const keys = subscriptions.flatMap(([key, record]) => (isAbout(record, change) ? [key] : []))
    const value = { position: change.position }
    return retryOnConflict(async (attempt) => {
      // a lane changed meanwhile, or another host forwarded the change
      const now = attempt === 1 ? cursor : await cursors.get(CURSOR)
      if ((now?.value.position ?? 0) >= change.position) return now
      const added = await outbox.adding(change, keys)
      await this.#commit(change, [cursors.putting(CURSOR, value, now?.version ?? 'absent'), ...added.writes])
      outbox.added(added)
      return { id: CURSOR, version: (now?.version ?? 0) + 1, value }
    })
  }

  #commit(change: ObjectChange, writes: readonly Write[]): Promise<unknown> {
    const { store, engine } = this.#options
    const forwarding = isHidden(change.object.path) ? undefined : engine()
    return forwarding === undefined ? store.commit(writes) : forwarding.receive(change, writes)
  }

  async #subscriptions(): Promise<readonly (readonly [string, SubscriptionRecord])[]> {
    const { store, system } = this.#options
    const found = await store.collection(SUBSCRIPTIONS).find({ limit: MAX_SUBSCRIPTIONS * MAX_BUCKETS })
    const builtIn = system.map((record) => [`${record.bucket}/${record.id}`, record] as const)
    return [...builtIn, ...found.map(({ id, value }) => [id, value] as const)]
  }
}
