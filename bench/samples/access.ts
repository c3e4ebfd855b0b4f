/** Sample of what access costs: TLS for posts, checks of scopes, sessions and tokens, and the audit of a write. */
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ApiKeys, KEY_RECORDS } from '../../src/host/auth/api-keys.ts'
import { KeyChanges } from '../../src/host/auth/key-changes.ts'
import { RememberedChecks } from '../../src/host/auth/remembered-checks.ts'
import { LINKS, Sessions, SESSIONS } from '../../src/host/auth/sessions.ts'
import { Tokens } from '../../src/host/auth/tokens.ts'
import { type Given, readConfig } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { ALL_RIGHTS, requireScope, type Rights } from '../../src/kernel/rights.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import type { ClientOrder } from './access-client.ts'
import { withFolder } from './host/folder.ts'
import { cpuMs } from './spent.ts'

export type AccessSubject = 'posts' | 'posts-tls' | 'scope' | 'session' | 'token' | 'remembered' | 'write' | 'audited'

export interface AccessSample {
  /** CPU time of the thread, microseconds */
  readonly us: number
}

export async function accessSample({ subject }: { readonly subject: AccessSubject }): Promise<AccessSample> {
  switch (subject) {
    case 'posts':
    case 'posts-tls': {
      const files = subject === 'posts-tls' && FILES
      return requests({ store: 'memory:', only: 'broker', ...files }, 'POST', '/resources/boiler/events')
    }
    case 'scope': {
      const rights: Rights = { scopes: ['operate', 'publish'] }
      return measured(1_000_000, () => requireScope(rights, 'read'))
    }
    case 'session': {
      const { sessions } = world()
      const { token } = await sessions.open({ tenant: 'bench', user: 'bench', rights: ALL_RIGHTS })
      return measured(20_000, () => sessions.check(token))
    }
    case 'token': {
      const { check } = await issuedToken()
      return measured(20_000, check)
    }
    case 'remembered': {
      const checks = new RememberedChecks(Date.now)
      const { token, check } = await issuedToken()
      return measured(200_000, () => checks.get(token) ?? checks.check(token, check))
    }
    case 'write':
    case 'audited':
      return withFolder((data) =>
        requests({ data, only: `resources${subject === 'audited' ? ',audit' : ''}` }, 'PUT', '/api/resources/boiler'),
      )
  }
}

async function measured(count: number, work: (n: number) => unknown): Promise<AccessSample> {
  for (let n = 0; n < count / 10; n++) await work(n)
  const before = cpuMs()
  for (let n = 0; n < count; n++) {
    const done = work(n)
    if (done instanceof Promise) await done
  }
  return { us: ((cpuMs() - before) * 1_000) / count }
}

async function issuedToken() {
  const tokens = new Tokens(new Uint8Array(32).fill(7), Date.now)
  const token = await tokens.issue({ tenant: 'bench', subject: 'bench', lifetime: 3_600 })
  return { token, check: () => tokens.check(token) }
}

function world() {
  const own = openMemory().tenant('host')
  const keys = new ApiKeys(own.collection(KEY_RECORDS), Date.now)
  const changes = new KeyChanges({}, { elapsed: () => performance.now(), isMember: false })
  const [sessions, links] = [own.collection(SESSIONS), own.collection(LINKS)]
  return { sessions: new Sessions({ sessions, links, keys, changes, now: Date.now }) }
}

const REQUESTS = 3_000
const TLS = join(import.meta.dirname, '../../fixtures/tls')
const FILES = { tlsCert: join(TLS, 'server.pem'), tlsKey: join(TLS, 'server.key') }

/** Measures the host alone: its client runs in another thread. */
async function requests(given: Given, method: string, path: string): Promise<AccessSample> {
  const base = { port: 0, key: 'k', secret: 's', empty: true, rateLimit: '0', logLevel: 'silent' }
  const host = await startHost(readConfig({ ...base, ...given }, {}, [...SERVICES.keys()]), { write: () => undefined })
  const workerData: ClientOrder = { url: `${host.url}${path}`, method, authorization: `Basic ${btoa('k:s')}` }
  const client = new Worker(new URL('access-client.ts', import.meta.url), { workerData })
  const send = async (count: number): Promise<void> => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- because this is a thread, not a window
    client.postMessage(count)
    await once(client, 'message')
  }
  await send(REQUESTS / 10)
  const before = cpuMs()
  await send(REQUESTS)
  const us = ((cpuMs() - before) * 1_000) / REQUESTS
  await client.terminate()
  await host.stop()
  return { us }
}
