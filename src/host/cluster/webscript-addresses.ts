/**
 * Finds the owners of webscripts called by id, for hosts that do not have their tenants. A tenant's owner writes the
 * ids of its webscripts to the shared store; other hosts look there and cache the result. An id is derived from tenant
 * and name, so it always belongs to the same tenant.
 */
import { CALL_BASES } from '#services/webscripts'
import { decodedText, LruCache } from '#kernel'
import type { CollectionSpec, Store } from '#storage'
import { isTenant } from '../tenant.ts'
import type { Timers } from '../timers.ts'

const ADDRESSES: CollectionSpec<{ readonly tenant: string }> = { name: 'webscript_addresses', version: 1, fields: {} }
const ID = /^[0-9a-f]{32}$/
const MAX_KNOWN = 100_000
const AT_ONCE = 500
/** How long an id is cached as unknown, in ms */
const NOBODYS_MS = 1_000

export class WebscriptAddresses {
  readonly #addresses: ReturnType<typeof collectionOf>
  readonly #timers: Pick<Timers, 'elapsed'>
  readonly #tenants = new LruCache<string, string>(MAX_KNOWN)
  readonly #nobodys = new LruCache<string, number>(MAX_KNOWN)

  constructor(store: Store, timers: Pick<Timers, 'elapsed'>) {
    this.#addresses = collectionOf(store)
    this.#timers = timers
  }

  /** Resolves when all hosts see the change. */
  async tell(tenant: string, ids: readonly string[], former: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const some = ids.slice(at, at + AT_ONCE)
      const known = new Set((await this.#addresses.getMany(some)).map(({ id }) => id))
      for (const id of some) if (!known.has(id)) await this.#addresses.put(id, { tenant })
    }
    for (const id of former) await this.#addresses.delete(id)
  }

  /** The tenant of an address with tenant and name, or with an id; undefined for other addresses. */
  tenantOf(url: string): string | undefined | Promise<string | undefined> {
    const base = CALL_BASES.find((one) => url.startsWith(`${one}/`))
    if (base === undefined) return undefined
    const [, written = ''] = /^\/([^/?]*)/.exec(url.slice(base.length)) ?? []
    const first = decodedText(written)
    const named = isTenant(first) ? first : undefined
    if (!ID.test(first)) return named
    return this.#tenants.get(first) ?? this.#looked(first).then((found) => found ?? named)
  }

  async #looked(id: string): Promise<string | undefined> {
    const since = this.#nobodys.get(id)
    if (since !== undefined && this.#timers.elapsed() - since < NOBODYS_MS) return undefined
    const found = (await this.#addresses.get(id))?.value.tenant
    if (found === undefined) this.#nobodys.set(id, this.#timers.elapsed())
    else this.#tenants.set(id, found)
    return found
  }
}

function collectionOf(store: Store) {
  return store.collection(ADDRESSES)
}
