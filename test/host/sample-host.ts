/**
 * Runs a host with a sample service, without a socket: a store in memory, a clock that stands still, and a readable
 * log.
 */
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { createApp } from '../../src/host/app.ts'
import type { ApiKeys } from '../../src/host/auth/api-keys.ts'
import type { Tokens } from '../../src/host/auth/tokens.ts'
import { compose } from '../../src/host/compose.ts'
import { readConfig, type Given } from '../../src/host/config.ts'
import type { LogLevel } from '../../src/host/log.ts'
import { HandTimers } from './hand-timers.ts'
import { sampleService, type SampleService } from './sample-service.ts'
import { smallStore } from './small-store.ts'

export interface SampleHost extends AsyncDisposable {
  readonly app: FastifyInstance
  readonly service: SampleService
  readonly keyPairs: ApiKeys
  readonly tokens: Tokens
  /** Log lines */
  readonly log: readonly string[]
  readonly clock: { now: number }
  readonly timers: HandTimers
  readonly store: ReturnType<typeof smallStore>
  /** Headers with the credentials of tenant `one` */
  readonly headers: { readonly authorization: string }
  /** Sends a request with those credentials */
  ask(options: InjectOptions): Promise<LightMyRequestResponse>
}

export const PAIR = { key: 'key-1', secret: 'open-sesame', tenant: 'one' }

export async function sampleHost(given: Given = {}, level: LogLevel = 'debug'): Promise<SampleHost> {
  const clock = { now: Date.UTC(2026, 0, 1) }
  const timers = new HandTimers()
  const log: string[] = []
  const service = sampleService()
  const store = smallStore()
  const services = new Map([[service.name, () => service]])
  const config = readConfig({ store: 'memory:', ...given }, {}, [...services.keys()])
  const composed = await compose(config, {
    services,
    now: () => clock.now,
    openStorage: async () => store,
    hashCost: 2,
    timers,
  })
  const app = await createApp({
    ...composed,
    trustProxy: config.trustProxy,
    log: { level, stream: { write: (line) => void log.push(line) } },
  })
  await composed.keyPairs.add(PAIR)
  const headers = { authorization: basic(PAIR.key, PAIR.secret) }
  return {
    app,
    service,
    keyPairs: composed.keyPairs,
    tokens: composed.authentication.tokens,
    log,
    clock,
    timers,
    store,
    headers,
    ask: ({ headers: more = {}, ...options }) => app.inject({ ...options, headers: { ...headers, ...more } }),
    [Symbol.asyncDispose]: () => app.close(),
  }
}

export function basic(key: string, secret: string): string {
  return `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`
}
