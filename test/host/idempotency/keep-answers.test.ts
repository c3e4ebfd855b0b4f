import { fastify, type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import { describe, expect, it } from 'vitest'
import { keepAnswers } from '../../../src/host/idempotency/keep-answers.ts'
import { ANSWER_KEYS, KeptAnswers } from '../../../src/host/idempotency/kept-answers.ts'
import { AppError } from '../../../src/kernel/errors.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

const DAY = 86_400_000

interface Bench {
  readonly app: FastifyInstance
  readonly storage: Storage
  readonly clock: { now: number }
  /** Returns how often the handler has run */
  readonly done: () => number
  readonly release: () => void
  post(
    path: string,
    body?: object,
    more?: { key?: string; tenant?: string; method?: 'POST' | 'PUT' | 'PATCH' },
  ): Promise<LightMyRequestResponse>
}

function bench(storage: Storage = openMemory()): Bench {
  const app = fastify()
  const clock = { now: 1_000 }
  let count = 0
  const waiting: (() => void)[] = []
  app.decorateRequest('tenant', '')
  app.addHook('onRequest', async (request) => {
    request.tenant = String(request.headers['x-tenant'] ?? 'one')
  })
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof AppError ? error.status : 500).send({ error: (error as Error).message }),
  )
  keepAnswers(app, { storage, secret: 'salt', now: () => clock.now })
  for (const method of ['POST', 'PUT', 'PATCH'] as const) {
    app.route({ method, url: '/things', handler: async (_request, reply) => reply.code(201).send({ n: ++count }) })
    app.route({
      method,
      url: '/broken',
      handler: async () => {
        count++
        throw new TypeError('inside')
      },
    })
  }
  app.post('/refused', async () => {
    count++
    throw new AppError('WRONG_STATUS', 'not now')
  })
  app.post('/away', async () => {
    count++
    throw new AppError('UNAVAILABLE', 'away')
  })
  app.post('/slow', async () => {
    count++
    await new Promise<void>((resolve) => waiting.push(resolve))
    return { n: count }
  })
  app.post('/late', async (_request, reply) => {
    count++
    reply.code(503).send({ error: 'The request took longer than 20 ms' })
    await new Promise<void>((resolve) => waiting.push(resolve))
  })
  app.post('/large', async () => ({ n: ++count, text: 'x'.repeat(20_000) }))
  app.post('/secret', async () => ({ n: ++count, secret: 'hush', list: [{ token: 'hush' }] }))
  app.post('/open', { config: { scope: 'public' } }, async () => ({ n: ++count }))
  app.get('/things', async () => ({ n: ++count }))
  return {
    app,
    storage,
    clock,
    done: () => count,
    release: () => waiting.splice(0).forEach((go) => go()),
    post: (url, payload = { a: 1 }, { key = 'k', tenant = 'one', method = 'POST' } = {}) =>
      app.inject({ method, url, headers: { 'idempotency-key': key, 'x-tenant': tenant }, payload }),
  }
}

