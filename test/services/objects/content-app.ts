/** Serves the contents of an objects service over HTTP, for fetch with signed addresses. */
import type { AddressInfo } from 'node:net'
import { fastify, type FastifyInstance } from 'fastify'
import { contentRoutes } from '../../../src/services/objects/routes/content-routes.ts'
import { SigningKeys } from '../../../src/services/objects/signing/signing-keys.ts'
import { MASTER, objectsWorld, TENANT, type ObjectsWorld, type WorldOptions } from './support.ts'

export interface ContentApp extends ObjectsWorld {
  readonly app: FastifyInstance
  /** Lines of the app's log */
  readonly logged: readonly string[]
  /** Origin such as `http://127.0.0.1:port` */
  readonly origin: string
  readonly keys: SigningKeys
  /** Key with all rights in `assets` */
  readonly key: { readonly id: string; readonly secret: string }
  /** Sends a request to an address signed for it */
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
  // bodies never stall for long in these tests
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

/** Returns status and error code of a response in XML. */
export async function codeOf(answer: Response): Promise<readonly [status: number, code: string | undefined]> {
  return [answer.status, /<Code>(\w+)<\/Code>/.exec(await answer.text())?.[1]]
}
