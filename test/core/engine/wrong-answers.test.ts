/** Tests that results other than plain JSON are rejected on arrival, and leave the task unchanged. */
import { describe, expect, it } from 'vitest'
import type { PlugAnswer } from '../../../src/core/plug/plug.ts'
import { createEngine, VirtualClock } from '../../../src/index.ts'
import { is, on, rule, trigger } from '../../support/rule-writing.ts'
import { live, promisesSettled, restarted } from '../../support/live-engine.ts'
import { actuatorPlug, sensorPlug } from '../../support/make-plug.ts'

const simple = rule({ sensors: { s: on('switch') }, actuators: ['act'], triggers: [trigger('s', 'act', is('On'))] })

function circle(): Record<string, unknown> {
  const self: Record<string, unknown> = {}
  return Object.assign(self, { self })
}

const WRONG: readonly (readonly [string, Record<string, unknown>, string])[] = [
  ['a bigint', { value: 12n }, 'rawData.value, which is a bigint'],
  ['a circle', circle(), 'rawData.self, which leads back to rawData'],
  ['a map', { value: new Map([[1, 2]]) }, 'rawData.value, which is an object of the class Map'],
  ['NaN', { value: [Number.NaN] }, 'rawData.value[0], which is NaN'],
  ['a function', { value: () => 1 }, 'rawData.value, which is a function'],
  ['a date', { value: { at: new Date(0) } }, 'rawData.value.at, which is an object of the class Date'],
]

describe('a result that is not plain JSON', () => {
  it.each(WRONG)('of a sensor is an error of its run: %s', async (_, rawData, text) => {
    const t = await live(simple)
    t.plugs.say('s', { state: 'Off', rawData: { value: 1 } }, { state: 'On', rawData }, 'On')
    t.send({})
    t.send({})
    expect(t.events.filter(({ type }) => type === 'result')).toMatchObject([
      { node: 's', ok: true },
      { node: 's', ok: false, error: expect.stringContaining(text) as string },
    ])
    expect(t.fired()).toEqual([])
    expect(t.task.node('s')).toMatchObject({ rawData: { value: 1 } })
    expect(t.task.info().health.errorsCount).toBe(1)
    const after = await restarted(t)
    after.send({})
    expect(after.fired()).toEqual(['0 act'])
  })

  it.each(WRONG)('of an actuator is an error of its run: %s', async (_, rawData, text) => {
    const t = await live(simple)
    t.plugs.say('act', { rawData })
    t.send({ s: 'On' })
    expect(t.lines('result').at(-1)).toContain(`act failed: plug act returned ${text}`)
    expect(() => JSON.stringify(t.task.save())).not.toThrow()
  })

  it.each(WRONG)('that arrives later is an error of its run: %s', async (_, rawData, text) => {
    const t = await live(simple)
    t.plugs.say('s', () => Promise.resolve({ state: 'On', rawData }))
    t.send({})
    await promisesSettled()
    expect(t.lines('result')).toEqual([expect.stringContaining(`s failed: plug switch returned ${text}`)])
    expect(() => JSON.stringify(t.task.save())).not.toThrow()
  })

  it.each(WRONG)('is an error of its run as a memory: %s', async (_, memory, text) => {
    const t = await live(simple)
    t.plugs.say('s', { state: 'On', internalState: memory })
    t.send({})
    expect(t.lines('result')).toEqual([expect.stringContaining(text.replace(/rawData/g, 'internalState'))])
    expect(() => JSON.stringify(t.task.save())).not.toThrow()
  })

  it.each(WRONG)('cannot be pushed: %s', async (_, rawData, text) => {
    const t = await live(simple)
    expect(() => t.task.push('s', { state: 'On', rawData })).toThrow(`the push to s has ${text}`)
    expect(t.fired()).toEqual([])
    expect(() => JSON.stringify(t.task.save())).not.toThrow()
  })

  it.each(WRONG)('has the same effect on a row as on a task: %s', async (_, rawData, text) => {
    const engine = createEngine({
      scheduler: new VirtualClock(0),
      plugs: [
        sensorPlug('s', ['On'], {
          openOutput: true,
          execute: (context) => ({
            state: 'On',
            rawData: context.streamValue('bad') === true ? rawData : { value: 1 },
          }),
        }),
        actuatorPlug('act', (context) =>
          context.streamValue('worse') === true ? { rawData } : { rawData: { value: 1 } },
        ),
      ],
    })
    const task = await engine.start({
      sensors: [{ label: 's', name: 's', resource: 'r', dataTrigger: true }],
      actuators: [{ label: 'act', name: 'act' }],
      triggers: [{ sourceLabel: 's', destinationLabel: 'act', statesTrigger: ['On'] }],
    })
    for (const message of [{}, {}, { bad: true }, { bad: false }, { worse: true }])
      engine.receive({ resource: 'r', ...message })
    expect(task.info().health.errorsCount).toBe(2)
    expect(JSON.stringify(task.node('act'))).toContain(JSON.stringify(text).slice(1, -1))
    expect(() => JSON.stringify(task.save())).not.toThrow()
    await engine.close()
  })
})

describe('a thenable', () => {
  /** A foreign promise: it calls back synchronously, several times, and returns nothing. */
  const thenable = (answer: PlugAnswer) =>
    ({
      then(fulfil: (given: unknown) => void) {
        fulfil(answer)
        fulfil('Off')
      },
    }) as unknown as PlugAnswer

  it('is awaited like a promise, and its first result counts', async () => {
    const t = await live(simple)
    t.plugs.say('s', () => thenable('On'))
    t.plugs.say('act', () => thenable({ message: 'done' }))
    t.send({})
    await promisesSettled()
    expect(t.lines('result')).toEqual(['0 result s On', '0 result act -'])
    expect(t.task.node('act')).toMatchObject({ rawData: { message: 'done' } })
  })

  it('that throws, or returns another that rejects, is an error of the run', async () => {
    const t = await live(simple)
    const broken = { then: () => { throw new Error('broken') } } as unknown as PlugAnswer // prettier-ignore
    t.plugs.say('s', () => broken, () => thenable(Promise.reject(new Error('torn')) as unknown as PlugAnswer)) // prettier-ignore
    for (let i = 0; i < 2; i++) {
      t.send({})
      await promisesSettled()
    }
    expect(t.lines('result')).toEqual(['0 result s failed: broken', '0 result s failed: torn'])
  })

  it('whose result is unreadable is an error of the run, without an unhandled rejection', async () => {
    const t = await live(simple)
    const torn = Object.defineProperty({}, 'state', { get: () => { throw new Error('shut') } }) // prettier-ignore
    t.plugs.say('s', () => Promise.resolve(torn))
    t.send({})
    await promisesSettled()
    expect(t.lines('result')).toEqual([expect.stringContaining('returned an unreadable answer: shut')])
  })
})
