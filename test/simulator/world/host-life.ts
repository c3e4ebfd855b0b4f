/** Runs a host of the simulated machine from its start to its stop or death, without sockets, threads or files. */
import http from 'node:http'
import type { Duplex } from 'node:stream'
import { fastify, type FastifyInstance } from 'fastify'
import { compose, type ComposedHost } from '../../../src/host/compose.ts'
import { readConfig, type Config } from '../../../src/host/config.ts'
import { mount } from '../../../src/host/mount.ts'
import type { MakeService } from '../../../src/host/wiring/service-dependencies.ts'
import { SERVICES } from '../../../src/host/wiring/service-table.ts'
import type { Plug } from '../../../src/plug.ts'
import { leaveOutRoutes } from './asked-routes.ts'
import { MQTT_PORT, network } from './network.ts'
import type { Medium } from './medium.ts'
import type { ToldWords } from './told-words.ts'
import { ANY_TIME } from '../../support/any-time.ts'

/**
 * Services that every host has. Functions are excluded, because they run in processes that no simulated clock controls.
 */
export const SERVED: readonly string[] = ['audit', 'broker', 'rules', 'resources', 'alarms', 'queries', 'converter']

/** Services that the simulator replaces. */
export const STAND_INS: readonly string[] = ['webscripts']

/** Additional services, present where a run's operations need them. */
export const SERVED_WHERE_NEEDED: readonly string[] = ['objects', 'subscriptions', 'vault', ...STAND_INS]

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers: Readonly<Record<string, unknown>>
}

export interface Question {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly tenant: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface HostLife {
  readonly composed: ComposedHost
  ask(question: Question): Promise<Answer>
  /** Follows a streaming response. `begun` is called first, then `heard` with each piece of text, until `over`. */
  follow(
    question: Question,
    connection: { readonly begun: () => void; readonly left: Promise<void> },
    heard: (text: string) => void,
  ): Promise<{ readonly status: number; over: Promise<void> }>
  /** Upgrades a request to a WebSocket on that stream. */
  upgrade(question: Question, stream: Duplex): void
  /** Stops the host as an operator would. */
  stop(): Promise<void>
}

/** sixteen bytes; a client may choose the same ones each time */
const SOCKET_KEY = btoa('0123456789abcdef')

function configOf(serves: readonly string[]): Config {
  return readConfig(
    { store: 'memory:', mqtt: String(MQTT_PORT), empty: true, rateLimit: '0', only: serves.join(','), ...ANY_TIME },
    {},
    [...SERVICES.keys()],
  )
}

/** What exists when a host starts. */
export interface Setting {
  readonly plugs: readonly Plug[]
  /** replaces the host's webscripts, which would run in processes */
  readonly webscripts: MakeService
  /** names of services */
  readonly serves: readonly string[]
  /** routes that clients call, such as `GET /api/tasks/:id`; undefined: all */
  readonly asks: ReadonlySet<string> | undefined
  /** set if others use the store too; undefined: only the host uses it */
  readonly words: ToldWords | undefined
}

/** Rejects when the host cannot start. */
export async function startLife(
  medium: Medium,
  { plugs, webscripts, serves, asks, words }: Setting,
  log: (line: string) => void,
): Promise<HostLife> {
  const composed = await compose(configOf(serves), {
    services: new Map([...SERVICES, ['webscripts', webscripts]]),
    openStorage: words === undefined ? () => medium.open() : async () => words.over(await medium.open()),
    plugs: () => plugs,
    hashCost: 2,
  })
  const app = fastify({
    logger: { level: 'warn', stream: { write: log } },
    routerOptions: { maxParamLength: 2048 },
    pluginTimeout: 0,
    return503OnClosing: false,
    exposeHeadRoutes: asks === undefined,
  })
  if (asks !== undefined) leaveOutRoutes(app, asks)
  // Leaves out the API's documentation page, which takes longer to create than everything else.
  app.decorate('swagger', () => '')
  app.addHook('onClose', () => composed.close())
  try {
    await app.register(async (scope) => mount(scope, { ...composed, alone: true }))
    await app.ready()
  } catch (error) {
    await app.close().catch(() => undefined)
    throw error
  }
  return {
    composed,
    ask: (question) => ask(app, question),
    follow: (question, connection, heard) => follow(app, question, connection, heard),
    upgrade: (question, stream) => upgrade(app, question, stream),
    stop: () => app.close(),
  }
}

async function ask(app: FastifyInstance, { method, url, tenant, body, headers }: Question): Promise<Answer> {
  const {
    statusCode,
    payload,
    headers: given,
  } = await app.inject({
    method,
    url,
    headers: { authorization: credentialsOf(tenant), ...headers },
    ...(body !== undefined && { payload: body as object }),
  })
  return { status: statusCode, body: parsed(payload), headers: given }
}

/**
 * Uses a separate connection, so that the host notices when its client leaves, and waits for one that does not read.
 */
async function follow(
  app: FastifyInstance,
  { method, url, tenant, headers }: Question,
  { begun, left }: { readonly begun: () => void; readonly left: Promise<void> },
  heard: (text: string) => void,
): Promise<{ readonly status: number; over: Promise<void> }> {
  const { host, client, leave } = network.open()
  void left.then(leave)
  app.server.emit('connection', host)
  const asked = http.request({
    method,
    path: url,
    headers: { authorization: credentialsOf(tenant), ...headers },
    createConnection: () => client,
  })
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve).once('error', reject).end()
  })
  const status = answer.statusCode ?? 0
  if (status === 200) begun()
  answer.setEncoding('utf8')
  answer.on('data', heard)
  const over = new Promise<void>((resolve) => {
    for (const end of ['end', 'error', 'close']) answer.once(end, () => resolve())
  })
  return { status, over }
}

function upgrade(app: FastifyInstance, { method, url, tenant }: Question, stream: Duplex): void {
  const headers = {
    authorization: credentialsOf(tenant),
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': SOCKET_KEY,
  }
  const rawHeaders = Object.entries(headers).flat()
  const request = { method, url, headers, rawHeaders, httpVersion: '1.1', socket: stream }
  app.server.emit('upgrade', request, stream, Buffer.alloc(0))
}

function credentialsOf(tenant: string): string {
  return `Basic ${btoa(`${tenant}:secret`)}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
