/** Reads the audit entries of one tenant, and removes old ones. */
import { AUDIT_ENTRIES, type AuditEntry, type Collection, type Condition, type Store, type Stored } from '#storage'
import type { AuditApi, AuditEntryInfo, AuditPage, AuditQuery, AuditService } from './contract.ts'

export interface AuditOptions {
  readonly tenant: string
  readonly store: Store
  /** Store of the host, with changes of keys */
  readonly hostStore: Store
  /** Returns epoch ms */
  readonly now: () => number
  /** Returns how long entries are kept, in ms */
  readonly age: () => number
}

const PAGE = 100
const PORTION = 1_000

export interface InternalAudit extends AuditService {
  /** Removes entries that are older than the configured age. */
  forget(): Promise<void>
}

export function createAuditService(options: AuditOptions): InternalAudit {
  return new Audit(options)
}

class Audit implements InternalAudit, AuditApi {
  readonly #options: AuditOptions
  readonly #sources: readonly Collection<AuditEntry>[]

  constructor(options: AuditOptions) {
    this.#options = options
    this.#sources = [options.store, options.hostStore].map((store) => store.collection(AUDIT_ENTRIES))
  }

  as(): AuditApi {
    return this
  }

  async entries({ limit = PAGE, after, from, until, who, path }: AuditQuery = {}): Promise<AuditPage> {
    const where: readonly Condition[] = [
      { field: 'tenant', op: 'eq', value: this.#options.tenant },
      ...(who === undefined ? [] : [{ field: 'user', op: 'eq', value: who } as const]),
      ...(path === undefined ? [] : [{ field: 'path', op: 'startsWith', value: path } as const]),
      ...(from === undefined ? [] : [{ field: 'at', op: 'gte', value: from } as const]),
      ...(until === undefined ? [] : [{ field: 'at', op: 'lt', value: until } as const]),
    ]
    const query = { where, limit: limit + 1, ...(after !== undefined && { afterId: after }) }
    const found = await Promise.all(this.#sources.map((source) => source.find(query)))
    const sorted = found.flat().toSorted((one, other) => (one.id < other.id ? -1 : 1))
    const values = sorted.slice(0, limit).map(infoOf)
    const next = sorted.length > limit ? values.at(-1)?.id : undefined
    return { values, ...(next !== undefined && { next }) }
  }

  async *exported(query: Omit<AuditQuery, 'after' | 'limit'> = {}): AsyncGenerator<AuditEntryInfo> {
    for (let after: string | undefined; ;) {
      const page = await this.entries({ ...query, limit: PORTION, ...(after !== undefined && { after }) })
      yield* page.values
      if (page.next === undefined) return
      after = page.next
    }
  }

  async forget(): Promise<void> {
    const { tenant, now, age } = this.#options
    const where: readonly Condition[] = [
      { field: 'tenant', op: 'eq', value: tenant },
      { field: 'at', op: 'lt', value: now() - age() },
    ]
    for (const source of this.#sources) {
      for (;;) {
        const ids = await source.ids({ where, limit: PORTION })
        for (const id of ids) await source.delete(id)
        if (ids.length < PORTION) break
      }
    }
  }
}

function infoOf({ id, value: { tenant: _tenant, at, changes, ...actor } }: Stored<AuditEntry>): AuditEntryInfo {
  const time = new Date(at).toISOString()
  return { id, time, ...actor, changes: changes.map((one) => ({ ...one, difference: [...one.difference] })) }
}
