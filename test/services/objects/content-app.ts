/** The contents of an objects service over HTTP, on a socket: signed addresses, asked by fetch. */
import type { AddressInfo } from 'node:net'
import { fastify, type FastifyInstance } from 'fastify'
import { contentRoutes } from '../../../src/services/objects/routes/content-routes.ts'
import { SigningKeys } from '../../../src/services/objects/signing/signing-keys.ts'
import { MASTER, objectsWorld, TENANT, type ObjectsWorld, type WorldOptions } from './support.ts'

export interface ContentApp extends ObjectsWorld {
  readonly app: FastifyInstance
  /** lines of its log */
  readonly logged: readonly string[]
  /** `http://127.0.0.1:port` */
  readonly origin: string
  readonly keys: SigningKeys
  /** what whoever may do everything in `assets` signs with */
  readonly key: { readonly id: string; readonly secret: string }
  /** asks an address that was signed for it */
  ask(method: 'GET' | 'PUT', path: string, init?: RequestInit, options?: object): Promise<Response>
  close(): Promise<void>
}

export const BUCKET = `reflexarc-ws-assets-${TENANT}`

export async function contentApp(options: WorldOptions = {}): Promise<ContentApp> {
  const world = await objectsWorld(options)
  const { service, clock, api } = world
  const keys = new SigningKeys(MASTER)
  const logged: string[] = []
  const app = fastify({
    logger: { level: 'debug', stream: { write: (line: string) => void logged.push(line) } },
  })
  // no body stands still for long in these tests
  await app.register(async (own) =>
    contentRoutes(own, {
      objectsOf: () => service.inside,
      find: (tenant) => (tenant === TENANT ? service.inside : undefined),
      keys,
      now: () => clock.now,
      later: () => () => undefined,
    }),
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    ...world,
    app,
    logged,
    origin,
    keys,
    key: keys.of({ tenant: TENANT, bucket: 'assets', rights: ['read', 'write', 'delete'] }),
    ask: async (method, path, init = {}, signing = {}) => {
      const { href } = await api.sign('assets', path, { method, origin, ...signing })
      return fetch(href, { method, ...init })
    },
    close: async () => {
      await app.close()
      await service.stop()
    },
  }
}

/** The code of an answer in XML. */
export async function codeOf(answer: Response): Promise<readonly [status: number, code: string | undefined]> {
  return [answer.status, /<Code>(\w+)<\/Code>/.exec(await answer.text())?.[1]]
}
