/** A host of the simulated machine, from its start to its stop or death: no socket, no thread, no file. */
import http from 'node:http'
import type { Duplex } from 'node:stream'
import { fastify, type FastifyInstance } from 'fastify'
import { compose, type Composed } from '../../../src/host/compose.ts'
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

/** What is served. Functions run in processes of their own, which no simulated clock governs. */
export const SERVED: readonly string[] = ['broker', 'rules', 'resources', 'alarms', 'queries', 'converter']

/** Services in whose place the simulator has its own. */
export const STAND_INS: readonly string[] = ['webscripts']

/** What is served besides where operations of a run need it. */
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
  readonly composed: Composed
  ask(question: Question): Promise<Answer>
  /** An answer that goes on: `heard` gets its text as it comes, until `over`. `begun`: told before that. */
  follow(
    question: Question,
    connection: { readonly begun: () => void; readonly left: Promise<void> },
    heard: (text: string) => void,
  ): Promise<{ readonly status: number; over: Promise<void> }>
  /** A request that becomes a WebSocket on that stream. */
  upgrade(question: Question, stream: Duplex): void
  /** Stops it as an operator would. */
  stop(): Promise<void>
}

/** sixteen bytes; who asks may choose the same again */
const SOCKET_KEY = btoa('0123456789abcdef')

function configOf(serves: readonly string[]): Config {
  return readConfig(
    { store: 'memory:', mqtt: String(MQTT_PORT), empty: true, rateLimit: '0', only: serves.join(','), ...ANY_TIME },
    {},
    [...SERVICES.keys()],
  )
}

/** What is there at the start of a host. */
export interface Setting {
  readonly plugs: readonly Plug[]
  /** in the place of the host's webscripts, which run in processes too */
  readonly webscripts: MakeService
  /** names of services */
  readonly serves: readonly string[]
  /** routes that clients ask, as in `GET /api/tasks/:id`; undefined: any */
  readonly asks: ReadonlySet<string> | undefined
  /** of a store that others use beside the host; undefined: the host has it to itself */
  readonly words: ToldWords | undefined
}

/** Rejects when it cannot start. */
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
  // The page of the API is left out: making it takes longer than everything else.
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

/** Over a connection of its own, so that the host hears when its client goes, and waits for one that does not read. */
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
