/** Determines the members of groups with the resources service, and follows changes of resources. */
import type { Group, Ports } from '#core'
import type { InternalResources, ListQuery, ResourceEntity } from '#services/resources/contract'

const ENGINE = 'system/engine'
const PAGE = 100
/** One more than the members that a group may have, so that the engine rejects the group. */
const MOST = 1_000_001

export function membersOf(
  tenant: string,
  resources: () => InternalResources | undefined,
): NonNullable<Ports['members']> {
  return async (group) => {
    const service = resources()
    if (service === undefined) return []
    const api = service.as({ tenant, user: ENGINE }).resources
    const ids: string[] = []
    while (ids.length < MOST) {
      const query = { ...queryOf(group), skip: ids.length, limit: PAGE }
      const { values }: { readonly values: readonly ResourceEntity[] } =
        group.parent === undefined ? await api.list(query) : await api.children(group.parent, query)
      ids.push(...values.map(({ id }) => id))
      if (values.length < PAGE) break
    }
    return ids
  }
}

function queryOf({ type, tag, query }: Group): ListQuery {
  return {
    ...(type !== undefined && { resourceTypeId: type }),
    ...(tag !== undefined && { tag }),
    ...(query !== undefined && { query }),
  }
}

/** Calls `changed` after each change of resources or types; returns what ends that. */
export function followResources(
  tenant: string,
  resources: () => InternalResources | undefined,
  changed: () => void,
): () => void {
  const ending = new AbortController()
  const reader = resources()?.as({ tenant, user: ENGINE }).changes({ signal: ending.signal })
  if (reader === undefined) return () => undefined
  void (async () => {
    for await (const _ of reader) changed()
  })().catch(() => undefined)
  return () => ending.abort()
}
