/**
 * Tests models on another server: which requests are sent, which are repeated, and what happens while the server is
 * away.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import type { Json } from '../../../../src/kernel/json.ts'
import type { OpenModel } from '../../../../src/services/models/driver.ts'
import { remoteDriver } from '../../../../src/services/models/remote/remote-driver.ts'
import { NOT_SENT, type RemoteAnswer } from '../../../../src/services/models/remote/remote-server.ts'
import { driverSuite } from '../../../contracts/models/driver-suite.ts'
import { deferred } from '../../../support/deferred.ts'
import { REMOTE_OPTIONS, remotePackage, TestServer } from './test-server.ts'
import { refusal } from '../test-driver.ts'

const server = await TestServer.start()
afterAll(() => server.stop())
beforeEach(() => {
  server.instead = () => undefined
  server.seen.length = 0
})

const instances: readonly Json[] = [
  [1, 2],
  [0.5, -3],
  [1e9, 1],
]
const predictions = [3, -2.5, 1_000_000_001]
const shared = {
  driver: () => Promise.resolve(remoteDriver(REMOTE_OPTIONS)),
  instances,
  predictions,
  brokenCodes: /^REMOTE_FAILED$/,
}

driverSuite('remote by protocol v1', {
  ...shared,
  model: remotePackage('v1', server),
  broken: remotePackage('v1', server, 'none'),
  wrong: [
    [['x', 1], /answered 400: instance [01] is no list of numbers/],
    [7, /answered 400: instance [01] is no list of numbers/],
  ],
})
driverSuite('remote by protocol v2', {
  ...shared,
  model: remotePackage('v2', server),
  broken: remotePackage('v2', server, 'none'),
  wrong: [
    [[1], /\/instances\/1 <- has 1 values \(send 2\)/],
    [['x', 1], /\/instances\/1 <- has "x" where FP64 is required/],
    [7, /\/instances\/1 <- has 1 values \(send 2\)/],
    [{ x: [1, 2] }, /\/instances\/0 <- is \[1,2\] \(send an object of x\)/],
  ],
})

describe('a model on a server', () => {
  let open: OpenModel
  const predict = (...rows: readonly Json[]): Promise<readonly Json[]> => {
    return open.call({ operation: 'predict', instances: rows })
  }
  beforeAll(async () => {
    open = await remoteDriver(REMOTE_OPTIONS).open(
      remotePackage('v2', { url: server.url, protocol: 'v2', model: 'sum', headers: { Authorization: 'Bearer x' } }),
    )
  })

  it('is called once for simultaneous calls, with the headers of its record', async () => {
    expect(await Promise.all([predict([1, 2]), predict([3, 4], [5, 6])])).toEqual([[3], [7, 11]])
    expect(server.calls).toMatchObject([
      {
        path: '/v2/models/sum/infer',
        headers: { authorization: 'Bearer x', 'content-type': 'application/json' },
        body: { inputs: [{ name: 'x', shape: [3, 2], datatype: 'FP64', data: [1, 2, 3, 4, 5, 6] }] },
      },
    ])
  })

  it('reports its inputs, as far as its server does', async () => {
    expect(open.signatures).toEqual([{ operation: 'predict', inputs: [{ name: 'x', type: 'number', shape: [2] }] }])
    const table = await remoteDriver(REMOTE_OPTIONS).open(remotePackage('v2', server, 'table'))
    expect(table.signatures).toEqual([{ operation: 'predict', inputs: [] }])
  })

  it('receives named features as one column each, marked as a table', async () => {
    const table = await remoteDriver(REMOTE_OPTIONS).open(remotePackage('v2', server, 'table'))
    const rows = [
      { heat: 1, load: 2 },
      { load: 4, heat: 3 },
    ]
    expect(await table.call({ operation: 'predict', instances: rows })).toEqual([3, 7])
    expect(server.calls[0]?.body).toEqual({
      inputs: [
        { name: 'heat', shape: [2, 1], datatype: 'FP64', data: [1, 3] },
        { name: 'load', shape: [2, 1], datatype: 'FP64', data: [2, 4] },
      ],
      parameters: { content_type: 'pd' },
    })
  })

  it('returns probabilities where it has them, and reports an error where not', async () => {
    const asked = { operation: 'predict', probabilities: true, instances: [[1, 2]] } as const
    await expect(open.call(asked)).rejects.toMatchObject({ code: 'VALIDATION' })
    expect(server.calls[0]?.body).toMatchObject({ outputs: [{ name: 'predict_proba' }] })
    const output = { name: 'predict_proba', shape: [1, 2], datatype: 'FP64', data: [0.25, 0.75] }
    server.instead = () => ({ body: { outputs: [output] } })
    expect(await open.call(asked)).toEqual([[0.25, 0.75]])
  })

  it('of TensorFlow classifies and regresses by protocol v1, by its own signatures', async () => {
    const dim = [{ size: '-1' }, { size: '1' }]
    const inputs = { heat: { dtype: 'DT_FLOAT', tensor_shape: { dim } } }
    const definitions = { hot: { inputs, method_name: 'tensorflow/serving/classify' } }
    server.instead = ({ path }) => {
      if (path.endsWith('/metadata')) return { body: { metadata: { signature_def: { signature_def: definitions } } } }
      if (path.endsWith(':classify')) return { body: { results: [[['hot', 0.5]]] } }
      if (path.endsWith(':regress')) return { body: { result: [2] } }
      return { body: { model_version_status: [{ state: 'AVAILABLE' }] } }
    }
    const driver = remoteDriver(REMOTE_OPTIONS)
    const model = await driver.open({ ...remotePackage('v1', server), framework: 'tensorflow' })
    expect(model.signatures).toEqual([
      { name: 'hot', operation: 'classify', inputs: [{ name: 'heat', type: 'number', shape: [1] }] },
    ])
    const examples = [{ heat: [1] }]
    const classes = await model.call({ operation: 'classify', signature: 'hot', instances: examples })
    expect(classes).toEqual([[['hot', 0.5]]])
    expect(await model.call({ operation: 'regress', instances: examples })).toEqual([2])
    expect(server.calls.map(({ body }) => body)).toEqual([{ examples, signature_name: 'hot' }, { examples }])
  })

  it.each<[number, string, string, RegExp]>([
    [400, '{"error":"no"}', 'VALIDATION', /^127\.0\.0\.1:\d+ answered 400: no$/],
    [422, '{"detail":[{"msg":"no list"}]}', 'VALIDATION', /no list/],
    [401, '', 'REMOTE_FAILED', /answered 401; register valid headers/],
    [404, '{"error":"gone"}', 'REMOTE_FAILED', /answered 404: gone/],
    [302, '', 'REMOTE_FAILED', /answered 302; register the address that it redirects to/],
    [500, 'Traceback\n  File "x"\nValueError: odd\n', 'MODEL_FAILED', /answered 500: ValueError: odd$/],
    [502, '', 'REMOTE_FAILED', /answered 502/],
    [504, '', 'REMOTE_LATE', /answered 504/],
    [200, '{"outputs":[{"data":[NaN]}]}', 'MODEL_FAILED', /is not JSON/],
    [200, '{}', 'MODEL_FAILED', /it has no outputs/],
  ])('whose server responds with %i %s is %s, and the next call succeeds', async (status, body, code, message) => {
    server.instead = () => ({ status, body })
    await expect(predict([1, 2])).rejects.toMatchObject(refusal(code, message))
    expect(server.calls).toHaveLength(1)
    server.instead = () => undefined
    expect(await predict([1, 2])).toEqual([3])
  })

  it('is not read beyond a limit', async () => {
    server.instead = () => ({ body: ' '.repeat(33_600_000) })
    await expect(predict([1, 2])).rejects.toThrow('the response is longer than 33554432 bytes')
  })

  it('whose server closes the connection is not called twice for work that may have been done', async () => {
    server.instead = () => 'drop'
    await expect(predict([1, 2])).rejects.toMatchObject({ code: 'REMOTE_FAILED' })
    expect(server.calls).toHaveLength(1)
  })

  it('is opened only when its server reports it as ready', async () => {
    server.instead = () => ({ body: { ready: false } })
    for (const protocol of ['v1', 'v2'] as const) {
      const opening = remoteDriver(REMOTE_OPTIONS).open(remotePackage(protocol, server))
      await expect(opening).rejects.toMatchObject(refusal('REMOTE_FAILED', /model sum is not ready on/))
    }
  })

  it('that is released receives no more calls, and calls in flight end', async () => {
    const gone = await remoteDriver(REMOTE_OPTIONS).open(remotePackage('v2', server))
    const asked = deferred<void>()
    server.instead = () => {
      asked.resolve()
      return new Promise(() => undefined)
    }
    const call = gone.call({ operation: 'predict', instances: [[1, 2]] })
    const ended = Promise.allSettled([call])
    await asked.promise
    await gone.close()
    expect(await ended).toMatchObject([{ status: 'rejected', reason: { code: 'CLOSED' } }])
    await expect(gone.call({ operation: 'predict', instances: [[1, 2]] })).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('a request', () => {
  const READY: RemoteAnswer = { status: 200, body: '{"ready":true}' }
  const SUM: RemoteAnswer = { status: 200, body: '{"predictions":[3]}' }
  const refused = new AppError('REMOTE_FAILED', 'no connection', { cause: NOT_SENT })
  const broken = new AppError('REMOTE_FAILED', 'the connection ended')
  const late = new AppError('REMOTE_LATE', 'no answer')
  const busy: RemoteAnswer = { status: 503, body: '' }
  const badGateway: RemoteAnswer = { status: 502, body: '' }

  it.each<[string, readonly (RemoteAnswer | AppError)[], number, string]>([
    ['that never arrived is sent again', [refused, refused, SUM], 3, 'good'],
    ['is sent three times at most', [refused, refused, refused, SUM], 3, 'REMOTE_FAILED'],
    ['that a busy server did not accept is sent again', [busy, SUM], 2, 'good'],
    ['that may have been read is not sent again', [broken, SUM], 1, 'REMOTE_FAILED'],
    ['that waits too long is not sent again', [late, SUM], 1, 'REMOTE_LATE'],
    ['that a proxy lost is not sent again', [badGateway, SUM], 1, 'REMOTE_FAILED'],
  ])('%s', async (_title, outcomes, count, result) => {
    const left = [...outcomes]
    const pauses: number[] = []
    let sent = 0
    const model = await remoteDriver({
      ...REMOTE_OPTIONS,
      clock: () => 0,
      later: (ms, work) => {
        pauses.push(ms)
        work()
        return () => undefined
      },
      transport: ({ method }) => {
        if (method === 'GET') return Promise.resolve(READY)
        sent++
        const outcome = left.shift() ?? expect.fail('too many')
        return outcome instanceof AppError ? Promise.reject(outcome) : Promise.resolve(outcome)
      },
    }).open(remotePackage('v1', server))
    const answer = model.call({ operation: 'predict', instances: [[1, 2]] })
    const code = await answer.then(
      () => 'good',
      (error: AppError) => error.code,
    )
    expect(code).toBe(result)
    expect(sent).toBe(count)
    expect(pauses).toEqual([100, 500].slice(0, count - 1))
  })

  it('to an unavailable server fails for all waiting calls, and not for other models', async () => {
    const held = deferred<RemoteAnswer>()
    let sent = 0
    const driver = remoteDriver({
      ...REMOTE_OPTIONS,
      transport: ({ method, url }) => {
        if (method === 'GET') return Promise.resolve(READY)
        if (url.startsWith('http://good')) return Promise.resolve(SUM)
        sent++
        return held.promise
      },
    })
    const [away, good] = await Promise.all(
      ['http://away', 'http://good'].map((url) => driver.open(remotePackage('v1', { url, protocol: 'v1' }))),
    )
    const ask = (model: OpenModel | undefined) => model?.call({ operation: 'predict', instances: [[1, 2]] })
    // four requests are in flight; further requests wait
    const calls: unknown[] = []
    for (let at = 0; at < 10; at++) {
      calls.push(ask(away))
      await REMOTE_OPTIONS.breathe()
      await REMOTE_OPTIONS.breathe()
    }
    expect(sent).toBe(4)
    expect(await ask(good)).toEqual([3])
    held.reject(late)
    const settled = await Promise.allSettled(calls)
    expect(settled.map((one) => one.status === 'rejected' && (one.reason as AppError).code)).toEqual(
      Array.from({ length: 10 }, () => 'REMOTE_LATE'),
    )
    expect(sent).toBe(4)
  })
})
