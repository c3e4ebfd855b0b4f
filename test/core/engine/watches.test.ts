/** Tests the reports of tasks on the fast path: lifecycle events of all, all events of one, and counts. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { CoreEngine } from '../../../src/core/engine/engine.ts'
import type { LiveTask } from '../../../src/core/engine/live-task.ts'
import { VirtualClock, type EngineEvent, type Rule } from '../../../src/index.ts'
import { promisesSettled } from '../../support/live-engine.ts'
import { generate } from '../../support/generate.ts'
import { expectRow } from '../../support/row-of.ts'
import { actuatorPlug } from '../../support/make-plug.ts'

const say = actuatorPlug('say', (context) => {
  const what = context.streamValue('say')
  if (what === 'log') context.log.info('it is hot')
  if (what === 'throw') throw new Error('broken')
  if (what === 'later') return Promise.resolve()
  return undefined
})
const RULE: Rule = {
  sensors: [{ label: 's', name: 'streamingDataSensor', resource: '$', properties: { parameter: 'a', threshold: 10 } }],
  actuators: [{ label: 'act', name: 'say' }],
  triggers: [{ sourceLabel: 's', destinationLabel: 'act', statesTrigger: ['Above'], invocationPolicy: 0.5 }],
  task: { type: 'reactive', resource: 'r' },
}

function engineOf(options: { throws?: boolean } = {}) {
  const rare: EngineEvent[] = []
  const reported: string[] = []
  let open = 0
  const clock = new VirtualClock(0)
  const engine = new CoreEngine({
    plugs: [...builtins, say],
    scheduler: clock,
    ids: () => 't',
    seed: 1,
    generate,
    logger: { warn: (text) => reported.push(text), error: (text) => reported.push(text) },
    onRare: (event) => {
      rare.push(event)
      if (options.throws === true) throw new Error('not now')
    },
    timed: () => {
      open++
      return () => void open--
    },
  })
  const send = (values: Record<string, unknown> = {}) => engine.receive({ resource: 'r', a: 20, say: '', ...values })
  const task = (id: string) => engine.tasks.get(id) as LiveTask
  return { engine, clock, rare, reported, send, task, open: () => open }
}

/** Two tasks that are rows. */
async function quiet(options: { throws?: boolean } = {}) {
  const made = engineOf(options)
  for (const id of ['a', 'b']) await made.engine.start(RULE, { id })
  for (let i = 0; i < 2; i++) made.send()
  for (const id of ['a', 'b']) expectRow(made.task(id), true)
  return made
}

describe('lifecycle events', () => {
  it('are starts, ends, failures and log lines, even without subscribers and for idle tasks', async () => {
    const { engine, clock, rare, send, task } = await quiet()
    send()
    clock.advanceTo(1000)
    send({ say: 'log' })
    clock.advanceTo(2000)
    send({ say: 'throw' })
    await engine.stop('a')
    expect(rare.filter((event) => event.task === 'a').map(({ type, time }) => `${time} ${type}`)).toEqual([
      '0 started',
      '1000 log',
      '2000 result',
      '2000 stopped',
    ])
    expectRow(task('b'), true)
  })

  it('are reported once to their listener, and to subscribers of all events', async () => {
    const { engine, rare, send } = await quiet()
    const all: EngineEvent[] = []
    engine.events$.subscribe((event) => all.push(event))
    engine.events({ tasks: ['a'] }).subscribe((event) => all.push(event))
    const before = rare.length
    send({ a: 'none' })
    const failed = rare.slice(before)
    expect(failed.map(({ type, task: id }) => `${id} ${type}`)).toEqual(['a result', 'b result'])
    expect(all.filter((event) => event === failed[0])).toHaveLength(2)
    expect(all.filter((event) => event === failed[1])).toHaveLength(1)
  })

  it('are harmless when their listener throws', async () => {
    const { engine, reported } = await quiet({ throws: true })
    await engine.stop('a')
    expect(engine.tasks.get('a')?.status).toBe('stopped')
    expect(reported.at(-1)).toContain('not now')
  })
})

describe('a watch', () => {
  it('reports all events of one task; other tasks stay rows', async () => {
    const { engine, send, task } = await quiet()
    const events: EngineEvent[] = []
    const watch = engine.events({ tasks: ['a'] }).subscribe((event) => events.push(event))
    expectRow(task('a'), false)
    expectRow(task('b'), true)
    send()
    expect(events.map(({ type }) => type)).toEqual(['data', 'result', 'state', 'held'])
    expect(new Set(events.map((event) => event.task))).toEqual(new Set(['a']))
    watch.unsubscribe()
    for (let i = 0; i < 2; i++) send()
    expectRow(task('a'), true)
    expectRow(task('b'), true)
    expect(events).toHaveLength(4)
  })

  it('stays for a task that is created or restored', async () => {
    const { engine, send } = engineOf()
    const types: string[] = []
    engine.events({ tasks: ['a'] }).subscribe(({ type }) => types.push(type))
    await engine.start(RULE, { id: 'a' })
    const saved = (engine.tasks.get('a') as LiveTask).save()
    await engine.remove('a', { force: true })
    await engine.restore(saved)
    send()
    expect(types).toEqual(['started', 'stopped', 'data', 'result', 'state', 'fired', 'result'])
  })

  it('can coexist with others', async () => {
    const { engine, send, task } = await quiet()
    const seen: string[] = []
    const first = engine.events({ tasks: ['a'] }).subscribe(() => seen.push('first'))
    const second = engine.events({ tasks: ['a'] }).subscribe(() => seen.push('second'))
    first.unsubscribe()
    send()
    expect(new Set(seen)).toEqual(new Set(['second']))
    second.unsubscribe()
    for (let i = 0; i < 2; i++) send()
    expectRow(task('a'), true)
  })

  it('that throws is reported, and ends with the engine', async () => {
    const { engine, send, reported } = await quiet()
    let isOver = false
    engine.events({ tasks: ['a'] }).subscribe({
      next: () => {
        throw new Error('no time')
      },
      complete: () => (isOver = true),
    })
    send()
    expect(reported.at(-1)).toContain('no time')
    await engine.close()
    expect(isOver).toBe(true)
  })
})

describe('counts', () => {
  it('cover messages, late answers, firings, and firings that were held back', async () => {
    const { engine, clock, send } = await quiet()
    // two starts, two messages for two tasks
    const none = { held: 2, dropped: 0, late: 0, duplicate: 0, skewed: 0 }
    expect(engine.counts).toEqual({ steps: 6, firings: 2, calls: 2, ...none })
    clock.advanceTo(1000)
    send({ say: 'later' })
    expect(engine.counts).toEqual({ steps: 8, firings: 4, calls: 4, ...none })
    await promisesSettled()
    expect(engine.counts).toEqual({ steps: 10, firings: 4, calls: 4, ...none })
  })

  it('include the duration of asynchronous calls', async () => {
    const { clock, send, open } = await quiet()
    clock.advanceTo(1000)
    send({ say: 'later' })
    expect(open()).toBe(2)
    await promisesSettled()
    expect(open()).toBe(0)
  })
})
