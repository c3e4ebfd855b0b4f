/** Tests calls that reach the service after their engine has given up: later actions of the task take precedence. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createBuiltins } from '../../../plugins/index.ts'
import { alarmPort } from '../../../src/host/wiring/alarms.ts'
import { createEngine, VirtualClock, type Rule } from '../../../src/index.ts'
import type { AlarmPort } from '../../../src/plug.ts'
import { bench, NOON, type Bench } from '../../services/alarms/support/bench-of-alarms.ts'

const RULE: Rule = {
  sensors: [{ label: 'hot', name: 'condition', resource: '$', properties: { condition: 'temperature > 90' } }],
  actuators: [
    { label: 'alarm', name: 'createAlarm', properties: { type: 'HEAT' }, timeout: 'PT5S' },
    { label: 'calm', name: 'clearAlarm', properties: { type: 'HEAT' }, timeout: 'PT5S' },
  ],
  triggers: [
    { sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['True'], invocationPolicy: 0 },
    { sourceLabel: 'hot', destinationLabel: 'calm', statesTrigger: ['False'], invocationPolicy: 0 },
  ],
}

let alarms: Bench
beforeEach(async () => {
  alarms = await bench()
})
afterEach(() => alarms.close())

/** Returns the port, with the first `raise` delayed until `land` is called. */
function heldUp(): { port: AlarmPort; land: () => void; landed: Promise<unknown> } {
  const port = alarmPort('acme', () => alarms.service)
  let land = (): void => undefined
  const arrival = new Promise<void>((resolve) => (land = resolve))
  let ended: (how: unknown) => void = () => undefined
  const landed = new Promise<unknown>((resolve) => (ended = resolve))
  let raised = 0
  const raise: AlarmPort['raise'] = async (alarm, cause) => {
    if (raised++ > 0) return port.raise(alarm, cause)
    await arrival
    const call = port.raise(alarm, cause)
    call.then(ended, ended)
    return call
  }
  return { port: { ...port, raise }, land, landed }
}

async function play(temperatures: readonly number[], port: AlarmPort): Promise<readonly string[]> {
  const clock = new VirtualClock(NOON)
  const engine = createEngine({ plugs: createBuiltins({ services: { alarms: port } }), scheduler: clock, seed: 1 })
  const results: string[] = []
  engine.events$.subscribe((event) => {
    if (event.type === 'result' && event.node !== 'hot')
      results.push(`${event.node} ${event.ok ? 'done' : event.error}`)
  })
  await engine.start(RULE, { id: 't', resource: 'boiler-1' })
  for (const [i, temperature] of temperatures.entries()) {
    engine.receive({ resource: 'boiler-1', temperature })
    // the first call times out before the next message
    if (i === 0) clock.advanceTo(NOON + 10_000)
    await expect.poll(() => results.length).toBe(i + 1)
    clock.advanceTo(NOON + (i + 1) * 10_000)
  }
  await engine.close()
  return results
}

it.each([
  [[95, 20], []],
  [[95, 20, 95], [1]],
  [[95, 95, 20], []],
  [[95, 95], [1]],
])(
  'temperatures %j leave alarms as the last one wants them, though the first raise lands last',
  async (all, counts) => {
    const { port, land, landed } = heldUp()
    const [first, ...others] = await play(all, port)
    expect(first).toBe('alarm createAlarm took longer than 5000 ms')
    expect(others.every((result) => result.endsWith(' done'))).toBe(true)
    land()
    expect(await landed).toMatchObject({ code: 'SUPERSEDED' })
    const { alarms: open } = await alarms.api.list({ status: ['ACTIVE', 'ACKNOWLEDGED'] })
    expect(open.map(({ count }) => count)).toEqual(counts)
  },
)

it('a raise that lands late before its task did anything more is done', async () => {
  const { port, land, landed } = heldUp()
  await play([95], port)
  land()
  expect(await landed).toMatchObject({ status: 'ACTIVE', count: 1 })
})
