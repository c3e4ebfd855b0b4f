/**
 * Reads from the store of a cluster which hosts own the tenants, and how far their tasks are behind acknowledged
 * messages, even if no host responds.
 */
import { type ClusterView, SLOT_TABLE, SLOT_TABLES, slotOf } from '#cluster'
import { AppError } from '#kernel'
import { LOG_NAME, MARK_ID, MARKS } from '#log'
import { inputOf, messagesOf } from '#services/rules'
import type { Storage, Store } from '#storage'
import { HOST_TENANT } from '../auth/host-tenant.ts'

/** Number of tenants shown by default */
const MAX_TENANTS = 100
const AT_ONCE = 4
/** Number of log entries inspected; later ones count like these on average */
const LOOKED_INTO = 1_000

export interface TenantView {
  readonly tenant: string
  /** Address of the live owner; null if the tenant has none */
  readonly host: string | null
  readonly behind: {
    readonly messages: number
    /** Age of the oldest unprocessed message; 0 if all are processed */
    readonly ms: number
  }
}

export interface ClusterTenants {
  readonly tenants: readonly TenantView[]
  readonly moreTenants: number
}

/** Returns one tenant, or the first `MAX_TENANTS`. Throws `NOT_FOUND` for an unknown tenant. */
export async function viewTenants(
  storage: Storage,
  { hosts }: Pick<ClusterView, 'hosts'>,
  tenant?: string,
): Promise<ClusterTenants> {
  const all = (await storage.tenants()).filter((one) => !one.startsWith('_'))
  if (tenant !== undefined && !all.includes(tenant)) {
    throw new AppError('NOT_FOUND', `the tenant ${JSON.stringify(tenant.slice(0, 100))} does not exist in the store`)
  }
  const shown = tenant === undefined ? all.toSorted().slice(0, MAX_TENANTS) : [tenant]
  const table = await storage.tenant(HOST_TENANT).collection(SLOT_TABLES).get(SLOT_TABLE)
  const there = new Map(hosts.flatMap(({ id, url, state }) => (state === 'gone' ? [] : [[id, url] as const])))
  const tenants: TenantView[] = []
  for (let at = 0; at < shown.length; at += AT_ONCE) {
    const views = shown.slice(at, at + AT_ONCE).map(async (name): Promise<TenantView> => {
      const host = there.get(table?.value.owners[slotOf(name)] ?? '') ?? null
      return { tenant: name, host, behind: await behindOf(storage.tenant(name)) }
    })
    tenants.push(...(await Promise.all(views)))
  }
  return { tenants, moreTenants: all.length - shown.length }
}

async function behindOf(store: Store): Promise<TenantView['behind']> {
  const log = store.log(LOG_NAME)
  const after = (await store.collection(MARKS).get(MARK_ID))?.value.position ?? 0
  const [entries, { last }, { ms: now }] = await Promise.all([log.read(after, LOOKED_INTO), log.bounds(), store.now()])
  const inputs = entries.flatMap(({ body }) => inputOf(body) ?? [])
  const data = inputs.flatMap((input) =>
    input.k === 'data' ? [{ at: input.at, count: messagesOf(input.m).length }] : [],
  )
  const rest = Math.max(0, last - (entries.at(-1)?.position ?? last))
  const inspected = data.reduce((sum, { count }) => sum + count, 0)
  const messages = Math.round(inspected * (1 + rest / Math.max(1, entries.length)))
  const [oldest] = data
  const at = oldest?.at ?? (rest > 0 ? inputs.at(-1)?.at : undefined)
  // the host's clock may be ahead of the store's
  return { messages, ms: at === undefined ? 0 : Math.max(0, now - at) }
}
