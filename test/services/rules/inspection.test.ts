import { Compile } from 'typebox/compile'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StreamEvent } from '../../../src/services/rules/contract.ts'
import { ExplanationSchema } from '../../../src/services/rules/inspection/explanation-schema.ts'
import { got, pluck, textOf } from '../support/answer.ts'
import { KEPT_EVENTS } from './support/bare-runner.ts'
import { bench, NOON, type Bench } from './support/bench-of-rules.ts'
import { ruleOf } from './support/rules.ts'

let rules: Bench
beforeEach(async () => {
  rules = await bench()
  await rules.ask('POST', '/api/tasks', ruleOf())
})
afterEach(() => rules.close())

const send = (temperature: number) =>
  rules.ask('POST', '/api/data', { resource: 'boiler-1', data: { parameterName: 'temperature', value: temperature } })

describe('a node', () => {
  it('shows equal probabilities while it is not observed', async () => {
    const { body } = await rules.ask('GET', '/api/tasks/t1/nodes/hot')
    expect(body).toMatchObject({
      name: 'hot',
      states: [{ COLD: 0.5 }, { HOT: 0.5 }],
      mostLikelyState: null,
    })
  })

  it('shows its observation', async () => {
    await send(93)
    const { body } = await rules.ask('GET', '/api/tasks/t1/nodes/hot')
    expect(body).toMatchObject({ states: [{ COLD: 0 }, { HOT: 1 }], rawData: { temperature: 93 }, collectedTime: NOON })
    const actuator = await rules.ask('GET', '/api/tasks/t1/nodes/alarm')
    expect(actuator.body).toMatchObject({ name: 'alarm', states: [], mostLikelyState: null, sensor: { name: 'say' } })
  })

  it('has the states that its plug declares', async () => {
    expect((await rules.ask('GET', '/api/tasks/t1/nodes/hot/states')).body).toEqual(['COLD', 'HOT'])
    expect((await rules.ask('GET', '/api/tasks/t1/nodes/alarm/states')).body).toEqual([])
    expect((await rules.ask('GET', '/api/tasks/t1/nodes/nope/states')).status).toBe(404)
  })

  it.each([
    ['PATCH', { state: 'HOT' }, 'application/json'],
    ['POST', 'state=HOT', 'application/x-www-form-urlencoded'],
    ['POST', 'state=HOT', 'text/plain'],
    ['POST', { state: 'HOT' }, 'application/json'],
  ] as const)('accepts a state by %s of %j, and fires', async (method, body, type) => {
    const answer = await rules.ask(method, '/api/tasks/t1/nodes/hot', body, { 'content-type': type })
    expect(answer.status).toBe(200)
    expect(answer.at('mostLikelyState')).toEqual({ state: 'HOT', probability: 1 })
    const explained = await rules.ask('GET', '/api/tasks/t1/explain?node=alarm')
    expect(explained.at('fired.why.trigger')).toMatchObject({ source: 'hot', destination: 'alarm', to: 'HOT' })
  })

  it('runs on request', async () => {
    await send(93)
    await rules.ask('POST', '/api/tasks/t1/nodes/hot', 'operation=start', { 'content-type': 'text/plain' })
    expect((await rules.ask('GET', '/api/tasks/t1')).at('invocationCount')).toBe(2)
  })

  it.each(['', 'state=', 'operation=explode', 'colour=red'])('rejects the command "%s"', async (command) => {
    const { status } = await rules.ask('POST', '/api/tasks/t1/nodes/hot', command, { 'content-type': 'text/plain' })
    expect(status).toBe(400)
  })

  it('of a stopped task rejects commands', async () => {
    await rules.ask('POST', '/api/tasks/t1/command/stop')
    const { status, body } = await rules.ask('PATCH', '/api/tasks/t1/nodes/hot', { state: 'HOT' })
    expect([status, got(body, 'code')]).toEqual([400, 'WRONG_STATUS'])
  })
})