describe('a write with an idempotency key', () => {
  it('is executed once, and its repetition gets the first response', async () => {
    const { post, done } = bench()
    const first = await post('/things')
    const again = await post('/things')
    expect([first.statusCode, first.body, first.headers['idempotent-replay']]).toEqual([201, '{"n":1}', undefined])
    expect([again.statusCode, again.body, again.headers['idempotent-replay']]).toEqual([201, '{"n":1}', 'true'])
    expect(again.headers['content-type']).toBe(first.headers['content-type'])
    expect(done()).toBe(1)
  })

  it('has a key that belongs to its tenant, method and path', async () => {
    const { post, done } = bench()
    await post('/things')
    await post('/things', { a: 1 }, { tenant: 'two' })
    await post('/things', { a: 1 }, { method: 'PATCH' })
    await post('/large')
    expect(done()).toBe(4)
  })

  it('is a conflict when the key was used for another body or query', async () => {
    const { post, done } = bench()
    await post('/things')
    for (const other of [post('/things', { a: 2 }), post('/things?b=1')]) {
      const answer = await other
      expect([answer.statusCode, answer.body]).toEqual([409, expect.stringContaining('used for another request')])
    }
    expect(done()).toBe(1)
  })

  // Holds IDEMPOTENCY-1
  it('waits while the first one is in progress', async () => {
    const { post, done, release } = bench()
    const all = Promise.all([post('/slow'), post('/slow'), post('/slow')])
    await expect.poll(done).toBe(1)
    expect((await post('/slow', { a: 2 })).statusCode).toBe(409)
    release()
    const answers = await all
    expect(answers.map(({ body }) => body)).toEqual(['{"n":1}', '{"n":1}', '{"n":1}'])
    expect(done()).toBe(1)
  })

  // Holds IDEMPOTENCY-2
  it('leaves its key free when it was rejected, or the store was unavailable', async () => {
    const { post, done } = bench()
    expect([(await post('/refused')).statusCode, (await post('/refused')).statusCode]).toEqual([400, 400])
    expect([(await post('/away')).statusCode, (await post('/away')).statusCode]).toEqual([503, 503])
    expect(done()).toBe(4)
  })

  it('that failed inside is not executed again by POST and PATCH, and is by PUT', async () => {
    const { post, done } = bench()
    for (const [method, status, count] of [
      ['POST', 409, 1],
      ['PATCH', 409, 2],
      ['PUT', 500, 4],
    ] as const) {
      expect((await post('/broken', {}, { method })).statusCode).toBe(500)
      const again = await post('/broken', {}, { method })
      expect([again.statusCode, done()]).toEqual([status, count])
      if (status === 409) expect(again.body).toContain('check whether it took effect, then choose a new key')
    }
  })

  it('with a late response is not executed again', async () => {
    const { post, done, release } = bench()
    expect((await post('/late')).statusCode).toBe(503)
    const again = post('/late')
    release()
    const { statusCode, body } = await again
    expect([statusCode, body, done()]).toEqual([409, expect.stringContaining('read the current state'), 1])
  })

  it('with a response that is too large reports that', async () => {
    const { post, done } = bench()
    expect((await post('/large')).statusCode).toBe(200)
    const { statusCode, body } = await post('/large')
    expect([statusCode, body, done()]).toEqual([409, expect.stringContaining('too large to be stored'), 1])
  })

  // Holds IDEMPOTENCY-3
  it('leaves the secrets out of what it keeps', async () => {
    const { post, storage } = bench()
    expect((await post('/secret')).json()).toMatchObject({ secret: 'hush' })
    expect((await post('/secret')).json()).toEqual({ n: 1, list: [{}] })
    expect(JSON.stringify(await storage.tenant('one').collection(ANSWER_KEYS).find({}))).not.toContain('hush')
  })

  it('keeps its response for a day, even on the next host', async () => {
    const storage = openMemory()
    await bench(storage).post('/things')
    const { post, clock, done } = bench(storage)
    expect((await post('/things')).headers['idempotent-replay']).toBe('true')
    clock.now += DAY
    expect((await post('/things')).headers['idempotent-replay']).toBeUndefined()
    expect(done()).toBe(1)
  })

  it.each(['', 'k'.repeat(1_001)])('is rejected with an empty or too long key', async (key) => {
    const { post, done } = bench()
    const { statusCode, body } = await post('/things', {}, { key })
    expect([statusCode, body, done()]).toEqual([400, expect.stringContaining('send 1 to 1000 characters'), 0])
  })

  it('keeps nothing for reads and public routes', async () => {
    const { app, post, storage } = bench()
    await app.inject({ url: '/things', headers: { 'idempotency-key': 'k' } })
    await post('/open')
    expect(await storage.tenant('one').collection(ANSWER_KEYS).count()).toBe(0)
  })
})

describe('keys that are kept', () => {
  it('are removed after a day', async () => {
    const store = openMemory().tenant('one')
    const answers = new KeptAnswers(store, 0)
    await answers.begin('old', 'p', 0, false)
    await answers.begin('new', 'p', DAY, false)
    await answers.sweep(DAY)
    expect(await store.collection(ANSWER_KEYS).ids({})).toEqual(['new'])
  })
})
