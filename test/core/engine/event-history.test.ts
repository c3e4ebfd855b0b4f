/** Tests the last events of each task, which are kept with and without subscribers. */
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createEngine, VirtualClock, type Message, type Rule } from '../../../src/index.ts'
import { actuatorPlug } from '../../support/make-plug.ts'

const rule = (threshold: number): Rule => ({
  sensors: [
    { label: 'warm', resource: 'r', name: 'streamingDataSensor', properties: { parameter: 'a', threshold } },
    { label: 'damp', resource: 'r', name: 'streamingDataSensor', properties: { parameter: 'b', threshold: 20 } },
  ],
  relations: [{ label: 'both', type: 'AND', parentLabels: ['warm', 'damp'], combinations: [['Above', 'Above']] }],
  actuators: [{ label: 'acts', name: 'act' }],
  triggers: [{ sourceLabel: 'both', destinationLabel: 'acts', statesTrigger: ['TRUE'] }],
})

/** Acts, logs now and then, and fails once. */
const act = actuatorPlug('act', (context) => {
  const i = Number(context.streamValue('i'))
  if (i === 300) throw new Error('tired')
  return i % 3 === 0 ? { message: `acted at ${i}` } : undefined
})

/** Every 50th lacks a number where one is compared. */
const MESSAGES = Array.from({ length: 400 }, (_, i): Message => {
  return { resource: 'r', a: i % 50 === 49 ? null : (i * 7) % 41, b: (i * 11) % 43, i }
})

async function engineOf(tasks: number, options: Partial<Parameters<typeof createEngine>[0]>) {
  const clock = new VirtualClock(0)
  const engine = createEngine({ plugs: [...builtins, act], scheduler: clock, seed: 1, ...options })
  for (let i = 0; i < tasks; i++) await engine.start(rule(15 + i), { id: `t${i}` })
  const send = (messages: readonly Message[]) => {
    for (const message of messages) {
      clock.advanceTo(clock.now() + 5)
      engine.receive(message)
    }
  }
  return { engine, send }
}

// Holds HISTORY-1, HISTORY-2
describe('the history of a task', () => {
  it.each([
    ['one row', 1, 50],
    ['many rows in one pass', 20, 50],
    ['rows that have room for two messages', 20, 1],
  ])('continues after the last read, or reports a gap: %s', async (_, tasks, each) => {
    const { engine, send } = await engineOf(tasks, { history: { perTask: 60, inAll: tasks * each + 20 } })
    const listened = await engineOf(tasks, { latency: () => 0 })
    const heard: string[] = []
    listened.engine.events({ tasks: ['t0'] }).subscribe((event) => void heard.push(JSON.stringify(event)))
    let after = engine.history('t0').last
    let wasMissing = 0
    let told: string[] = []
    for (let from = 0, size = 1; from < MESSAGES.length; from += size, size = (size * 2) % 61) {
      send(MESSAGES.slice(from, from + size))
      listened.send(MESSAGES.slice(from, from + size))
      const { events, last, isWhole } = engine.history('t0', after)
      const all = events.map((event) => JSON.stringify(event))
      if (!isWhole) {
        wasMissing++
        told = heard.slice(0, heard.length - all.length)
      }
      told.push(...all)
      expect(told).toEqual(heard)
      expect(last).toBeGreaterThan(after)
      after = last
      expect(engine.history('t0', after)).toEqual({ events: [], last, isWhole: true })
    }
    expect(wasMissing).toBeGreaterThan(0)
    await Promise.all([engine.close(), listened.engine.close()])
  })

  it('is empty unless requested, and for a removed task', async () => {
    const without = await engineOf(1, {})
    without.send(MESSAGES)
    expect(without.engine.history('t0')).toEqual({ events: [], last: 0, isWhole: true })
    const { engine, send } = await engineOf(1, { history: { perTask: 10 } })
    send(MESSAGES)
    expect(engine.history('t0').events).toHaveLength(10)
    await engine.remove('t0', { force: true })
    expect(engine.history('t0').events).toEqual([])
    await Promise.all([engine.close(), without.engine.close()])
  })

  it('keeps at least one event', async () => {
    await expect(engineOf(0, { history: { perTask: 0 } })).rejects.toThrow('the history limits are 0 events per task')
  })

  it('reports single events without details of each message', async () => {
    const { engine, send } = await engineOf(1, { detail: false, history: { perTask: 500 } })
    send(MESSAGES)
    const types = new Set(engine.history('t0').events.map(({ type }) => type))
    expect([...types].toSorted()).toEqual(['fired', 'result', 'started'])
    await engine.close()
  })

  it('drops the least recently active tasks when it is full', async () => {
    const { engine } = await engineOf(0, { history: { perTask: 10, inAll: 100 }, latency: () => 0 })
    for (let i = 0; i < 40; i++) {
      await engine.start({ ...rule(15), task: { resource: `r${i}` } }, { id: `t${i}` })
      engine.receive({ resource: 'r', a: 1, b: 1 })
    }
    const kept = [...engine.tasks.keys()].filter((id) => engine.history(id).events.length > 0)
    expect(kept.length).toBeLessThan(40)
    expect(kept).toContain('t39')
    expect(kept).not.toContain('t0')
    await engine.close()
  })
})