describe('an explanation', () => {
  const explained = async (node: string) => (await rules.ask('GET', `/api/tasks/t1/explain?node=${node}`)).body

  it('names the reason why an actuator does not fire and the change that would fire it, also as sentences', async () => {
    await send(20)
    const answer = await explained('alarm')
    expect(answer).toMatchObject({
      node: 'alarm',
      kind: 'actuator',
      fired: null,
      triggers: [
        { source: 'hot', needs: [{ node: 'hot', state: 'HOT' }], ways: [{ states: [{ node: 'hot', state: 'HOT' }] }] },
      ],
      text: { sentence: 'alarm has not fired.', whyNot: [{ source: 'hot', needs: 'It requires hot HOT.' }] },
    })
    expect(Compile(ExplanationSchema).Errors(answer)).toEqual([])
  })

  it('of a sensor contains its state and the reading behind it', async () => {
    await send(93)
    const answer = await explained('hot')
    expect(answer).toMatchObject({ kind: 'sensor', triggers: [], state: { value: 'HOT', sensors: [{ node: 'hot' }] } })
    expect(got(answer, 'text.sentence')).toMatch(/^hot is HOT since 2\d{3}-.*Z, because .* sent .*93/)
    expect(Compile(ExplanationSchema).Errors(answer)).toEqual([])
  })
})

/** Makes the task report every step until aborted. */
async function watched(): Promise<AbortController> {
  const controller = new AbortController()
  void until(rules.api.inspection.events('t1', { signal: controller.signal })[Symbol.asyncIterator](), 'never')
  await new Promise((resolve) => setImmediate(resolve))
  return controller
}

const linesOf = async () => {
  const { body } = await rules.ask('POST', '/api/tasklogs', { taskId: 't1' })
  return pluck(got(body, 'logs'), 'message')
}

describe('the log of a task', () => {
  it('begins with its newest line, and has linked pages', async () => {
    await watched()
    await send(93)
    const { body } = await rules.ask('POST', '/api/tasklogs', { taskId: 't1' })
    const messages = pluck(got(body, 'logs'), 'message')
    expect(messages).toEqual(
      expect.arrayContaining(['task started, run 1', 'measured 93', 'hot fired alarm', 'alarm returned too hot']),
    )
    expect(messages.at(-1)).toBe('task started, run 1')
    expect(got(body, 'logs.0')).toMatchObject({ time: new Date(NOON).toISOString(), taskId: 't1' })
    const paged: string[] = []
    for (let pageToken: string | undefined; ;) {
      const page = (await rules.ask('POST', '/api/tasklogs', { taskId: 't1', limit: 2, pageToken })).body
      paged.push(...pluck(got(page, 'logs'), 'message').map(textOf))
      const next = got(page, 'pageToken')
      pageToken = next === undefined ? undefined : textOf(next)
      if (pageToken === undefined) break
    }
    expect(paged).toEqual(messages)
  })

  it.each([
    [{ logLevel: 'INFO', messageContains: 'fired' }, ['hot fired alarm']],
    [{ logLevel: 'ERROR' }, []],
    [{ until: NOON }, []],
    [{ from: NOON, messageContains: 'measured' }, ['measured 93']],
    [{ from: '2026-11-20T12:00:01Z' }, []],
  ])('can be searched by %j', async (query, expected) => {
    await watched()
    await send(93)
    const { body } = await rules.ask('POST', '/api/tasklogs', { taskId: 't1', ...query })
    expect(pluck(got(body, 'logs'), 'message')).toEqual(expected)
  })

  it('can be requested by GET too', async () => {
    await watched()
    await send(93)
    const { body } = await rules.ask('GET', '/api/tasklogs?taskId=t1&messageContains=fired&logLevel=INFO')
    expect(got(body, 'logs')).toMatchObject([{ message: 'hot fired alarm', level: 'INFO', node: 'alarm' }])
  })
})

/** Returns the next events of a stream, up to and including one of that type. */
async function until(events: AsyncIterator<StreamEvent>, type: string): Promise<readonly StreamEvent[]> {
  const seen: StreamEvent[] = []
  for (let next = await events.next(); next.done !== true; next = await events.next()) {
    seen.push(next.value)
    if (next.value.event.type === type) break
  }
  return seen
}

const open = (lastEventId?: string) => {
  const controller = new AbortController()
  const events = rules.api.inspection.events('t1', {
    signal: controller.signal,
    ...(lastEventId !== undefined && { lastEventId }),
  })
  return { controller, events: events[Symbol.asyncIterator]() }
}

