/** The documents as the reconciler reads them: what is stored, and nothing that somebody remembers of it. */
import type { CollectionsByTenant } from '../collections.ts'
import type { ReconcilerDocuments } from './reconcile.ts'

export function storedDocuments(collectionsByTenant: CollectionsByTenant): ReconcilerDocuments {
  const ofType = (type: string) => [{ field: 'resourceTypeId', op: 'eq', value: type }] as const
  return {
    resource: async (tenant, id) => (await collectionsByTenant.of(tenant).resources.get(id))?.value.own,
    type: async (tenant, id) => (await collectionsByTenant.of(tenant).types.get(id))?.value.own,
    ofType: (tenant, type, after, limit) =>
      collectionsByTenant
        .of(tenant)
        .resources.ids({ where: ofType(type), limit, ...(after !== undefined && { afterId: after }) }),
    isBusy: async (tenant, type, operation) =>
      (await collectionsByTenant.of(tenant).types.get(type))?.value.operation === operation,
    countOfType: (tenant, type) => collectionsByTenant.of(tenant).resources.count(ofType(type)),
  }
}
