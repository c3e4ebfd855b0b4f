/**
 * Tests that heavy work of requests does not run in the event loop. Each route that accepts a program (a rule, a
 * template, a converter, an expression) is in a table below: the request in its row must run in a thread, or the row
 * explains why that is unnecessary.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WorkThreads, type Work } from '../../../src/host/work/work-threads.ts'
import { until } from '../../support/until.ts'
import { printedRoutes } from '../printed-routes.ts'
import { basic } from '../sample-host.ts'
import { wholeHost, type WholeHost } from '../whole-host.ts'

/** Threads that record their work, with deadlines and a clock that the test moves by hand. */
class HandThreads extends WorkThreads {
  readonly done: string[] = []
  readonly #deadlines: Set<() => void>
  readonly #clock: { ms: number }

  constructor(deadlines = new Set<() => void>(), clock = { ms: 0 }) {
    super({
      most: 4,
      cpu: { perSecond: 0.5, most: 3_600 },
      elapsed: () => clock.ms,
      later: (ms, work) => {
        if (ms > 30_000) deadlines.add(work)
        return () => void deadlines.delete(work)
      },
    })
    this.#deadlines = deadlines
    this.#clock = clock
  }

  override do(work: Work): Promise<unknown> {
    const isUnread = Object.values(work.input).some((one) => one instanceof Uint8Array)
    this.done.push(isUnread ? `unread ${work.name}` : work.name)
    return super.do(work)
  }

  override counted<T>(tenant: string, does: () => T): T {
    this.done.push('counted')
    return super.counted(tenant, does)
  }

