/** Provides the query service on memory, with an HTTP app and a clock that the test moves. */
import type { FastifyInstance, InjectOptions } from 'fastify'
import type { Caller } from '../../../../src/kernel/caller.ts'
import type { QueriesApi, InternalQueries, ResourceSelector } from '../../../../src/services/queries/contract.ts'
import { queriesErrorBody, queriesRoutes } from '../../../../src/services/queries/api.ts'
import { Queries } from '../../../../src/services/queries/service.ts'
import type { SampleValue, Storage } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import type { Answer } from '../../support/answer.ts'
import { ask, trustingApp } from '../../support/trusting-app.ts'

/** 2021-05-06T12:34:56Z */
export const NOW = Date.UTC(2021, 4, 6, 12, 34, 56)

export interface Bench extends AsyncDisposable {
  readonly service: InternalQueries
  readonly storage: Storage
  readonly clock: { now: number }
  /** API of the tester of tenant `acme` */
  readonly api: QueriesApi
  readonly app: FastifyInstance
  /** Sends a request as that tester; the body is JSON */
  ask(method: InjectOptions['method'], url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Stores samples: values by time */
  put(resource: string, metric: string, samples: Readonly<Record<number, SampleValue>>, tenant?: string): Promise<void>
  close(): Promise<void>
}

export interface BenchOptions {
  readonly storage?: Storage
  readonly resources?: ResourceSelector
  readonly readable?: () => Promise<void>
}

export async function bench({ storage = openMemory(), resources, readable }: BenchOptions = {}): Promise<Bench> {
  const clock = { now: NOW }
  const of = (tenant: string): InternalQueries =>
    new Queries({
      store: storage.tenant(tenant),
      now: () => clock.now,
      ...(resources && { resources: () => resources }),
      ...(readable && { readable }),
    })
  const service = of('acme')
  const reached = { as: (caller: Caller) => (caller.tenant === 'acme' ? service : of(caller.tenant)).as(caller) }
  const app = await trustingApp(queriesErrorBody, (scope) => queriesRoutes(scope, { service: reached }))
  const close = async (): Promise<void> => {
    await app.close()
    await storage.close()
  }
  return {
    service,
    storage,
    clock,
    api: service.as({ tenant: 'acme', user: 'tester' }),
    app,
    ask: (method, url, body, headers) => ask(app, method, url, body, headers),
    put: (resource, metric, samples, tenant = 'acme') =>
      storage.tenant(tenant).series.append({
        samples: Object.entries(samples).map(([time, value]) => ({ resource, metric, time: Number(time), value })),
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}
