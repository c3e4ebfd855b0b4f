/** Subscriptions, imports and exports over fetch: records as answers have them. */
import { type Http, pathOf, typed } from '#services/shared/client'
import type { ExportInfo, ImportInfo, TransferQuery } from '../etl/transfer-schema.ts'
import type { Delivery, DeliveryState, Subscription, SubscriptionQuery } from '../subscriptions/subscription-schema.ts'

const BASE = '/storage/v1'

/** What the caller behind the credentials can do. Throws `VALIDATION`, `NOT_FOUND`, `CONFLICT`, `FORBIDDEN`. */
export interface SubscriptionsClient {
  list(bucket: string, query?: SubscriptionQuery): Promise<readonly Subscription[]>
  get(bucket: string, id: string): Promise<Subscription>
  create(bucket: string, subscription: object): Promise<Subscription>
  put(bucket: string, id: string, subscription: object): Promise<Subscription>
  remove(bucket: string, id: string): Promise<void>
  removeAll(bucket: string, query?: SubscriptionQuery): Promise<void>
  deliveries(bucket: string, id: string, query?: { readonly state?: DeliveryState }): Promise<readonly Delivery[]>
  /** imports of files into series, and exports */
  readonly transfers: TransfersClient
}

export interface TransfersClient {
  imports(query?: TransferQuery): Promise<readonly ImportInfo[]>
  import(id: string): Promise<ImportInfo>
  startExport(request: object): Promise<ExportInfo>
  export(id: string): Promise<ExportInfo>
}

export function subscriptionsClient(http: Http): SubscriptionsClient {
  const at = (bucket: string) => `${BASE}${pathOf`/subscription/${bucket}`}`
  const one = (bucket: string, id: string) => `${BASE}${pathOf`/subscription/${bucket}/${id}`}`
  return {
    list: async (bucket, query = {}) => {
      const page = await typed<{ readonly subscriptions: readonly Subscription[] }>(
        http.json('GET', at(bucket), { query: { ...query } }),
      )
      return page.subscriptions
    },
    get: (bucket, id) => typed(http.json('GET', one(bucket, id))),
    create: (bucket, body) => typed(http.json('POST', at(bucket), { body })),
    put: (bucket, id, body) => typed(http.json('PUT', one(bucket, id), { body })),
    remove: async (bucket, id) => void (await http.json('DELETE', one(bucket, id))),
    removeAll: async (bucket, query = {}) => void (await http.json('DELETE', at(bucket), { query: { ...query } })),
    deliveries: async (bucket, id, query = {}) => {
      const page = await typed<{ readonly deliveries: readonly Delivery[] }>(
        http.json('GET', `${one(bucket, id)}/deliveries`, { query: { ...query } }),
      )
      return page.deliveries
    },
    transfers: transfersClient(http),
  }
}

function transfersClient(http: Http): TransfersClient {
  return {
    imports: async (query = {}) => {
      const list = await typed<{ readonly imports: readonly ImportInfo[] }>(
        http.json('GET', `${BASE}/import`, { query: { ...query } }),
      )
      return list.imports
    },
    import: (id) => typed(http.json('GET', `${BASE}${pathOf`/import/${id}`}`)),
    startExport: (body) => typed(http.json('POST', `${BASE}/export`, { body })),
    export: (id) => typed(http.json('GET', `${BASE}${pathOf`/export/${id}`}`)),
  }
}
