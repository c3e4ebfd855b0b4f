/** Provides the rules service on memory, with an HTTP app and a clock that the test moves. */
import type { FastifyInstance, InjectOptions } from 'fastify'
import { VirtualClock, type Plug, type Ports } from '../../../../src/index.ts'
import type { RulesApi, InternalRules } from '../../../../src/services/rules/contract.ts'
import { rulesErrorBody } from '../../../../src/services/rules/error-body.ts'
import type { ResourceFinder } from '../../../../src/services/rules/tasks/resource-filter.ts'
import { rulesRoutes } from '../../../../src/services/rules/api.ts'
import { createRulesService } from '../../../../src/services/rules/service.ts'
import type { Storage } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import type { Answer } from '../../support/answer.ts'
import { ask, trustingApp } from '../../support/trusting-app.ts'
import { BareRunner } from './bare-runner.ts'
import { PLUGS } from './rules.ts'

/** 2026-11-20T12:00:00Z */
export const NOON = Date.UTC(2026, 10, 20, 12)

export interface Bench {
  readonly service: InternalRules
  readonly runner: BareRunner
  readonly storage: Storage
  readonly clock: VirtualClock
  /** API of the tester of tenant `acme` */
  readonly api: RulesApi
  readonly app: FastifyInstance
  /** Sends a request as that tester; the body is JSON */
  ask(method: InjectOptions['method'], url: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  close(): Promise<void>
}

export interface BenchOptions {
  readonly storage?: Storage
  readonly plugs?: readonly Plug[]
  readonly ports?: Ports
  readonly clock?: VirtualClock
  readonly resources?: ResourceFinder
  /** Number in the first id; default 1, for t1, t2 ... */
  readonly firstId?: number
}

export async function bench(options: BenchOptions = {}): Promise<Bench> {
  const { storage = openMemory(), plugs = PLUGS, ports, clock = new VirtualClock(NOON), firstId = 1 } = options
  const runner = new BareRunner({ plugs, scheduler: clock, ...(ports && { ports }) })
  let id = firstId - 1
  const service = createRulesService({
    tenant: 'acme',
    store: storage.tenant('acme'),
    runner,
    plugs: () => plugs,
    now: () => clock.now(),
    newId: () => `t${id++}`,
    ...(ports && { ports }),
    resources: () => options.resources,
  })
  await service.start()
  const app = await appOf(service)
  return {
    service,
    runner,
    storage,
    clock,
    api: service.as({ tenant: 'acme', user: 'tester' }),
    app,
    ask: (method, url, body, headers) => ask(app, method, url, body, headers),
    close: async () => {
      await app.close()
      await service.stop()
      await runner.close()
    },
  }
}

/** Creates an app that trusts the identity in the request. */
export function appOf(service: InternalRules): Promise<FastifyInstance> {
  return trustingApp(rulesErrorBody, (app) => rulesRoutes(app, { service }))
}
