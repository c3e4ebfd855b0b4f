/** A minimal service, for testing what the framework does with any service. */
import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { HostedService } from '../../src/host/hosted-service.ts'
import { AppError } from '../../src/kernel/errors.ts'
import { checked } from '../../src/services/shared/api/check.ts'
import { closed } from '../../src/services/shared/api/fields.ts'

export interface SampleService extends HostedService {
  /** What the host did with the service, in order */
  readonly life: string[]
  /** Lets `GET /sample/slow` answer and `GET /sample/stream` continue */
  release(): void
  /** Returns how many requests wait for `release` */
  readonly waiting: () => number
  readonly closing: () => AbortSignal | undefined
}

const THING = checked(closed({ name: Type.String(), size: Type.Optional(Type.Integer()) }), { subject: 'the thing' })

export function sampleService(name = 'sample'): SampleService {
  const life: string[] = []
  const waiters: (() => void)[] = []
  const released = () => new Promise<void>((resolve) => waiters.push(resolve))
  let closing: AbortSignal | undefined
  return {
    name,
    description: 'Things to try the frame on',
    example: `/${name}/things`,
    life,
    closing: () => closing,
    waiting: () => waiters.length,
    release: () => waiters.splice(0).forEach((go) => go()),
    errorBody: ({ statusCode, error, issues }) => ({
      problem: error,
      status: statusCode,
      paths: issues.map((i) => i.path),
    }),
    async start(signal) {
      closing = signal
      life.push('start')
    },
    async stop() {
      life.push('stop')
    },
    routes(app) {
      app.addHook('onRoute', (route) => {
        if (!route.url.endsWith('/unscoped')) route.config = { scope: 'read', ...route.config }
      })
      app.get(`/${name}/things`, ({ tenant, user }) => ({ tenant, user }))
      app.post(`/${name}/things`, async ({ body }, reply) => reply.code(201).send(THING.read(body)))
      app.put(`/${name}/small`, { bodyLimit: 10 }, async ({ body }) => ({ body }))
      app.get(`/${name}/of/:tenant`, ({ tenant }) => ({ tenant }))
      app.get(`/${name}/open`, { config: { scope: 'public' } }, ({ user }) => ({ user }))
      app.get(`/${name}/coded`, () => {
        throw new AppError('WRONG_STATUS', 'the thing does not run')
      })
      app.get(`/${name}/inside`, () => {
        throw new AppError('STORE', 'the file /secret/place is broken')
      })
      app.get(`/${name}/broken`, () => {
        throw new TypeError('x is not a function at /secret/place')
      })
      app.get(`/${name}/slow`, async () => {
        await released()
        return { done: true }
      })
      app.get(`/${name}/stream`, async (_request, reply) =>
        reply.type('text/plain').send(Readable.from(lines(released))),
      )
      app.get(`/${name}/events`, async (_request, reply) =>
        reply.type('text/event-stream').send(Readable.from(endless())),
      )
    },
  }
}

/** Yields two lines, the second when released. */
async function* lines(released: () => Promise<void>): AsyncGenerator<string> {
  yield 'one\n'
  await released()
  yield 'two\n'
}

async function* endless(): AsyncGenerator<string> {
  yield 'data: here\n\n'
  await new Promise(() => {})
}