// Holds EVENTS-1, EVENTS-2
describe('the events of a task', () => {
  it('resume after the last seen one', async () => {
    const first = open()
    const reading = until(first.events, 'result')
    await new Promise((resolve) => setImmediate(resolve))
    await send(93)
    const seen = await reading
    first.controller.abort()
    expect(seen.map(({ event }) => event.type)).toEqual(['data', 'log', 'result'])
    const second = open(seen[0]?.id)
    const rest = await until(second.events, 'fired')
    second.controller.abort()
    expect(rest[0]?.id).toBe(seen[1]?.id)
    expect(rest.at(-1)?.event).toMatchObject({ type: 'fired', node: 'alarm' })
  })

  it('end for a reader that falls too far behind, while the task continues', async () => {
    const { events } = open()
    const first = events.next()
    await new Promise((resolve) => setImmediate(resolve))
    for (let i = 0; i < 400; i++) await send(i)
    expect((await rules.ask('GET', '/api/tasks/t1')).at('invocationCount')).toBe(400)
    await first
    let read = 1
    while (read <= 1001 && (await events.next()).done !== true) read++
    expect(read).toBeLessThanOrEqual(1001)
    expect(rules.service.gauges().eventStreams).toBe(0)
  })

  it('end when the reader disconnects', async () => {
    const { events, controller } = open()
    const next = events.next()
    await new Promise((resolve) => setImmediate(resolve))
    expect(rules.service.gauges().eventStreams).toBe(1)
    controller.abort()
    expect(await next).toMatchObject({ done: true })
    expect(rules.service.gauges().eventStreams).toBe(0)
  })
})

describe('the streams of a task', () => {
  it('end when it is deleted, and its log is deleted', async () => {
    const { signal } = new AbortController()
    const events = rules.api.inspection.events('t1', { signal })[Symbol.asyncIterator]()
    const reading = until(events, 'never')
    await new Promise((resolve) => setImmediate(resolve))
    await rules.ask('DELETE', '/api/tasks/t1?forceStop=true')
    expect((await reading).map(({ event }) => event.type)).toEqual(['stopped'])
    expect(rules.service.gauges().eventStreams).toBe(0)
  })

  it('end when the host stops accepting requests', async () => {
    const closing = new AbortController()
    await rules.service.start(closing.signal)
    const { signal } = new AbortController()
    const reading = until(rules.api.inspection.events('t1', { signal })[Symbol.asyncIterator](), 'never')
    await new Promise((resolve) => setImmediate(resolve))
    closing.abort()
    expect(await reading).toEqual([])
  })
})

describe('a task without subscribers', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  /** Opens a stream, sees the task fire, and closes the stream. */
  async function seenOnce(): Promise<string | undefined> {
    const { events, controller } = open()
    const reading = until(events, 'fired')
    await turn()
    await send(93)
    const seen = await reading
    controller.abort()
    await turn()
    rules.clock.advanceTo(NOON + 60_001)
    return seen.at(-1)?.id
  }

  it('reports missed events to a returning reader', async () => {
    const last = await seenOnce()
    await send(94)
    const { events, controller } = open(last)
    const seen = await until(events, 'fired')
    controller.abort()
    expect(seen.map(({ event }) => event.type)).not.toContain('gap')
    expect(seen.at(-1)?.event).toMatchObject({ type: 'fired', time: NOON + 60_001 })
  })

  it('reports a gap when more events were missed than are kept', async () => {
    const last = await seenOnce()
    for (let i = 0; i <= KEPT_EVENTS; i++) await send(94 + i)
    const { events, controller } = open(last)
    const [first, second] = [await events.next(), await events.next()]
    controller.abort()
    expect(first.value).toMatchObject({ event: { type: 'gap' } })
    expect(second.value).toMatchObject({ event: { task: 't1', time: NOON + 60_001 } })
  })

  it('has its last events in its log when stopped', async () => {
    await send(93)
    await rules.api.tasks.stop('t1')
    expect((await linesOf()).slice(0, 2)).toEqual(['task stopped: stopped', 'alarm returned too hot'])
  })
})