  /** Ends all running work as if it had taken `ms`. */
  endAll(ms: number): void {
    this.#clock.ms += ms
    for (const work of this.#deadlines) work()
  }

  pass(ms: number): void {
    this.#clock.ms += ms
  }

  get working(): number {
    return this.#deadlines.size
  }
}

const threads = new HandThreads()
let host: WholeHost
beforeAll(async () => {
  host = await wholeHost({}, { threads })
})
afterAll(() => host[Symbol.asyncDispose]())

const JSON_TYPE = 'application/json; charset=utf-8'
const TAGS = '{{streamdata.t}} '.repeat(1_000)
const ACTS = { label: 'acts', name: 'log', properties: { message: TAGS } }
const GRAPH = {
  sensors: [{ label: 'any', name: 'stream', resource: '$' }],
  actuators: [ACTS],
  triggers: [{ sourceLabel: 'any', destinationLabel: 'acts', invocationPolicy: 0 }],
}
const LOOP = '#foreach($i in [1..30000])#end{"metrics":[]}'
const CONFIG = { type: 'velocity', template: LOOP }
const BRIEF = { ...CONFIG, template: '{"metrics":[]}' }
const LONG = { text: 'x'.repeat(40_000) }
const TASK = { ...GRAPH, task: { name: 'long', type: 'reactive', resource: 'boiler', start: false } }
const CALL = { properties: { message: TAGS }, streamData: { t: 1 } }
const EXECUTED = { ...CALL, properties: { a: TAGS } }
const REHEARSAL = {
  rule: GRAPH,
  resources: ['boiler'],
  source: { messages: [{ resource: 'boiler', timestamp: 1, t: 1 }] },
}
const ON_BOILER = { conf: { resource: 'boiler' } }

/** Route, URL, body, the work recorded for it, and the status of the response, which may be a job instead. */
type Row = readonly [route: string, url: string, body: object | undefined, done: string, status: number]
const HEAVY: readonly Row[] = [
  ['POST /converter/test', '/converter/test', { config: CONFIG, payload: {} }, 'convert', 200],
  [
    'PUT /converter/one',
    '/converter/one',
    { type: 'velocity', template: `${'# '.repeat(15_000)}${LOOP}` },
    'prepare',
    201,
  ],
  ['POST /converter/one/convert', '/converter/loop/convert', { payload: {} }, 'convert', 200],
  ['POST /converter/one/ingest', '/converter/loop/ingest', {}, 'convert', 200],
  ['POST /converter/test', '/converter/test', { config: BRIEF, payload: LONG }, 'test', 200],
  ['POST /converter/one/convert', '/converter/brief/convert', { payload: LONG }, 'convert', 200],
  ['POST /converter/one/ingest', '/converter/brief/ingest', LONG, 'convert', 200],
  ['POST /api/actions/one', '/api/actions/log', CALL, 'unread call', 200],
  ['POST /api/actions/one/versions/one', '/api/actions/log/versions/latest', CALL, 'unread call', 200],
  ['POST /api/sensors/one', '/api/sensors/stream', EXECUTED, 'unread call', 200],
  ['POST /api/sensors/one/versions/one', '/api/sensors/stream/versions/latest', EXECUTED, 'unread call', 200],
  ['POST /api/tasks/simulate', '/api/tasks/simulate', { rule: GRAPH, resource: 'boiler' }, 'unread simulate', 200],
  ['POST /api/rehearsals', '/api/rehearsals', REHEARSAL, 'counted rehearse', 200],
  ['POST /api/templates', '/api/templates', { name: 'new', ...GRAPH }, 'check', 201],
  ['POST /api/rules/check', '/api/rules/check', { rule: GRAPH }, 'check', 200],
  ['PUT /api/templates/one', '/api/templates/long', { name: 'long', ...GRAPH }, 'check', 200],
  ['POST /api/templates/run', '/api/templates/run', { graph: GRAPH, ...ON_BOILER }, 'unread run', 200],
  ['POST /api/templates/one/run', '/api/templates/long/run', ON_BOILER, 'run', 200],
  [
    'POST /api/templates/debug',
    '/api/templates/debug?nodeToDebug=acts',
    { graph: GRAPH, ...ON_BOILER },
    'unread run',
    200,
  ],
  ['POST /api/templates/one/debug', '/api/templates/long/debug?nodeToDebug=acts', ON_BOILER, 'run', 200],
  ['POST /api/variableDeclarations', '/api/variableDeclarations', GRAPH, 'unread variables', 200],
  ['GET /api/schedules/next', '/api/schedules/next?cron=0%200%2012%20*%20*%20%3F&n=5000', undefined, 'schedule', 200],
  ['POST /api/tasks', '/api/tasks', TASK, 'counted', 201],
]

/** Routes that write without long work in the event loop, with the reason. */
const LIGHT: readonly (readonly [routes: RegExp, why: string])[] = [
  [/^(?:POST|PUT|PATCH) \/(?:registry|functions|frameworks)\//, 'built and run in processes of their own'],
  [/^(?:POST|PUT|PATCH) \/(?:api\/v1|reflexarc-ws-one|api\/v1\/webscripts)(?:\/|$)/, 'run in processes of their own'],
  [/^(?:POST|PUT|PATCH) \/models/, 'run in processes of their own, or in slices with turns of the loop between'],
  [
    /^(?:POST|PUT|PATCH) \/(?:config|data|series|messages)\/query/,
    'queries work in slices of a millisecond that all of them share',
  ],
  [/^POST \/converter\/one\/rejected$/, 'each payload as by ingest'],
  [/^PATCH \/api\/templates/, 'each template as by PUT, or a copy of what is stored'],
  [/^PUT \/api\/tasks\/one$|^PATCH \/api\/tasks$/, 'as by POST, or a job'],
  [/^PUT \/api\/discoveryTemplate$/, 'marks what is stored'],
  [/^POST \/api\/templates\/one\/versions\/one\/publish$/, 'a draft that was checked by PUT, checked as there'],
  [/^(?:POST|PUT) \/api\/(?:sources|sinks)\//, 'one document; connections are made beside the request'],
  [/^(?:POST|PUT|PATCH) \/api\/tasks\/one\/(?:command|nodes)\//, 'hands an input to a task that runs'],
  [/^POST \/(?:api\/tasklogs|api\/data|messages|resources\/one(?:\/events|\/commands)?)$/, 'the data plane'],
  [/^POST \/(?:api\/)?batch$/, 'a job'],
  [/^POST \/api\/tasks\/one\/versions\/one\/restore$/, 'as PUT of the task'],
  [/^POST \/api\/tasks\/one\/deliveries\/one\/retry$/, 'one call of a plug, as by the task'],
  [/^POST \/api\/templates\/one\/rollouts(?:\/one\/(?:promote|rollback))?$/, 'a plan that is carried out afterwards'],
  [/^POST \/prometheus\//, 'series are evaluated one after another, with turns of the loop between'],
  [/^POST \/mcp$/, 'each tool as the route of its service'],
  [/^POST \/auth\/v1\//, 'one record of a key or a session'],
  [/^POST \/api\/tasks\/one\/replay$/, 'a rehearsal, in a thread'],
  [
    /^(?:POST|PUT|PATCH) \/(?:api\/(?:resource|events|calendars)|retention|alarm|subscription|vault|bucket|storage)/,
    'documents and contents without a program',
  ],
]

const METHODS = ['GET', 'POST', 'PUT'] as const
/** Status of work that takes longer than two seconds on a busy machine. */
const JOB = 202
const asked = ([route, url, body]: Row, key = 'acme') =>
  host.send(
    METHODS.find((method) => route.startsWith(`${method} `)),
    url,
    body,
    key,
  )

describe('heavy work of requests', () => {
  it('has a place for each route that writes', () => {
    const known = new Set(HEAVY.map(([route]) => route))
    const unknown = printedRoutes(host.app)
      .map(({ method, url }) => `${method} ${url}`)
      .filter((route) => !/^(?:GET|DELETE) /.test(route) && !known.has(route) && !LIGHT.some(([of]) => of.test(route)))
    expect(unknown).toEqual([])
  })

  it('is done in a thread, or counted where it cannot be', async () => {
    await host.send('PUT', '/converter/loop', CONFIG)
    await host.send('PUT', '/converter/brief', BRIEF)
    await host.send('POST', '/api/templates', { name: 'long', ...GRAPH })
    const found: unknown[] = []
    for (const row of HEAVY) {
      threads.done.length = 0
      const { statusCode } = await asked(row)
      found.push([row[0], [...new Set(threads.done)].join(' '), statusCode === JOB ? row[4] : statusCode])
    }
    expect(found).toEqual(HEAVY.map(([route, , , done, status]) => [route, done, status]))
  })

  it('is answered again to a request with the same key', async () => {
    const headers = { authorization: basic('acme', 's'), 'idempotency-key': 'one' }
    const payload = { rule: GRAPH, resource: 'boiler' }
    const ask = () => host.app.inject({ method: 'POST', url: '/api/tasks/simulate', headers, payload })
    const [first, second] = [await ask(), await ask()]
    expect([first.statusCode, first.headers['content-type'], first.json()]).toEqual([
      200,
      JSON_TYPE,
      expect.objectContaining({ messages: 0 }),
    ])
    expect([second.body, second.headers['idempotent-replay']]).toEqual([first.body, 'true'])
  })

  // Holds WORK-1, WORK-3
  it('keeps no other tenant from posting, ends within its time, and leaves threads for what comes', async () => {
    const order: string[] = []
    const years = { rule: { ...GRAPH, sensors: [{ label: 'any', name: 'dice', resource: '$', pollingPeriod: 1_000 }] } }
    const endless = { ...years, from: 0, until: '2020-01-01T00:00:00Z', resource: 'boiler' }
    const heavy = Array.from({ length: 3 }, () =>
      host.ask('POST', '/api/tasks/simulate', endless).then((answer) => (order.push('heavy'), answer)),
    )
    await until(() => threads.working === 2)
    for (let post = 0; post < 5; post++) {
      expect((await host.send('POST', '/resources/pump/events', { t: post }, 'umbrella')).statusCode).toBe(200)
      order.push('post')
    }
    threads.endAll(60_000)
    await until(() => threads.working === 1)
    threads.endAll(60_000)
    const answers = await Promise.all(heavy)
    expect(answers.map(({ status, body }) => [status, body['error']])).toEqual(
      heavy.map(() => [503, 'the work exceeded its limit of 60 s; request less at once']),
    )
    expect(order).toEqual(['post', 'post', 'post', 'post', 'post', 'heavy', 'heavy', 'heavy'])
    const next = await host.ask('POST', '/api/actions/log', CALL)
    expect([next.status, next.body['result']]).toEqual([200, true])
  })

  // Holds WORK-2
  it('beyond the CPU time of its tenant is rejected with the time to wait, and only its own', async () => {
    const row = HEAVY.find(([route]) => route === 'POST /converter/test')
    const task = HEAVY.find(([route]) => route === 'POST /api/tasks')
    if (row === undefined || task === undefined) throw new Error('no such rows')
    // the previous test used half of the accumulated time
    threads.counted('acme', () => threads.pass(3_600_000))
    threads.counted('acme', () => threads.pass(3_600_000))
    for (const heavy of [row, task]) {
      const answer = await asked(heavy)
      expect([answer.statusCode, Number(answer.headers['retry-after']) > 0, answer.json()]).toEqual([
        429,
        true,
        expect.objectContaining({ error: expect.stringMatching(/CPU budget .* is used up; retry in \d+ s/) as string }),
      ])
    }
    expect((await asked(row, 'umbrella')).statusCode).toBe(200)
    expect((await host.send('POST', '/converter/test', { config: BRIEF, payload: {} })).statusCode).toBe(200)
    threads.pass(7_200_000)
    expect((await asked(row)).statusCode).toBe(200)
  })
})
