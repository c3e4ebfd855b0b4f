/** A host of the simulated machine, from its start to its stop or death: no socket, no thread, no file. */
import { fastify, type FastifyInstance } from 'fastify'
import { compose, type Composed } from '../../../src/host/compose.ts'
import { readConfig, type Config } from '../../../src/host/config.ts'
import { mount } from '../../../src/host/mount.ts'
import { SERVICES } from '../../../src/host/service-table.ts'
import type { Plug } from '../../../src/plug.ts'
import type { Medium } from './medium.ts'

/** What is served. Functions and webscripts run in processes of their own, which no simulated clock governs. */
export const SERVED: readonly string[] = ['broker', 'rules', 'resources', 'alarms', 'queries']

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

/** An answer that goes on. */
export interface Followed {
  readonly status: number
  readonly over: Promise<void>
  /** The client goes away. */
  leave(): void
}

export interface HostLife {
  readonly composed: Composed
  ask(question: Question): Promise<Answer>
  /** An answer that goes on: `heard` gets its text as it comes, until `over`. */
  follow(question: Question, heard: (text: string) => void): Promise<Followed>
  /** Stops it as an operator would. */
  stop(): Promise<void>
}

function configOf(serves: readonly string[]): Config {
  return readConfig({ store: 'memory:', empty: true, rateLimit: '0', only: serves.join(',') }, {}, [...SERVICES.keys()])
}

/** Rejects when it cannot start. */
export async function startLife(
  medium: Medium,
  plugs: readonly Plug[],
  serves: readonly string[],
  log: (line: string) => void,
): Promise<HostLife> {
  const composed = await compose(configOf(serves), {
    openStorage: () => medium.open(),
    plugs: () => plugs,
    hashCost: 2,
  })
  const app = fastify({
    logger: { level: 'warn', stream: { write: log } },
    routerOptions: { maxParamLength: 2048 },
    pluginTimeout: 0,
    return503OnClosing: false,
  })
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
    follow: (question, heard) => follow(app, question, heard),
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

async function follow(
  app: FastifyInstance,
  { method, url, tenant, headers }: Question,
  heard: (text: string) => void,
): Promise<Followed> {
  const answer = await app.inject({
    method,
    url,
    headers: { authorization: credentialsOf(tenant), ...headers },
    payloadAsStream: true,
  })
  const stream = answer.stream()
  stream.setEncoding('utf8')
  stream.on('data', heard)
  const over = new Promise<void>((resolve) => {
    stream.once('end', resolve)
    stream.once('error', () => resolve())
    stream.once('close', resolve)
  })
  return { status: answer.statusCode, over, leave: () => void stream.destroy() }
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
