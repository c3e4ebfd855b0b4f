/** Provides the alarms service on memory, with an HTTP app and a clock that the test moves. */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type {
  AlarmForwarding,
  AlarmsApi,
  AlarmSuppressor,
  CauseReader,
} from '../../../../src/services/alarms/contract.ts'
import { errorBodyOfLines } from '../../../../src/services/shared/http/refusal.ts'
import { alarmsRoutes } from '../../../../src/services/alarms/api.ts'
import { Alarms } from '../../../../src/services/alarms/service.ts'
import type { Storage } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { trustingApp } from '../../support/trusting-app.ts'

/** 2026-11-20T12:00:00Z */
export const NOON = Date.UTC(2026, 10, 20, 12)

export interface Bench {
  readonly service: Alarms
  readonly storage: Storage
  readonly clock: { now: number }
  /** API of the tester of tenant `acme` */
  readonly api: AlarmsApi
  readonly app: FastifyInstance
  /** Log lines */
  readonly log: readonly string[]
  /** Sends a request as that tester; the body is JSON */
  ask(method: InjectOptions['method'], url: string, body?: object, headers?: Record<string, string>): Answer
  close(): Promise<void>
}

type Answer = Promise<LightMyRequestResponse>

export interface BenchOptions {
  readonly storage?: Storage
  readonly clock?: { now: number }
  readonly engine?: () => AlarmForwarding | undefined
  readonly causes?: CauseReader
  readonly ancestors?: (resource: string) => Promise<readonly string[]>
  readonly suppressor?: () => AlarmSuppressor | undefined
  /** Prefix of ids; default `a` */
  readonly ids?: string
  readonly age?: () => number | undefined
}

export async function bench(options: BenchOptions = {}): Promise<Bench> {
  const {
    storage = openMemory(),
    clock = { now: NOON },
    engine,
    causes,
    suppressor,
    ancestors,
    ids = 'a',
    age,
  } = options
  const log: string[] = []
  let id = 0
  const service = new Alarms({
    tenant: 'acme',
    store: storage.tenant('acme'),
    now: () => clock.now,
    newId: () => `${ids}${++id}`,
    ...(age && { age }),
    ...(engine && { engine }),
    ...(causes && { causes }),
    ...(suppressor && { suppressor }),
    ...(ancestors && { ancestors }),
    logger: { warn: (text) => void log.push(text), error: (text) => void log.push(text) },
  })
  await service.start()
  const app = await appOf(service)
  return {
    service,
    storage,
    clock,
    api: service.as({ tenant: 'acme', user: 'tester' }),
    app,
    log,
    ask: (method, url, body, headers) =>
      app.inject({
        url,
        ...(method !== undefined && { method }),
        ...(body && { payload: body }),
        ...(headers && { headers }),
      }),
    close: async () => {
      await app.close()
      await service.stop()
    },
  }
}

/** Creates an app that trusts the identity in the request. */
export function appOf(service: Alarms): Promise<FastifyInstance> {
  return trustingApp(errorBodyOfLines, (app) => alarmsRoutes(app, { service }))
}

/** Returns a minimal alarm with the given changes. */
export function alarmOf(more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return { type: 'HEAT', text: 'too hot', severity: 'MAJOR', source: { id: 'boiler-1' }, ...more }
}
