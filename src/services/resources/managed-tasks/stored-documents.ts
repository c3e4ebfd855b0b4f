/** The documents as upkeep reads them: what is stored, and nothing that somebody remembers of it. */
import type { Repositories } from '../repositories.ts'
import type { ReconcilerDocuments } from './reconcile.ts'

export function storedDocuments(library: Repositories): ReconcilerDocuments {
  const ofType = (type: string) => [{ field: 'resourceTypeId', op: 'eq', value: type }] as const
  return {
    resource: async (tenant, id) => (await library.of(tenant).resources.get(id))?.value.own,
    type: async (tenant, id) => (await library.of(tenant).types.get(id))?.value.own,
    ofType: (tenant, type, after, limit) =>
      library.of(tenant).resources.ids({ where: ofType(type), limit, ...(after !== undefined && { afterId: after }) }),
    isBusy: async (tenant, type, operation) =>
      (await library.of(tenant).types.get(type))?.value.operation === operation,
    countOfType: (tenant, type) => library.of(tenant).resources.count(ofType(type)),
  }
}
