/** Provides the resources service on memory, with an HTTP app and a clock that the test moves. */
import type { FastifyInstance, InjectOptions } from 'fastify'
import { resourcesErrorBody } from '../../../../src/services/resources/refusals.ts'
import { resourcesRoutes } from '../../../../src/services/resources/api.ts'
import { Resources, type ResourcesOptions } from '../../../../src/services/resources/service.ts'
import type { Storage } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import type { Answer } from '../../support/answer.ts'
import { ask, trustingApp } from '../../support/trusting-app.ts'

/** 2026-11-20T12:00:00Z */
export const NOON = Date.UTC(2026, 10, 20, 12)

export interface Bench {
  readonly service: Resources
  readonly storage: Storage
  readonly clock: { now: number }
  /** API of the tester of tenant `acme` */
  readonly api: ReturnType<Resources['as']>
  readonly app: FastifyInstance
  /** Writes when resources last sent data, as a host's timer does */
  sweep(): void
  /** Sends a request as that tester; the body is JSON */
  ask(method: InjectOptions['method'], url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface BenchOptions extends Partial<Omit<ResourcesOptions, 'tenant' | 'store'>> {
  readonly storage?: Storage
}

export async function bench({ storage = openMemory(), ...options }: BenchOptions = {}): Promise<Bench> {
  const clock = { now: NOON }
  const sweeps = new Set<() => void>()
  let id = 0
  const service = new Resources({
    tenant: 'acme',
    now: () => clock.now,
    newId: () => `i${++id}-${Math.trunc(clock.now / 1000)}`,
    sweep: (work) => {
      sweeps.add(work)
      return () => sweeps.delete(work)
    },
    ...options,
    store: storage.tenant('acme'),
  })
  await service.start()
  const app = await trustingApp(resourcesErrorBody, (scope) => resourcesRoutes(scope, { service }))
  const close = async (): Promise<void> => {
    await app.close()
    await service.stop()
  }
  return {
    service,
    storage,
    clock,
    api: service.as({ tenant: 'acme', user: 'tester' }),
    app,
    sweep: () => {
      for (const work of sweeps) work()
    },
    ask: (method, url, body, headers) => ask(app, method, url, body, headers),
    close,
    [Symbol.asyncDispose]: close,
  }
}
