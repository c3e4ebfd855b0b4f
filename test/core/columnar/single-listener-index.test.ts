import { expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { createEngine, VirtualClock, type Rule } from '../../../src/index.ts'
import { actPlug } from '../../support/act-plug.ts'

const HOT: Rule = {
  sensors: [{ label: 's', resource: '$', name: 'streamingDataSensor', properties: { parameter: 'a', threshold: 10 } }],
  actuators: [{ label: 'act', name: 'act' }],
  triggers: [{ sourceLabel: 's', destinationLabel: 'act', statesTrigger: ['Above'] }],
}

const TASKS = 1200

it('a message reaches the row of its resource among any number of rows, and no removed row', async () => {
  const fired: string[] = []
  const engine = createEngine({ plugs: [...builtins, actPlug(fired)], scheduler: new VirtualClock(0) })
  for (let i = 0; i < TASKS; i++) await engine.start(HOT, { id: `t${i}`, resource: `boiler-${i}` })
  const send = (resource: string) => engine.receive({ resource, a: 20 })
  const all = Array.from({ length: TASKS }, (_, i) => `boiler-${i}`)
  for (let times = 0; times < 4; times++) for (const resource of all) send(resource)
  expect(fired).toHaveLength(4 * TASKS)
  expect(engine.stats().rows).toBeGreaterThan(TASKS)
  for (let i = 0; i < TASKS; i += 2) await engine.stop(`t${i}`)
  fired.length = 0
  const taken = [...all, ...all.map((resource) => `boiler-x${resource}`), 'boiler-', ''].filter(send)
  expect(taken).toEqual(all.filter((_, i) => i % 2 === 1))
  expect(fired.map((call) => (JSON.parse(call) as [number, { resource: string }])[1].resource)).toEqual(taken)
  await engine.close()
})
